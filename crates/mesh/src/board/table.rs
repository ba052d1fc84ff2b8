//! Runs by name, and by where they stand: a board has a day of runs, most of which are not due, and each request asks for the few
//! that are.

use std::collections::{BTreeMap, BTreeSet};

use units::WallTime;

use crate::run::{RunId, RunRow, RunState};

/// Runs that are loaded.
#[derive(Debug, Clone, Default)]
pub(super) struct RunTable {
    rows: BTreeMap<RunId, RunRow>,
    /// Those that wait, by when their window begins.
    waiting: BTreeMap<WallTime, BTreeSet<RunId>>,
    /// Those that are leased or missing.
    out: BTreeSet<RunId>,
    over: BTreeSet<RunId>,
}

impl RunTable {
    pub(super) fn get(&self, id: &RunId) -> Option<&RunRow> {
        self.rows.get(id)
    }

    /// All runs, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = &RunRow> {
        self.rows.values()
    }

    /// Runs that wait and whose window has begun, or is over.
    pub(super) fn begun(&self, now: WallTime) -> impl Iterator<Item = &RunRow> {
        self.waiting.range(..=now).flat_map(|(_, ids)| ids).filter_map(|id| self.rows.get(id))
    }

    /// Runs that are leased or missing, by name.
    pub(super) fn out(&self) -> impl Iterator<Item = &RunRow> {
        self.out.iter().filter_map(|id| self.rows.get(id))
    }

    /// Adds a run, over one of the same name.
    pub(super) fn insert(&mut self, run: RunRow) {
        if let Some(before) = self.rows.remove(&run.id) {
            self.leave(&before);
        }
        self.enter(&run);
        self.rows.insert(run.id.clone(), run);
    }

    /// Changes a run; [`None`] where it is not loaded.
    pub(super) fn change<T>(&mut self, id: &RunId, change: impl FnOnce(&mut RunRow) -> T) -> Option<T> {
        let mut run = self.rows.remove(id)?;
        self.leave(&run);
        let outcome = change(&mut run);
        self.enter(&run);
        self.rows.insert(run.id.clone(), run);
        Some(outcome)
    }

    /// Leaves out runs that are over, but for those that are to be kept.
    pub(super) fn forget_over(&mut self, kept: &BTreeSet<RunId>) {
        let rows = &mut self.rows;
        self.over.retain(|id| {
            let is_kept = kept.contains(id);
            if !is_kept {
                rows.remove(id);
            }
            is_kept
        });
    }

    fn enter(&mut self, run: &RunRow) {
        match run.state {
            RunState::Waiting => {
                self.waiting.entry(begin(run)).or_default().insert(run.id.clone());
            }
            RunState::Leased { .. } | RunState::Missing { .. } => {
                self.out.insert(run.id.clone());
            }
            RunState::Done { .. } | RunState::Closed { .. } => {
                self.over.insert(run.id.clone());
            }
        }
    }

    fn leave(&mut self, run: &RunRow) {
        match run.state {
            RunState::Waiting => {
                let begin = begin(run);
                if let Some(ids) = self.waiting.get_mut(&begin) {
                    ids.remove(&run.id);
                    if ids.is_empty() {
                        self.waiting.remove(&begin);
                    }
                }
            }
            RunState::Leased { .. } | RunState::Missing { .. } => {
                self.out.remove(&run.id);
            }
            RunState::Done { .. } | RunState::Closed { .. } => {
                self.over.remove(&run.id);
            }
        }
    }
}

/// A window that ends before it begins is looked at when it has ended.
fn begin(run: &RunRow) -> WallTime {
    run.not_before.min(run.deadline)
}
