//! What agents are given in writing: the one that asks, and the one that answers.

use std::collections::BTreeMap;

use mesh::board::Board;
use mesh::clock;
use mesh::run::{LeaseName, RunRow};
use units::{MonoTime, WallTime};

use super::planned::Planned;
use crate::api::order::Role;
use crate::trust::ticket::{Claims, Ticket, TicketKey};

/// Signs what a lease permits one of its two agents; [`None`] where the plan has no such test any more.
pub(super) fn issue(planned: &Planned, key: &TicketKey, signed: &Signed<'_>) -> Option<Ticket> {
    let Signed { run, agent, role, now } = *signed;
    let claims = Claims {
        agent: agent.to_owned(),
        lease: (&run.lease_name()).into(),
        role,
        from: now,
        until: clock::later(now, run.ttl()),
        assignment: planned.assignment(run, role)?,
    };
    key.sign(&claims).ok()
}

/// Whom a lease permits what.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    pub(super) run: &'a RunRow,
    pub(super) agent: &'a str,
    pub(super) role: Role,
    pub(super) now: WallTime,
}

/// Agents that are to answer tests. Who is leased a run may have asked another hub, so that is read from the rows.
#[derive(Debug, Default)]
pub(super) struct Partners(BTreeMap<LeaseName, Answering>);

#[derive(Debug)]
struct Answering {
    agent: String,
    run: RunRow,
    until: MonoTime,
    /// How often it was given: a reply may be lost.
    given: u32,
}

impl Partners {
    /// Takes the leases that there are now.
    pub(super) fn follow(&mut self, board: &Board, planned: &Planned, now: MonoTime) {
        self.0.retain(|lease, _| {
            board.run(&lease.run).is_some_and(|run| run.is_leased() && run.attempts == lease.attempt)
        });
        for run in board.leased() {
            if let Some(agent) = planned.answering(run) {
                let new = || Answering { agent, run: run.clone(), until: now + run.ttl(), given: 0 };
                self.0.entry(run.lease_name()).or_insert_with(new);
            }
        }
    }

    pub(super) fn is_waited_for(&self, agent: &str) -> bool {
        self.0.values().any(|one| one.given == 0 && one.agent == agent)
    }

    /// All agents that have not been given what they are to answer.
    pub(super) fn waited_for(&self) -> impl Iterator<Item = &String> {
        self.0.values().filter(|one| one.given == 0).map(|one| &one.agent)
    }

    /// The runs that an agent is to answer now. Each is given again until it is over: who has it drops the copy.
    pub(super) fn take(&mut self, agent: &str, now: MonoTime) -> Vec<RunRow> {
        let own = self.0.values_mut().filter(|one| one.agent == agent && now < one.until);
        let given = own.map(|one| {
            one.given += 1;
            one.run.clone()
        });
        given.collect()
    }
}
