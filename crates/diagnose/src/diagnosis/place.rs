//! Where a cause may be.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a cause is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FaultLocation {
    /// The fault is in one host.
    Host {
        /// Name of the host in the plan.
        name: String,
    },
    /// The fault is on a link between two hosts of the plan.
    Segment {
        /// Name of the segment in the plan.
        name: String,
        /// In which direction; in both where it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        towards: Option<String>,
    },
    /// Somewhere between two hosts.
    Path {
        /// Who sends.
        from: String,
        /// Who receives.
        to: String,
    },
    /// What deals requests to storage gateways.
    Balancer,
}

impl FaultLocation {
    /// Whether two name the same place; a segment without a direction is either of its directions.
    #[must_use]
    pub fn is_at(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Segment { name, towards }, Self::Segment { name: other, towards: others }) => {
                name == other && (towards.is_none() || others.is_none() || towards == others)
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for FaultLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { name } => f.write_str(name),
            Self::Segment { name, towards: Some(towards) } => write!(f, "{name} towards {towards}"),
            Self::Segment { name, towards: None } => f.write_str(name),
            Self::Path { from, to } => write!(f, "between {from} and {to}"),
            Self::Balancer => f.write_str("the balancer"),
        }
    }
}
