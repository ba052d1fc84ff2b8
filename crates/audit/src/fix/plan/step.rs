//! What a plan consists of: steps, what is left out, and what is done by hand.

use serde::{Deserialize, Serialize};

use crate::fix::{Disruption, Operation};

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlannedStep {
    /// Rules that want it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The network namespace; absent for the host's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the network device; absent for what is of no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What changes.
    pub operation: Operation<String>,
    /// What that costs while it is done. In a file it may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruption: Option<Disruption>,
    /// Whether a value may become smaller by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lowers: bool,
}

/// What no program can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ByHand {
    /// Rules that want it.
    pub rules: Vec<String>,
    /// What to do.
    pub text: String,
}

/// A step that is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Step that was proposed.
    pub step: PlannedStep,
    /// Why not.
    pub reason: String,
}
