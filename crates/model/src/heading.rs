//! Which way data goes.

use serde::{Deserialize, Serialize};

/// A direction of data, seen from the host that stores the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Heading {
    /// From this host to the peer.
    Outbound,
    /// From the peer to this host.
    Inbound,
}

impl Heading {
    /// The same direction seen from the other host.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Outbound => Self::Inbound,
            Self::Inbound => Self::Outbound,
        }
    }
}
