//! Runs by name, and by where they stand: a board has a day of runs, most of which are not due, and each request asks for the few
//! that are.

use std::collections::{BTreeMap, BTreeSet};

use units::WallTime;

use crate::run::{Priority, Resource, RunId, RunRow, RunState};

/// Runs that are loaded.
#[derive(Debug, Clone, Default)]
pub(super) struct RunTable {
    rows: BTreeMap<RunId, RunRow>,
    /// Those that wait, by when their window begins.
    waiting: Waiting,
    /// The same of each agent: a thousand ask every few seconds.
    waiting_of: BTreeMap<String, Waiting>,
    /// Those that wait and that somebody has asked for.
    on_demand: BTreeSet<RunId>,
    /// Those that are leased or missing.
    out: BTreeSet<RunId>,
    out_of: BTreeMap<String, BTreeSet<RunId>>,
    /// What leased runs use, and how many do.
    used: BTreeMap<Resource, u32>,
    over: BTreeSet<RunId>,
}

/// Runs by when their window begins.
type Waiting = BTreeMap<WallTime, BTreeSet<RunId>>;

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

    /// Those of an agent.
    pub(super) fn begun_of(&self, agent: &str, now: WallTime) -> impl Iterator<Item = &RunRow> {
        let own = self.waiting_of.get(agent).into_iter().flat_map(move |waiting| waiting.range(..=now));
        own.flat_map(|(_, ids)| ids).filter_map(|id| self.rows.get(id))
    }

    /// Runs that wait and that somebody has asked for, by name.
    pub(super) fn on_demand(&self) -> impl Iterator<Item = &RunRow> {
        self.on_demand.iter().filter_map(|id| self.rows.get(id))
    }

    /// Runs that are leased or missing, by name.
    pub(super) fn out(&self) -> impl Iterator<Item = &RunRow> {
        self.out.iter().filter_map(|id| self.rows.get(id))
    }

    /// Those of an agent.
    pub(super) fn out_of(&self, agent: &str) -> impl Iterator<Item = &RunRow> {
        self.out_of.get(agent).into_iter().flatten().filter_map(|id| self.rows.get(id))
    }

    /// Whether a run that is leased uses it.
    pub(super) fn is_used(&self, resource: &Resource) -> bool {
        self.used.contains_key(resource)
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
                let of_agent = self.waiting_of.entry(run.agent.clone()).or_default();
                for waiting in [&mut self.waiting, of_agent] {
                    waiting.entry(begin(run)).or_default().insert(run.id.clone());
                }
                if run.priority == Priority::OnDemand {
                    self.on_demand.insert(run.id.clone());
                }
            }
            RunState::Leased { .. } | RunState::Missing { .. } => {
                self.out.insert(run.id.clone());
                self.out_of.entry(run.agent.clone()).or_default().insert(run.id.clone());
                for need in run.needs.iter().filter(|_| run.is_leased()) {
                    *self.used.entry(need.clone()).or_default() += 1;
                }
            }
            RunState::Done { .. } | RunState::Closed { .. } => {
                self.over.insert(run.id.clone());
            }
        }
    }

    fn leave(&mut self, run: &RunRow) {
        match run.state {
            RunState::Waiting => {
                leave(&mut self.waiting, &begin(run), &run.id);
                if let Some(own) = self.waiting_of.get_mut(&run.agent) {
                    leave(own, &begin(run), &run.id);
                    if own.is_empty() {
                        self.waiting_of.remove(&run.agent);
                    }
                }
                self.on_demand.remove(&run.id);
            }
            RunState::Leased { .. } | RunState::Missing { .. } => {
                self.out.remove(&run.id);
                leave(&mut self.out_of, &run.agent, &run.id);
                for need in run.needs.iter().filter(|_| run.is_leased()) {
                    if let Some(users) = self.used.get_mut(need) {
                        *users -= 1;
                        if *users == 0 {
                            self.used.remove(need);
                        }
                    }
                }
            }
            RunState::Done { .. } | RunState::Closed { .. } => {
                self.over.remove(&run.id);
            }
        }
    }
}

/// Takes a run from a group, and a group that is empty then.
fn leave<K: Ord>(groups: &mut BTreeMap<K, BTreeSet<RunId>>, key: &K, id: &RunId) {
    if let Some(ids) = groups.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            groups.remove(key);
        }
    }
}

/// A window that ends before it begins is looked at when it has ended.
fn begin(run: &RunRow) -> WallTime {
    run.not_before.min(run.deadline)
}
