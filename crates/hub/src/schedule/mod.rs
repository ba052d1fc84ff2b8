//! Which agent runs what: the plan, its runs, and who has leased them.
//!
//! * [`planned`]: the plan, and what follows from it
//! * `leases`: what an agent is given when it asks
//! * `tickets`: what it is given in writing, and the agent that answers
//! * `results`: what a delivery makes of runs
//! * `clock`: what time alone brings
//! * `ahead`: what is under way and what comes next
//! * `turns`: calls that change runs, many in one transaction
//!
//! `mesh` decides; this keeps its rows in memory, looks at what other hubs have changed before each change of its own, and has
//! that on disk before anybody is answered. Where the database refuses, the rows are read again.

mod ahead;
mod clock;
mod leases;
pub mod planned;
mod results;
mod tickets;
mod turns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mesh::board::{Board, Present};
use mesh::observer::LeaseObserver;
use mesh::rules::Rules;
use units::{MonoTime, WallTime};

use crate::store::rows::Revision;
use crate::store::{Store, StoreError};
use planned::Planned;
use tickets::Partners;
use turns::{Needs, Stored};

pub use leases::{Asking, Given};

/// All runs that are not over, and the plan that they are from.
pub struct Schedule {
    state: Mutex<State>,
    calls: Mutex<VecDeque<turns::Call>>,
}

#[derive(Debug)]
struct State {
    planned: Option<Arc<Planned>>,
    board: Board,
    observer: LeaseObserver,
    /// Until when runs are on the board.
    until: Option<WallTime>,
    /// When each agent was heard last, by this hub or another.
    heard: BTreeMap<String, MonoTime>,
    partners: Partners,
    /// What the board knows of what is on disk; nothing where the database has refused a change.
    revision: Revision,
    /// When agents that others have heard were asked for last.
    asked: Option<MonoTime>,
}

impl Schedule {
    /// What a database has.
    ///
    /// # Errors
    /// Where it refuses.
    pub fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let mut state = State {
            planned: None,
            board: Board::new(Rules::default()),
            observer: LeaseObserver::new(MARGIN),
            until: None,
            heard: BTreeMap::new(),
            partners: Partners::default(),
            revision: Revision::default(),
            asked: None,
        };
        state.read(store)?;
        Ok(Self { state: Mutex::new(state), calls: Mutex::default() })
    }

    /// Takes a plan, which is on disk when this returns. Its runs begin with the next look at the clock; those of the plan before
    /// that wait are cancelled.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn set_plan(&self, store: &dyn Store, planned: Arc<Planned>) -> Result<(), StoreError> {
        let take = move |state: &mut State| {
            let mut stored = Stored::default();
            let before = state.planned.as_ref().map(|before| before.text());
            if before != Some(planned.text()) {
                stored.plan = Some(planned.text().to_owned());
            }
            if before.is_some() && stored.plan.is_some() {
                let waiting: Vec<_> = state.board.runs().map(|run| run.id.clone()).collect();
                for id in waiting {
                    state.board.cancel(&id);
                }
                state.until = None;
                stored.planned = Some(WallTime::default());
            }
            state.board.set_rules(planned.rules());
            state.planned = Some(planned);
            ((), stored)
        };
        self.change(store, Needs::default(), take).map(|_| ())
    }

    /// Takes the plan that is stored, with the agents that there are now.
    pub fn adopt(&self, planned: Arc<Planned>) {
        let mut state = self.state();
        // Another may have been set meanwhile.
        if state.planned.as_ref().is_none_or(|before| before.text() == planned.text()) {
            state.board.set_rules(planned.rules());
            state.planned = Some(planned);
        }
    }

    /// The plan that runs now; none before the first.
    #[must_use]
    pub fn planned(&self) -> Option<Arc<Planned>> {
        self.state().planned.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").finish_non_exhaustive()
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
