//! What a hub measures at this moment.

use serde::{Deserialize, Serialize};
use units::WallTime;

/// Runs under way and those that come next, and how far the present period of the plan is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Activity {
    /// Runs under way first, then those that are due next, at most [`MOST_RUNS`].
    pub runs: Vec<ActiveRun>,
    /// Runs that an agent has now.
    pub running: usize,
    /// Runs that are planned and not begun, those that are listed included.
    pub waiting: usize,
    /// Heavy tests of pairs that have a result of the last period.
    pub measured: usize,
    /// Heavy tests of pairs that have had a result.
    pub known: usize,
    /// The period of the plan, in seconds.
    pub period_s: u64,
}

/// A run that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveRun {
    /// The label of its test.
    pub test: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
    /// Where it stands.
    pub progress: RunProgress,
    /// When it is due.
    #[serde(rename = "due_unix_ns")]
    pub due: WallTime,
}

/// Where a run stands that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunProgress {
    /// An agent has it.
    Running,
    /// Its agent is silent.
    Missing,
    /// Nobody has begun it.
    Waiting,
}

/// Runs that a page lists.
pub const MOST_RUNS: usize = 12;
