//! A run, from the plan to its result: a row of the hub's table, and the steps that it can take.
//!
//! | state | what is true | leaves it by |
//! |---|---|---|
//! | waiting | nobody runs it | a lease; its window ends |
//! | leased | one agent may run it, until its lease is over | a result; the agent never got it; the lease is over |
//! | missing | the lease is over, so nobody runs it any more; the agent has not said what became of it | a result; the agent never got it; nobody reports it |
//! | done | its result is stored | nothing |
//! | closed | it has no result, and the reason is stored | a late result of a run that nobody reported |
//!
//! It is leased again only after its agent has shown that it never got the lease before. So a run is carried out once at
//! most, whatever is lost on the way.

use std::fmt;
use std::time::Duration;

use plan::task::Weight;
use serde::{Deserialize, Serialize};
use units::{ByteCount, WallTime};

use crate::clock;

/// The name of a run: the test, its group, the pair, and the second at which its period begins. Every hub gives the same run
/// the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RunId(pub String);

/// What heavy tests use alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// A machine, by its name in the plan.
    Host(String),
    /// A segment that is used in turn.
    Segment(String),
}

/// Who is served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Somebody asked for it.
    OnDemand,
    /// A light test of the pair has changed, or a fix is to be verified.
    Triggered,
    /// Its period has come.
    Periodic,
}

/// A run that is planned, under way or over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRow {
    /// Unique; equal on every hub.
    pub id: RunId,
    /// The label of its test.
    pub test: String,
    /// The group of its test.
    pub group: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
    /// The host whose agent carries it out.
    pub agent: String,
    /// Who is served first.
    pub priority: Priority,
    /// What it does to others.
    pub weight: Weight,
    /// When it is due.
    pub not_before: WallTime,
    /// Until when it may begin.
    pub deadline: WallTime,
    /// How much time is kept for it, the rest behind it included.
    #[serde(rename = "keep_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub keep: Duration,
    /// What nobody else uses meanwhile; empty for light tests.
    pub needs: Vec<Resource>,
    /// The hosts and segments whose budgets it is counted in.
    pub passes: Vec<Resource>,
    /// How much it moves, as far as that is known before.
    #[serde(rename = "bytes", skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<ByteCount>,
    /// How often it was leased.
    pub attempts: u32,
    /// Where it stands.
    pub state: RunState,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum RunState {
    /// Nobody runs it.
    Waiting,
    /// An agent may run it.
    Leased {
        /// The number of the agent's request that it answered.
        request: RequestNumber,
        /// How often the lease was made longer.
        renewals: u32,
    },
    /// The lease is over, and nobody knows what became of it.
    Missing {
        /// The number of the agent's request that the lease answered.
        request: RequestNumber,
    },
    /// Its result is stored.
    Done {
        /// What came of it.
        outcome: Outcome,
    },
    /// It has no result.
    Closed {
        /// Why.
        reason: CloseReason,
    },
}

/// The place of a request among all those of an agent, over its restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestNumber {
    /// How often the agent has started, counted on its disk.
    pub boots: u64,
    /// Its requests since.
    pub number: u64,
}

/// What came of a run that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It has a result.
    Measured {
        /// What it moved.
        bytes: ByteCount,
    },
    /// None, for this reason.
    Failed {
        /// In a line.
        reason: String,
    },
}

/// Why a run has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CloseReason {
    /// Its window ended while it waited for this.
    WindowPassed(Obstacle),
    /// Its agent got it, and has never said what became of it.
    NoReport,
    /// Somebody cancelled it.
    Cancelled,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// Its agent did not ask for it.
    AgentSilent,
    /// A host of it is not connected.
    HostAbsent(String),
    /// Another run uses this.
    Busy(Resource),
    /// The budget of the day is spent there.
    BudgetSpent(Resource),
    /// Maintenance.
    Maintenance,
}

/// One lease of one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseName {
    /// What is leased.
    pub run: RunId,
    /// Which of its leases, from 1.
    pub attempt: u32,
}

/// A lease as it was at a moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeaseVersion {
    /// Which.
    pub lease: LeaseName,
    /// How often it was made longer.
    pub renewals: u32,
    /// How long it lasts from each.
    #[serde(rename = "ttl_us", with = "units::duration::as_us")]
    pub ttl: Duration,
}

/// What a delivery was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The result of this run: store it.
    Stored,
    /// The same, after the run was given up: store it.
    Late,
    /// The run has its result: nothing to store, and the agent may forget its copy.
    Duplicate,
    /// A lease that the agent itself has given up since: nothing to store.
    Superseded,
    /// Nobody knows such a run: the agent keeps it until somebody looks.
    Unknown,
}

impl RunRow {
    /// The present lease, or the last one.
    #[must_use]
    pub fn lease_name(&self) -> LeaseName {
        LeaseName { run: self.id.clone(), attempt: self.attempts }
    }

    /// How long a lease lasts: the test and twice the rest that connections, programs and slow disks need.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        self.keep.saturating_add(SLACK)
    }

    /// Whether its agent may be at work on it.
    #[must_use]
    pub const fn is_leased(&self) -> bool {
        matches!(self.state, RunState::Leased { .. })
    }

    /// Whether nothing is to come any more.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.state, RunState::Done { .. } | RunState::Closed { .. })
    }

    /// Waiting to leased.
    pub(crate) fn lease(&mut self, request: RequestNumber) {
        assert!(self.state == RunState::Waiting, "only a run that waits is leased");
        self.attempts += 1;
        self.state = RunState::Leased { request, renewals: 0 };
    }

    /// A lease is made longer; `false` where it is another one.
    pub(crate) fn renew(&mut self, attempt: u32) -> Renewal {
        match &mut self.state {
            RunState::Leased { renewals, .. } if self.attempts == attempt => {
                *renewals += 1;
                Renewal::Renewed
            }
            _ => Renewal::Superseded,
        }
    }

    /// Leased or missing to waiting: the agent never got the lease that answered this or an earlier request.
    pub(crate) fn never_arrived(&mut self) {
        if matches!(self.state, RunState::Leased { .. } | RunState::Missing { .. }) {
            self.state = RunState::Waiting;
        }
    }

    /// Leased to missing, unless it was renewed or leased anew.
    pub(crate) fn expire(&mut self, version: &LeaseVersion) -> Expiry {
        match self.state {
            RunState::Leased { request, renewals }
                if self.attempts == version.lease.attempt && renewals == version.renewals =>
            {
                self.state = RunState::Missing { request };
                Expiry::Expired
            }
            _ => Expiry::Outdated,
        }
    }

    /// To done, from wherever the run is, unless it is there already.
    pub(crate) fn deliver(&mut self, attempt: u32, outcome: Outcome) -> Verdict {
        let verdict = match &self.state {
            RunState::Done { .. } => return Verdict::Duplicate,
            _ if attempt < self.attempts => return Verdict::Superseded,
            _ if attempt > self.attempts => return Verdict::Unknown,
            RunState::Closed { .. } => Verdict::Late,
            RunState::Missing { .. } | RunState::Leased { .. } | RunState::Waiting => Verdict::Stored,
        };
        self.state = RunState::Done { outcome };
        verdict
    }

    /// Waiting past its window to closed; missing for longer than results are waited for to closed.
    pub(crate) fn close(&mut self, now: WallTime, obstacle: Obstacle) -> Closing {
        let reason = match self.state {
            RunState::Waiting if self.deadline <= now => CloseReason::WindowPassed(obstacle),
            RunState::Missing { .. } if clock::later(self.deadline, REPORT_PATIENCE) <= now => CloseReason::NoReport,
            _ => return Closing::Open,
        };
        self.state = RunState::Closed { reason };
        Closing::Closed
    }
}

/// What became of a wish for more time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renewal {
    /// The lease lasts for another `ttl` from the sending of this request.
    Renewed,
    /// It is over: the agent ends the test.
    Superseded,
}

/// Whether a lease was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It was; the run is missing.
    Expired,
    /// It was renewed, or is another one by now.
    Outdated,
}

/// Whether a run was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Now.
    Closed,
    /// Not yet, or it was over already.
    Open,
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name) => write!(f, "host {name}"),
            Self::Segment(name) => write!(f, "segment {name}"),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AgentSilent => f.write_str("its agent did not ask for it"),
            Self::HostAbsent(host) => write!(f, "host {host} is not connected"),
            Self::Busy(resource) => write!(f, "{resource} is in use"),
            Self::BudgetSpent(resource) => write!(f, "the budget of the day of {resource} is spent"),
            Self::Maintenance => f.write_str("maintenance"),
        }
    }
}

/// Programs are started, sockets closed, processes that hang are killed.
pub const SLACK: Duration = Duration::from_secs(10);
/// A result that nobody has delivered a day after its window was lost with its agent's disk. Should it come yet, it is kept.
pub const REPORT_PATIENCE: Duration = Duration::from_secs(86_400);
