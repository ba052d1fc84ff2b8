//! A demonstration in place of what a hub without a plan has to show.

use serde::{Deserialize, Serialize};

/// What is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemonstrationWish {
    /// Begin one, or end it.
    pub wish: Wish,
}

/// What somebody wants of demonstrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// A network of the hub's machine, in which agents measure. Where that cannot be made, virtual time.
    Live,
    /// Some days of a mesh, computed in seconds.
    Virtual,
    /// The hub's own pages again.
    End,
}

/// Where measurements of a demonstration come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DemonstrationKind {
    /// From agents in a network of the hub's machine.
    Live,
    /// From a simulation.
    Virtual,
}

/// How a demonstration is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemonstrationInfo {
    /// Where it stands.
    pub state: DemonstrationState,
    /// Where its measurements come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DemonstrationKind>,
    /// Why it is not live, or why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it has said last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// Where a demonstration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DemonstrationState {
    /// This hub has a plan, or cannot show one.
    #[default]
    Unavailable,
    /// One can be begun.
    Offered,
    /// It is being made.
    Preparing,
    /// Pages show it.
    Shown,
    /// It could not be made.
    Failed,
}
