//! An agent and its disk.

use std::collections::BTreeMap;

use path::random::SeededRng;

use super::hub::Clocks;
use super::ledger::Ledger;
use crate::agent::{AgentJournal, JournalChange, JournalEntry, Progress};
use crate::run::{LeaseName, Outcome, RunId};

/// The host of an agent.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) clocks: Clocks,
    /// What a program from before says nothing of: its inventory.
    pub(super) is_old: bool,
    disk: BTreeMap<LeaseName, JournalEntry>,
    /// Whether its disk takes nothing new.
    pub(super) is_full: bool,
    boots: u64,
    /// The agent, where it is up.
    pub(super) journal: Option<AgentJournal>,
    /// Its tests that are under way.
    running: Vec<LeaseName>,
    /// Counts its lives, so that what belongs to an earlier one is recognised.
    pub(super) life: u64,
}

/// What became of an agent, and of what it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survival {
    /// All is on disk.
    Alive,
    /// The disk was full: some of it is not.
    Unwritten,
    /// It was killed in it.
    Killed,
}

impl Machine {
    pub(super) fn new(name: String, clocks: Clocks) -> Self {
        let journal = Some(AgentJournal::restore(&name, 1, Vec::new()));
        Self {
            name,
            clocks,
            is_old: false,
            disk: BTreeMap::new(),
            is_full: false,
            boots: 1,
            journal,
            running: Vec::new(),
            life: 0,
        }
    }

    /// Writes what has changed to disk; the agent may die before, between any two entries, or after.
    pub(super) fn write(&mut self, ledger: &mut Ledger, rng: &mut SeededRng) -> Survival {
        let Some(journal) = &mut self.journal else { return Survival::Killed };
        let mut changes = journal.take_changes().into_iter();
        while let Some(change) = changes.next() {
            if self.is_full && matches!(change, JournalChange::Put(_)) {
                journal.unwritten(std::iter::once(change).chain(changes));
                return Survival::Unwritten;
            }
            if rng.hits(KILLED_IN_A_STEP) {
                self.kill(ledger);
                return Survival::Killed;
            }
            match change {
                JournalChange::Put(entry) => {
                    if matches!(entry.progress, Progress::Finished(_)) {
                        ledger.on_disk(&entry.lease.run.id);
                    }
                    self.disk.insert(entry.lease.name(), *entry);
                }
                JournalChange::Remove(name) => {
                    self.disk.remove(&name);
                }
            }
        }
        if rng.hits(KILLED_IN_A_STEP) {
            self.kill(ledger);
            return Survival::Killed;
        }
        Survival::Alive
    }

    /// Begins a test.
    pub(super) fn begin(&mut self, name: LeaseName) {
        self.running.push(name);
    }

    /// Ends one; whether it was still under way.
    pub(super) fn end(&mut self, name: &LeaseName, outcome: Outcome, ledger: &mut Ledger) {
        if self.running.iter().any(|running| running == name) {
            self.running.retain(|running| running != name);
            ledger.ends(&name.run);
            if let Some(journal) = &mut self.journal {
                journal.finished(name, outcome);
            }
        }
    }

    /// The process dies, and its tests with it.
    pub(super) fn kill(&mut self, ledger: &mut Ledger) {
        self.journal = None;
        self.life += 1;
        for name in self.running.drain(..) {
            let id: &RunId = &name.run;
            ledger.ends(id);
        }
    }

    /// It starts anew, with what is on its disk.
    pub(super) fn start(&mut self) {
        if self.journal.is_none() {
            self.boots += 1;
            let entries = self.disk.values().cloned().collect();
            self.journal = Some(AgentJournal::restore(&self.name, self.boots, entries));
        }
    }
}

const KILLED_IN_A_STEP: f64 = 0.002;
