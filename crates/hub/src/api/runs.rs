//! Runs that are under way, and those that come next.

use std::time::Duration;

use mesh::run::{Priority, RunId};
use serde::{Deserialize, Serialize};
use units::WallTime;

/// Runs that are not over: those under way first, then those that wait, in the order in which they are due.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runs {
    /// At most [`MOST`].
    pub runs: Vec<RunInfo>,
    /// How many more wait.
    pub more: u64,
}

/// A run that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunInfo {
    /// Its name, equal on every hub.
    pub id: RunId,
    /// The label of its test.
    pub test: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
    /// The host whose agent carries it out.
    pub agent: String,
    /// Who is served first.
    pub priority: Priority,
    /// Where it stands.
    pub progress: RunProgress,
    /// When it is due.
    #[serde(rename = "not_before_unix_ns")]
    pub not_before: WallTime,
    /// How much time is kept for it.
    #[serde(rename = "keep_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub keep: Duration,
}

/// Where a run stands that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunProgress {
    /// An agent has it.
    Running,
    /// Its agent is silent, and nobody knows what became of it.
    Missing,
    /// Nobody runs it yet.
    Waiting,
}

/// More runs are not listed.
pub const MOST: usize = 200;
