//! Rows that survive, transactions that may not.

use std::collections::BTreeMap;

use path::random::SeededRng;
use units::WallTime;

use super::ledger::Ledger;
use crate::board::{Board, Rows, is_needed};
use crate::rules::Rules;
use crate::run::{RequestNumber, Resource, RunId, RunRow, RunState};

/// The tables of a hub, and whether they can be reached.
#[derive(Debug, Default)]
pub(super) struct Database {
    rules: Rules,
    pub(super) runs: BTreeMap<RunId, RunRow>,
    /// The names of those that are not over: the index that hubs look them up by.
    open: std::collections::BTreeSet<RunId>,
    agents: BTreeMap<String, RequestNumber>,
    usage: BTreeMap<(Resource, u32), u64>,
    pub(super) is_up: bool,
}

/// What a transaction reads: the rows that every call needs, and one by name.
#[derive(Debug, Clone)]
pub(super) struct Reads {
    pub(super) now: WallTime,
    pub(super) run: Option<RunId>,
}

/// What a transaction's fate is drawn from, and who is told of it.
pub(super) struct Tools<'a> {
    pub(super) rng: &'a mut SeededRng,
    pub(super) ledger: &'a mut Ledger,
}

impl Database {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, is_up: true, ..Self::default() }
    }

    /// Makes a call in a transaction; [`None`] where the database did not answer: it was down, it failed before the commit, or
    /// after it.
    pub(super) fn transact<T>(
        &mut self,
        reads: &Reads,
        tools: &mut Tools<'_>,
        call: impl FnOnce(&mut Board) -> T,
    ) -> Option<T> {
        if !self.is_up || tools.rng.hits(FAILS_BEFORE) {
            return None;
        }
        let mut board = Board::new(self.rules.clone());
        board.load(self.rows(reads));
        let answer = call(&mut board);
        self.commit(board.take_changes(), tools.ledger);
        (!tools.rng.hits(FAILS_AFTER)).then_some(answer)
    }

    /// Adds runs by `INSERT .. ON CONFLICT DO NOTHING`.
    pub(super) fn insert(&mut self, runs: Vec<RunRow>) {
        if !self.is_up {
            return;
        }
        for run in runs {
            if !self.runs.contains_key(&run.id) {
                self.open.insert(run.id.clone());
                self.runs.insert(run.id.clone(), run);
            }
        }
    }

    fn rows(&self, reads: &Reads) -> Rows {
        let open = self.open.iter().filter_map(|id| self.runs.get(id)).filter(|run| is_needed(run, reads.now));
        let named = reads.run.iter().filter_map(|id| self.runs.get(id));
        let agent =
            |(name, last): (&String, &RequestNumber)| crate::board::AgentRow { name: name.clone(), last: *last };
        let usage = |((resource, day), bytes): (&(Resource, u32), &u64)| crate::board::UsageRow {
            resource: resource.clone(),
            day: *day,
            bytes: *bytes,
        };
        Rows {
            runs: open.chain(named).cloned().collect(),
            agents: self.agents.iter().map(agent).collect(),
            usage: self.usage.iter().map(usage).collect(),
        }
    }

    fn commit(&mut self, changes: Rows, ledger: &mut Ledger) {
        for run in changes.runs {
            let was_done = self.runs.get(&run.id).is_some_and(|old| matches!(old.state, RunState::Done { .. }));
            if matches!(run.state, RunState::Done { .. }) && !was_done {
                ledger.stores(&run.id);
            }
            if run.is_over() {
                self.open.remove(&run.id);
            } else {
                self.open.insert(run.id.clone());
            }
            self.runs.insert(run.id.clone(), run);
        }
        self.agents.extend(changes.agents.into_iter().map(|agent| (agent.name, agent.last)));
        self.usage.extend(changes.usage.into_iter().map(|usage| ((usage.resource, usage.day), usage.bytes)));
    }
}

/// The share of transactions that fail before, and after, they are committed.
const FAILS_BEFORE: f64 = 0.005;
const FAILS_AFTER: f64 = 0.005;
