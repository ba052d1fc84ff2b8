//! Which agent runs what: the plan, its runs, and who has leased them.
//!
//! * [`planned`]: the plan, and what follows from it
//! * `leases`: what an agent is given when it asks
//! * `tickets`: what it is given in writing, and the agent that answers
//! * `results`: what a delivery makes of runs
//! * `clock`: what time alone brings
//! * `ahead`: what is under way and what comes next
//!
//! `mesh` decides; this keeps its rows in memory and has each change on disk before anybody is answered. Where the database
//! refuses, the rows are read again.

mod ahead;
mod clock;
mod leases;
pub mod planned;
mod results;
mod tickets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mesh::board::{Board, Present};
use mesh::observer::LeaseObserver;
use mesh::rules::Rules;
use units::{MonoTime, WallTime};

use crate::store::{Store, StoreError};
use planned::Planned;
use tickets::Partners;

pub use leases::{Asking, Given};
pub use results::Sorted;

/// All runs that are not over, and the plan that they are from.
#[derive(Debug)]
pub struct Schedule(Mutex<State>);

#[derive(Debug)]
struct State {
    planned: Option<Arc<Planned>>,
    board: Board,
    observer: LeaseObserver,
    /// Until when runs are on the board.
    until: Option<WallTime>,
    /// When each agent was heard last, since this hub's start.
    heard: BTreeMap<String, MonoTime>,
    partners: Partners,
    freshness: Freshness,
}

/// Whether the board is as it is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Fresh,
    /// The database has refused a change.
    Stale,
}

impl Schedule {
    /// What a database has.
    ///
    /// # Errors
    /// Where it refuses.
    pub fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let rows = store.mesh()?;
        let mut board = Board::new(Rules::default());
        board.load(rows.rows);
        let state = State {
            planned: None,
            board,
            observer: LeaseObserver::new(MARGIN),
            until: rows.planned,
            heard: BTreeMap::new(),
            partners: Partners::default(),
            freshness: Freshness::Fresh,
        };
        Ok(Self(Mutex::new(state)))
    }

    /// Takes a plan. Its runs begin with the next look at the clock; those of the plan before that wait are cancelled.
    pub fn set_plan(&self, planned: Arc<Planned>) {
        let mut state = self.state();
        state.board.set_rules(planned.rules());
        let is_other = state.planned.as_ref().is_some_and(|before| before.text() != planned.text());
        if is_other {
            let waiting: Vec<_> = state.board.runs().map(|run| run.id.clone()).collect();
            for id in waiting {
                state.board.cancel(&id);
            }
            state.until = None;
        }
        state.planned = Some(planned);
    }

    /// The plan that runs now; none before the first.
    #[must_use]
    pub fn planned(&self) -> Option<Arc<Planned>> {
        self.state().planned.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows as they are on disk, where a change was refused before.
    fn fresh(&self, store: &dyn Store) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut state = self.state();
        if state.freshness == Freshness::Stale {
            let rules = state.planned.as_ref().map(|planned| planned.rules()).unwrap_or_default();
            let mut board = Board::new(rules);
            board.load(store.mesh()?.rows);
            state.board = board;
            state.freshness = Freshness::Fresh;
        }
        Ok(state)
    }

    fn refused(&self) {
        self.state().freshness = Freshness::Stale;
    }
}

impl State {
    /// Hosts of the plan that have an agent which has not been heard for a while.
    fn present(&self, now: MonoTime) -> Present {
        let Some(planned) = &self.planned else { return Present::All };
        let is_absent = |agent: &&String| self.heard.get(*agent).is_none_or(|heard| now.since(*heard) > ABSENT_AFTER);
        let absent: BTreeSet<String> = planned.agents().iter().filter(is_absent).cloned().collect();
        Present::AllBut(absent)
    }
}

/// Clocks of hub and agent that drift by 1 in 1,000 differ by less over an hour.
const MARGIN: Duration = Duration::from_secs(4);
/// Agents ask every 20 s.
const ABSENT_AFTER: Duration = Duration::from_secs(60);
