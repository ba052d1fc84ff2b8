//! The truth, and what must never be.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::{Resource, RunId, RunRow, RunState};

/// Something that must never be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// Two runs used a host or a shared segment at once.
    Together {
        /// What both used.
        resource: Resource,
        /// The earlier one first.
        runs: [RunId; 2],
    },
    /// A run was carried out twice.
    CarriedOutTwice(RunId),
    /// A run has two results.
    StoredTwice(RunId),
    /// A run has neither a result nor a reason.
    Lost(RunId),
    /// A result was on an agent's disk and is not stored.
    ResultLost(RunId),
}

/// What really happened.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    in_use: BTreeMap<Resource, RunId>,
    begun: BTreeSet<RunId>,
    finished: BTreeSet<RunId>,
    stored: BTreeSet<RunId>,
    pub(super) violations: Vec<Violation>,
}

impl Ledger {
    pub(super) fn begins(&mut self, run: &RunRow) {
        if !self.begun.insert(run.id.clone()) {
            self.violations.push(Violation::CarriedOutTwice(run.id.clone()));
        }
        for need in &run.needs {
            if let Some(other) = self.in_use.insert(need.clone(), run.id.clone()) {
                self.violations.push(Violation::Together { resource: need.clone(), runs: [other, run.id.clone()] });
            }
        }
    }

    /// A test is over: at its end, or with the process that ran it.
    pub(super) fn ends(&mut self, run: &RunId) {
        self.in_use.retain(|_, user| user != run);
    }

    /// A result is on an agent's disk.
    pub(super) fn on_disk(&mut self, run: &RunId) {
        self.finished.insert(run.clone());
    }

    /// A result was committed.
    pub(super) fn stores(&mut self, run: &RunId) {
        if !self.stored.insert(run.clone()) {
            self.violations.push(Violation::StoredTwice(run.clone()));
        }
    }

    pub(super) fn carried_out(&self) -> usize {
        self.begun.len()
    }

    pub(super) fn stored(&self) -> usize {
        self.stored.len()
    }

    /// After all is healed and enough time has passed.
    pub(super) fn settle<'a>(&mut self, runs: impl Iterator<Item = &'a RunRow>) {
        for run in runs {
            let is_done = matches!(run.state, RunState::Done { .. });
            if !run.is_over() || is_done != self.stored.contains(&run.id) {
                self.violations.push(Violation::Lost(run.id.clone()));
            }
        }
        let lost = self.finished.difference(&self.stored).cloned().map(Violation::ResultLost);
        self.violations.extend(lost);
    }
}
