//! A share of the datagrams, and how sure it is.

use serde::{Deserialize, Serialize};
use units::PacketCount;

/// A share of the datagrams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BalanceShare {
    /// How many; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketCount>,
    /// How sure that is.
    pub certainty: Certainty,
    /// Why it is not exact, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The counters that it was taken from, with how far each went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
}

impl BalanceShare {
    /// A share that nobody knows.
    pub(super) fn unknown(because: &str) -> Self {
        Self { packets: None, certainty: Certainty::Unknown, because: Some(because.to_owned()), counted: Vec::new() }
    }

    /// How many are known; none where nobody knows.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.packets.map_or(0, PacketCount::get)
    }

    /// How many datagrams it was at the least: where packets may have held several, each that was counted held one or more.
    #[must_use]
    pub fn at_least(&self) -> u64 {
        let counted = || self.counted.iter().map(|counted| counted.change).max().unwrap_or(0);
        if self.certainty == Certainty::Unknown { counted() } else { self.known() }
    }
}

/// How sure a share is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing else can have moved what it was taken from, or nothing did.
    Exact,
    /// Counted by the whole host: other traffic may have its part.
    AtMost,
    /// What is left after shares that are at most so many.
    AtLeast,
    /// What is left after shares of which one is unknown.
    PathOrUnknown,
    /// The share itself is unknown.
    Unknown,
}

/// One counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    /// Its name, as in the run's counters.
    pub counter: String,
    /// How far it went.
    pub change: u64,
}
