//! What an agent is given.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::Board;
use crate::run::{LeaseName, RequestNumber, RunId, RunRow, RunState};

/// What an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRequest {
    /// The host that it runs on.
    pub agent: String,
    /// Later requests have greater numbers, also after a restart.
    pub number: RequestNumber,
    /// How many runs it would begin.
    pub room: usize,
    /// Every lease that it has on disk: not begun, under way, or with a result that is not acknowledged. Agents of before did not
    /// say.
    pub inventory: Option<Vec<LeaseName>>,
}

/// What it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReply {
    /// To which request.
    pub to: RequestNumber,
    /// Whether the request was the newest.
    pub counted: Counted,
    /// What it may begin.
    pub leases: Vec<Lease>,
    /// What it must not begin, or must end: leases that are not its own any more.
    pub revoked: Vec<LeaseName>,
}

/// Whether a request changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// It was newer than all before it.
    Yes,
    /// It is a copy, or was overtaken: an old inventory proves nothing.
    Old,
}

/// The right to carry out a run, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// What is to be carried out.
    pub run: RunRow,
    /// Which of its leases.
    pub attempt: u32,
    /// How long it lasts from when the agent sent its request, and for as long again from each renewal. A hub that lets requests wait adds
    /// how long this one has waited.
    #[serde(rename = "ttl_us", with = "units::duration::as_us")]
    pub ttl: Duration,
}

/// Which hosts can be tested now.
#[derive(Clone, Copy, Default)]
pub enum Present<'a> {
    /// All are taken to be there.
    #[default]
    All,
    /// Those of which this holds: all but agents that have not asked for a while.
    Those(&'a dyn Fn(&str) -> bool),
}

impl std::fmt::Debug for Present<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::All => "All",
            Self::Those(_) => "Those",
        })
    }
}

impl Lease {
    /// By what it is renewed and delivered.
    #[must_use]
    pub fn name(&self) -> LeaseName {
        LeaseName { run: self.run.id.clone(), attempt: self.attempt }
    }
}

impl Present<'_> {
    pub(super) fn has_both(&self, run: &RunRow) -> bool {
        match self {
            Self::All => true,
            Self::Those(is_there) => is_there(&run.from) && is_there(&run.to),
        }
    }
}

impl Board {
    /// Answers an agent.
    pub fn request(&mut self, request: &AgentRequest, present: &Present<'_>, now: WallTime) -> AgentReply {
        let mut reply =
            AgentReply { to: request.number, counted: Counted::Old, leases: Vec::new(), revoked: Vec::new() };
        let last = self.agents.get(&request.agent).copied();
        if last.is_some_and(|last| request.number <= last) {
            return reply;
        }
        reply.counted = Counted::Yes;
        self.agents.insert(request.agent.clone(), request.number);
        self.changed.agents.insert(request.agent.clone());
        if let Some(inventory) = &request.inventory {
            self.take_inventory(request, inventory);
            reply.revoked = inventory.iter().filter(|lease| !self.is_good(lease, &request.agent)).cloned().collect();
        }
        for id in self.choose(request, present, now) {
            reply.leases.extend(self.lease(&id, request.number, now));
        }
        reply
    }

    /// Leases of this agent that answered requests before this one, and that it does not have: their replies were lost, and nobody
    /// will ever run them, since an agent takes no reply but that to its newest request.
    fn take_inventory(&mut self, request: &AgentRequest, inventory: &[LeaseName]) {
        let is_lost = |run: &&RunRow| {
            let (RunState::Leased { request: of, .. } | RunState::Missing { request: of }) = run.state else {
                return false;
            };
            of < request.number && !inventory.contains(&run.lease_name())
        };
        let lost: Vec<RunId> = self.runs.out_of(&request.agent).filter(is_lost).map(|run| run.id.clone()).collect();
        for id in lost {
            self.runs.change(&id, RunRow::never_arrived);
            self.changed.runs.insert(id);
        }
    }

    /// Whether an agent may still begin or deliver what it has.
    fn is_good(&self, lease: &LeaseName, agent: &str) -> bool {
        // A run that is not loaded is not judged.
        let Some(run) = self.runs.get(&lease.run) else { return true };
        run.agent == agent && run.attempts == lease.attempt && run.is_leased()
    }

    fn lease(&mut self, id: &RunId, number: RequestNumber, now: WallTime) -> Option<Lease> {
        let run = self.runs.change(id, |run| {
            run.lease(number);
            run.clone()
        })?;
        self.changed.runs.insert(id.clone());
        self.charge(&run.passes, run.bytes.map_or(0, units::ByteCount::get), now);
        Some(Lease { attempt: run.attempts, ttl: run.ttl(), run })
    }
}
