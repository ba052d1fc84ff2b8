//! What time alone brings: runs that are due, leases that are over, windows that have passed.

use std::time::Duration;

use mesh::clock;
use mesh::run::RunRow;
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
                    let (runs, until) = first_of(planned.timetable().between(from, ahead), ahead);
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

/// The runs that are put on the board at once, and until when they are all there are: the rest is for the next look. Other hubs
/// wait for a turn until it is on disk.
fn first_of(mut runs: Vec<RunRow>, until: WallTime) -> (Vec<RunRow>, WallTime) {
    let (Some(first), Some(cut)) = (runs.first(), runs.get(MOST_AT_ONCE)) else { return (runs, until) };
    // Those that are due at one moment stay together.
    let cut = cut.not_before;
    let is_more = first.not_before < cut;
    let until = if is_more { cut } else { clock::later(cut, Duration::from_nanos(1)) };
    runs.retain(|run| run.not_before < until);
    (runs, until)
}

/// A turn with so many new runs takes a tenth of a second.
const MOST_AT_ONCE: usize = 2_000;
/// How far ahead runs are put on the board.
const AHEAD: Duration = Duration::from_secs(600);
/// Transactions of others that were under way at the last look.
const OVERLAP: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use mesh::run::{Priority, RunId, RunState};
    use plan::task::Weight;

    use super::*;

    fn due(at: WallTime) -> RunRow {
        RunRow {
            id: RunId(String::new()),
            test: String::new(),
            group: String::new(),
            from: String::new(),
            to: String::new(),
            agent: String::new(),
            priority: Priority::Periodic,
            weight: Weight::Heavy,
            not_before: at,
            deadline: at,
            keep: Duration::ZERO,
            needs: Vec::new(),
            passes: Vec::new(),
            bytes: None,
            attempts: 0,
            state: RunState::Waiting,
        }
    }

    #[test]
    fn a_dense_plan_is_put_on_the_board_in_parts() {
        let at = WallTime::from_unix_nanos;
        let (end, spread) = (at(9_000), |n: u64| due(at(n)));
        let (runs, until) = first_of((0..2_500).map(spread).collect(), end);
        assert_eq!((runs.len(), until), (2_000, at(2_000)));
        let (runs, until) = first_of((0..2_000).map(spread).collect(), end);
        assert_eq!((runs.len(), until), (2_000, end));
        let (runs, until) = first_of(vec![due(at(7)); 2_500], end);
        assert_eq!((runs.len(), until), (2_500, at(8)), "those of one moment are not parted");
    }
}
