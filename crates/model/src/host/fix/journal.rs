//! The journal: one entry a fix, on disk before the first change.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::Step;
use super::captured::{Difference, NamespaceValues, differences};

/// The number of a fix in the journal of one host, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct FixId(pub u64);

/// One fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Version of this form: [`Entry::FORMAT`].
    pub format: u32,
    /// Number of the fix, by which it is undone.
    pub fix: FixId,
    /// Why, as the caller said.
    pub reason: String,
    /// The user who asked for it, as the helper sees them.
    pub asked_by_uid: u32,
    /// The boot in which it was applied (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: String,
    /// When it was begun, in nanoseconds since 1970-01-01 UTC.
    #[serde(rename = "begun_ns")]
    pub begun: WallTime,
    /// When it came into its present state.
    #[serde(rename = "changed_ns")]
    pub changed: WallTime,
    /// How long it waits to be confirmed, from when all of it was applied; absent where it needs no confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_within_s: Option<u32>,
    /// How it stands.
    pub state: State,
    /// What was asked for.
    pub steps: Vec<Step>,
    /// The values before, of all that could change.
    pub before: Vec<NamespaceValues>,
    /// The same after all steps; empty until then.
    #[serde(default)]
    pub after: Vec<NamespaceValues>,
}

/// How a fix stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Old values are on disk, steps are being applied.
    Begun,
    /// All steps are applied; the fix waits to be confirmed.
    Unconfirmed,
    /// It holds.
    Kept,
    /// The old values are back.
    Undone {
        /// Why it was taken back.
        because: Because,
    },
    /// The old values could not all be written back.
    Stuck {
        /// What is not as it was, and why.
        left: Vec<String>,
    },
    /// The host has been started anew since: neither the old nor the new values are there any more.
    GoneWithBoot,
}

/// Why a fix was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// A step failed.
    StepFailed {
        /// Which, from 0.
        step: usize,
        /// Why.
        reason: String,
    },
    /// Nobody confirmed it in time.
    NotConfirmed,
    /// The helper ended meanwhile.
    HelperEnded,
    /// Somebody asked for it.
    Asked,
    /// All was so before.
    NothingChanged,
}

impl Entry {
    /// The version that this program writes.
    pub const FORMAT: u32 = 1;

    /// What it has changed, setting by setting.
    #[must_use]
    pub fn changes(&self) -> Vec<Difference> {
        let pairs = self.before.iter().zip(&self.after);
        pairs.flat_map(|(before, after)| differences(before, after)).collect()
    }

    /// Whether the old values must come back when nobody is there to confirm it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Begun | State::Unconfirmed)
    }
}

impl fmt::Display for FixId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
