//! What time alone brings: runs that are due, leases that are over, windows that have passed.

use std::time::Duration;

use mesh::clock;
use mesh::run::RunRow;
use units::{MonoTime, WallTime};

use super::Schedule;
use crate::store::{Store, StoreError};

impl Schedule {
    /// Looks at the clocks: runs are planned by the calendar, leases are over by the monotonic one.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn tick(&self, store: &dyn Store, now: WallTime, since_boot: MonoTime) -> Result<(), StoreError> {
        let pending = {
            let mut guard = self.fresh(store)?;
            let state = &mut *guard;
            let mut until = None;
            if let Some(planned) = &state.planned {
                // A clock that was set back plans what is planned, under the same names; one that was set far ahead begins anew.
                let ahead = clock::later(now, AHEAD);
                let from = state.until.filter(|until| *until >= now).unwrap_or(now);
                if from < ahead && clock::between(from, ahead) > AHEAD / 2 {
                    state.board.plan(planned.timetable().between(from, ahead));
                    state.until = Some(ahead);
                    until = Some(ahead);
                }
            }
            for version in state.observer.seen(&state.board.leases(), since_boot) {
                state.board.expire(&version);
            }
            state.board.close(now);
            let rows = state.board.take_changes();
            state.board.forget_over();
            if rows == mesh::board::Rows::default() && until.is_none() {
                return Ok(());
            }
            store.save(rows, until)?
        };
        pending.wait().inspect_err(|_| self.refused())
    }
}

impl Schedule {
    /// Puts runs on the board that somebody asks for. They are on disk when this returns.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn ask(&self, store: &dyn Store, runs: Vec<RunRow>) -> Result<(), StoreError> {
        let pending = {
            let mut state = self.fresh(store)?;
            runs.into_iter().for_each(|run| state.board.ask(run));
            let rows = state.board.take_changes();
            store.save(rows, None)?
        };
        pending.wait().inspect_err(|_| self.refused())
    }
}

/// How far ahead runs are put on the board.
const AHEAD: Duration = Duration::from_secs(600);
