//! All runs that are not over: who gets which, what is delivered, what is lost.
//!
//! A hub loads the rows that a call needs, makes the call, stores [`Board::take_changes`] in the same transaction and only then
//! answers. Hubs that share a database do so one after the other; none of them leads.
//!
//! | file | what it has |
//! |---|---|
//! | `mod` | rows in and out, deliveries, ends |
//! | `request` | what an agent is given |
//! | `choose` | which runs may begin |
//! | `table` | runs by name, and by where they stand |

mod choose;
mod request;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::clock;
use crate::rules::Rules;
use crate::run::{
    Closing, Expiry, LeaseName, LeaseVersion, Obstacle, Outcome, Renewal, RequestNumber, Resource, RunId, RunRow,
    RunState, Verdict,
};

use table::RunTable;

pub use request::{AgentReply, AgentRequest, Counted, Lease, Present};

/// Rows of the hub's tables.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rows {
    /// Runs.
    pub runs: Vec<RunRow>,
    /// Agents.
    pub agents: Vec<AgentRow>,
    /// What budgets have been charged.
    pub usage: Vec<UsageRow>,
}

/// An agent's last request that counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRow {
    /// The host that it runs on.
    pub name: String,
    /// Older requests change nothing.
    pub last: RequestNumber,
}

/// What was moved over a resource in a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The host or segment.
    pub resource: Resource,
    /// Days since 1970-01-01, UTC.
    pub day: u32,
    /// Bytes, of runs that are leased or done; expected ones until they are known.
    pub bytes: u64,
}

/// A result as an agent delivers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Of which lease.
    pub lease: LeaseName,
    /// What came of it.
    pub outcome: Outcome,
}

/// Runs that are not over, and what goes with them.
#[derive(Debug, Clone, Default)]
pub struct Board {
    rules: Rules,
    runs: RunTable,
    agents: BTreeMap<String, RequestNumber>,
    usage: BTreeMap<(Resource, u32), u64>,
    changed: Changed,
}

#[derive(Debug, Clone, Default)]
struct Changed {
    runs: BTreeSet<RunId>,
    agents: BTreeSet<String>,
    usage: BTreeSet<(Resource, u32)>,
}

impl Board {
    /// A board without rows.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Takes other rules: the plan was changed.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Takes rows as they were stored. A call needs the runs of [`is_needed`], those that it names, what was moved today, and the
    /// agent that asks.
    pub fn load(&mut self, rows: Rows) {
        rows.runs.into_iter().for_each(|run| self.runs.insert(run));
        self.agents.extend(rows.agents.into_iter().map(|agent| (agent.name, agent.last)));
        self.usage.extend(rows.usage.into_iter().map(|usage| ((usage.resource, usage.day), usage.bytes)));
    }

    /// The rows that have changed since they were loaded or taken last.
    pub fn take_changes(&mut self) -> Rows {
        let changed = std::mem::take(&mut self.changed);
        let agent = |name: String| self.agents.get(&name).map(|last| AgentRow { name: name.clone(), last: *last });
        let usage = |key: (Resource, u32)| {
            let bytes = self.usage.get(&key).copied()?;
            Some(UsageRow { resource: key.0, day: key.1, bytes })
        };
        Rows {
            runs: changed.runs.into_iter().filter_map(|id| self.runs.get(&id).cloned()).collect(),
            agents: changed.agents.into_iter().filter_map(agent).collect(),
            usage: changed.usage.into_iter().filter_map(usage).collect(),
        }
    }

    /// A run that is loaded, by its name.
    #[must_use]
    pub fn run(&self, id: &RunId) -> Option<&RunRow> {
        self.runs.get(id)
    }

    /// All runs, by name.
    pub fn runs(&self) -> impl Iterator<Item = &RunRow> {
        self.runs.all()
    }

    /// Runs that are leased, by name.
    pub fn leased(&self) -> impl Iterator<Item = &RunRow> {
        self.runs.out().filter(|run| run.is_leased())
    }

    /// Adds runs whose names are not known; those of known names are left as they are.
    pub fn plan(&mut self, runs: Vec<RunRow>) {
        for run in runs {
            if self.runs.get(&run.id).is_none() {
                self.changed.runs.insert(run.id.clone());
                self.runs.insert(run);
            }
        }
    }

    /// Adds one that somebody, or a light test, asks for.
    pub fn ask(&mut self, run: RunRow) {
        self.plan(vec![run]);
    }

    /// Forgets the requests of an agent that joins anew: its disk, and with it the count of its starts, is another one.
    pub fn rejoin(&mut self, agent: &str) {
        self.agents.insert(agent.to_owned(), RequestNumber::default());
        self.changed.agents.insert(agent.to_owned());
    }

    /// Makes a lease longer.
    pub fn renew(&mut self, lease: &LeaseName) -> Renewal {
        let renewal = self.runs.change(&lease.run, |run| run.renew(lease.attempt)).unwrap_or(Renewal::Superseded);
        if renewal == Renewal::Renewed {
            self.changed.runs.insert(lease.run.clone());
        }
        renewal
    }

    /// Takes a result. All verdicts but [`Verdict::Unknown`] are acknowledged; only of [`Verdict::Stored`] and
    /// [`Verdict::Late`] the result is kept.
    pub fn deliver(&mut self, delivery: &Delivery, now: WallTime) -> Verdict {
        let delivered = self.runs.change(&delivery.lease.run, |run| {
            let verdict = run.deliver(delivery.lease.attempt, delivery.outcome.clone());
            (verdict, run.passes.clone(), run.bytes)
        });
        let Some((verdict, passes, expected)) = delivered else { return Verdict::Unknown };
        if matches!(verdict, Verdict::Stored | Verdict::Late) {
            self.changed.runs.insert(delivery.lease.run.clone());
            if let Outcome::Measured { bytes } = delivery.outcome {
                // What was expected has been charged with the lease: the rest is charged now.
                let more = bytes.get().saturating_sub(expected.map_or(0, units::ByteCount::get));
                self.charge(&passes, more, now);
            }
        }
        verdict
    }

    /// Gives up a lease that is over: its run is missing, and what it used is free.
    pub fn expire(&mut self, version: &LeaseVersion) -> Expiry {
        let expiry = self.runs.change(&version.lease.run, |run| run.expire(version)).unwrap_or(Expiry::Outdated);
        if expiry == Expiry::Expired {
            self.changed.runs.insert(version.lease.run.clone());
        }
        expiry
    }

    /// Closes runs whose window has passed, and missing ones that nobody reported; those that were closed.
    pub fn close(&mut self, now: WallTime) -> Vec<RunId> {
        let passed = self.runs.begun(now).filter(|run| run.deadline <= now);
        let obstacle = |run: &RunRow| self.obstacle(run, run.deadline).unwrap_or(Obstacle::AgentSilent);
        let passed = passed.map(|run| (run.id.clone(), obstacle(run)));
        let unreported = self.runs.out().map(|run| (run.id.clone(), Obstacle::AgentSilent));
        let all: BTreeMap<RunId, Obstacle> = passed.chain(unreported).collect();
        let mut closed = Vec::new();
        for (id, obstacle) in all {
            if self.runs.change(&id, |run| run.close(now, obstacle)) == Some(Closing::Closed) {
                closed.push(id);
            }
        }
        self.changed.runs.extend(closed.iter().cloned());
        closed
    }

    /// Cancels a run that waits.
    pub fn cancel(&mut self, id: &RunId) -> Cancelling {
        if self.runs.get(id).is_none_or(|run| run.state != RunState::Waiting) {
            return Cancelling::TooLate;
        }
        self.runs.change(id, |run| run.state = RunState::Closed { reason: crate::run::CloseReason::Cancelled });
        self.changed.runs.insert(id.clone());
        Cancelling::Cancelled
    }

    /// All leases, for the [`crate::observer::LeaseObserver`].
    #[must_use]
    pub fn leases(&self) -> Vec<LeaseVersion> {
        let version = |run: &RunRow| match run.state {
            RunState::Leased { renewals, .. } => {
                Some(LeaseVersion { lease: run.lease_name(), renewals, ttl: run.ttl() })
            }
            _ => None,
        };
        self.runs.out().filter_map(version).collect()
    }

    /// Leaves out runs that are over: they are stored.
    pub fn forget_over(&mut self) {
        self.runs.forget_over(&self.changed.runs);
    }

    fn charge(&mut self, passes: &[Resource], bytes: u64, now: WallTime) {
        if bytes == 0 {
            return;
        }
        let day = clock::day(now);
        for resource in passes.iter().filter(|resource| self.rules.budgets.contains_key(resource)) {
            let key = (resource.clone(), day);
            let spent = self.usage.entry(key.clone()).or_default();
            *spent = spent.saturating_add(bytes);
            self.changed.usage.insert(key);
        }
    }
}

/// Whether a call at a moment needs a run, other than by its name: those that are leased or missing, and those that wait and are due.
#[must_use]
pub fn is_needed(run: &RunRow, now: WallTime) -> bool {
    match run.state {
        RunState::Leased { .. } | RunState::Missing { .. } => true,
        RunState::Waiting => run.not_before <= now,
        RunState::Done { .. } | RunState::Closed { .. } => false,
    }
}

/// Whether a run could be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelling {
    /// It will not run.
    Cancelled,
    /// It is leased or over, or nobody knows it.
    TooLate,
}
