//! What time alone brings: runs that are due, leases that are over, windows that have passed.

use std::time::Duration;

use mesh::clock;
use mesh::run::RunRow;
use mesh::timetable::FirstRuns;
use units::{MonoTime, WallTime};

use super::Schedule;
use super::state::{ABSENT_AFTER, State};
use super::turns::{Needs, Stored};
use crate::store::{Store, StoreError};

impl Schedule {
    /// Looks at the clocks: runs are planned by the calendar, leases are over by the monotonic one.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn tick(&self, store: &dyn Store, now: WallTime, since_boot: MonoTime) -> Result<(), StoreError> {
        let heard_within = self.state().asked_within(since_boot);
        let look = move |state: &mut State| {
            let mut stored = Stored::default();
            state.asked = Some(since_boot);
            if let Some(planned) = &state.planned {
                // A clock that was set back plans what is planned, under the same names; one that was set far ahead begins anew.
                let ahead = clock::later(now, AHEAD);
                let from = state.until.filter(|until| *until >= now).unwrap_or(now);
                if from < ahead && clock::between(from, ahead) > AHEAD / 2 {
                    let FirstRuns { runs, until } = planned.timetable().first(from, ahead, MOST_AT_ONCE);
                    state.board.plan(runs);
                    state.until = Some(until);
                    stored.planned = Some(until);
                }
            }
            for version in state.observer.seen(&state.board.leases(), since_boot) {
                state.board.expire(&version);
            }
            state.board.close(now);
            ((), stored)
        };
        self.change(store, Needs { runs: Vec::new(), heard_within }, look).map(|_| ())
    }
}

impl State {
    /// Since when other hubs may have heard agents that this one does not know of; at first, for as long as they count as present.
    fn asked_within(&self, now: MonoTime) -> Option<Duration> {
        let since = self.asked.map_or(ABSENT_AFTER, |asked| now.since(asked).saturating_add(OVERLAP));
        Some(since.min(ABSENT_AFTER))
    }
}

impl Schedule {
    /// Takes what other hubs have changed.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn look(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.change(store, Needs::default(), |_| ((), Stored::default())).map(|_| ())
    }

    /// Puts runs on the board that somebody asks for. They are on disk when this returns.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn ask(&self, store: &dyn Store, runs: Vec<RunRow>) -> Result<(), StoreError> {
        let put = move |state: &mut State| {
            runs.into_iter().for_each(|run| state.board.ask(run));
            ((), Stored::default())
        };
        self.change(store, Needs::default(), put).map(|_| ())
    }
}

/// Other hubs wait for a turn until its runs are on disk: so many take a tenth of a second. The rest is for the next look.
const MOST_AT_ONCE: usize = 2_000;
/// How far ahead runs are put on the board.
const AHEAD: Duration = Duration::from_secs(600);
/// Transactions of others that were under way at the last look.
const OVERLAP: Duration = Duration::from_secs(2);
