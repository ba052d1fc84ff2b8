//! Which agent runs what: the plan, its runs, and who has leased them.
//!
//! * [`planned`]: the plan, and what follows from it
//! * `leases`: what an agent is given when it asks
//! * `tickets`: what it is given in writing, and the agent that answers
//! * `results`: what a delivery makes of runs
//! * `clock`: what time alone brings
//! * `crossed`: sites and segments that series cross
//! * `ahead`: what is under way and what comes next
//! * `state`: a copy of rows on disk, and what this hub has seen
//! * `turns`: calls that change runs, many in one transaction
//!
//! `mesh` decides; this keeps its rows in memory, looks at what other hubs have changed before each change of its own, and has
//! that on disk before anybody is answered. Where the database refuses, the rows are read again.

mod ahead;
mod clock;
mod crossed;
mod leases;
pub mod planned;
mod results;
mod state;
mod tickets;
mod turns;

use std::sync::Arc;

use units::WallTime;

use crate::store::{Store, StoreError};
use planned::Planned;
use state::State;
use turns::{Needs, Stored};

pub use leases::{Asking, Given};
pub use turns::Schedule;

impl Schedule {
    /// What a database has.
    ///
    /// # Errors
    /// Where it refuses.
    pub fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let mut state = State::new();
        state.read(store)?;
        Ok(Self::of(state))
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
}
