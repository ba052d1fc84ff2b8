//! Turns: hubs that share a database change runs one after the other.
//!
//! A turn begins with what others have changed since the last one of this hub, and ends with one transaction: leases, results and
//! what agents said of themselves, for all requests that came meanwhile. Where that transaction fails nothing of the turn holds,
//! and the next one begins with all rows.

use std::time::Duration;

use mesh::board::Rows;
use mesh::run::RunRow;
use units::WallTime;

use super::error::StoreError;
use super::rows::{AgentContact, Delivered, Revision};
use crate::api::record::Verdict;

/// What a hub knows when its turn begins, and what else it needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct TurnRequest<'a> {
    /// What it knows already.
    pub known: Revision,
    /// Runs by their names, those that are over as well.
    pub runs: &'a [String],
    /// Agents that other hubs have heard within this time are of interest.
    pub heard_within: Option<Duration>,
}

/// What others have changed since.
#[derive(Debug, Clone, Default)]
pub struct News {
    /// Up to which it is.
    pub revision: Revision,
    /// Rows that have changed, those of runs that are over included; to a hub that knows nothing, all that are not over.
    pub rows: Rows,
    /// Runs that were asked for by their names.
    pub named: Vec<RunRow>,
    /// The plan, where it has changed.
    pub plan: Option<String>,
    /// Until when runs are planned, where that has changed.
    pub planned: Option<WallTime>,
    /// Agents that other hubs have heard.
    pub heard: Vec<HeardAgent>,
}

/// Runs that are not over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenRuns {
    /// Those that were asked for, in no order.
    pub rows: Vec<RunRow>,
    /// How many there are of all.
    pub all: u64,
}

/// An agent that another hub has heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardAgent {
    /// Agent that asked for work there.
    pub agent: String,
    /// How long ago that was, by the clock of the database.
    pub ago: Duration,
}

/// A turn that has begun. It ends without a change where it is dropped.
pub trait Turn {
    /// Stores all of it in one transaction, which is on disk when this returns.
    ///
    /// # Errors
    /// Where the database refuses: nothing of it is stored, unless the answer alone was lost.
    fn commit(self: Box<Self>, changes: Changes) -> Result<Committed, StoreError>;
}

/// What a turn changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// Runs, requests and budgets, over earlier ones of the same names.
    pub rows: Rows,
    /// The plan, where it is another one.
    pub plan: Option<String>,
    /// Until when runs are planned; the beginning of time where they are to be planned anew.
    pub planned: Option<WallTime>,
    /// Agents that were heard.
    pub contacts: Vec<AgentContact>,
    /// What agents deliver, stored in this order.
    pub delivered: Vec<Delivered>,
}

impl Changes {
    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == Rows::default()
            && self.plan.is_none()
            && self.planned.is_none()
            && self.contacts.is_empty()
            && self.delivered.iter().all(|one| one.arrivals.is_empty())
    }
}

/// What became of it.
#[derive(Debug, Clone, Default)]
pub struct Committed {
    /// What this hub knows now.
    pub revision: Revision,
    /// For each delivery, a verdict for each of its records.
    pub verdicts: Vec<Vec<Verdict>>,
}
