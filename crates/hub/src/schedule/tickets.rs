//! What agents are given in writing: the one that asks, and the one that answers.

use std::collections::BTreeMap;

use mesh::board::Lease;
use mesh::clock;
use mesh::run::LeaseName;
use units::{MonoTime, WallTime};

use super::planned::Planned;
use crate::api::order::Role;
use crate::trust::ticket::{Claims, Ticket, TicketKey};

/// The tickets of a lease.
pub(super) struct Issued {
    pub(super) client: Ticket,
    /// Of the agent that answers, where one does.
    pub(super) server: Option<(String, Ticket)>,
}

/// Signs what a lease permits; [`None`] where the plan has no such test any more.
pub(super) fn issue(planned: &Planned, key: &TicketKey, lease: &Lease, now: WallTime) -> Option<Issued> {
    let until = clock::later(now, lease.ttl);
    let sign = |agent: &str, role: Role| {
        let claims = Claims {
            agent: agent.to_owned(),
            lease: (&lease.name()).into(),
            role,
            from: now,
            until,
            assignment: planned.assignment(&lease.run, role)?,
        };
        key.sign(&claims).ok()
    };
    let client = sign(&lease.run.agent, Role::Client)?;
    let server = match planned.answering(&lease.run) {
        Some(partner) => {
            let ticket = sign(&partner, Role::Server)?;
            Some((partner, ticket))
        }
        None => None,
    };
    Some(Issued { client, server })
}

/// Agents that are to answer tests.
#[derive(Debug, Default)]
pub(super) struct Partners(BTreeMap<String, Vec<Answering>>);

#[derive(Debug)]
struct Answering {
    ticket: Ticket,
    lease: LeaseName,
    until: MonoTime,
    /// How often it was given: a reply may be lost.
    given: u32,
}

impl Partners {
    pub(super) fn add(&mut self, agent: &str, ticket: Ticket, lease: LeaseName, until: MonoTime) {
        self.0.entry(agent.to_owned()).or_default().push(Answering { ticket, lease, until, given: 0 });
    }

    pub(super) fn is_waited_for(&self, agent: &str) -> bool {
        self.0.get(agent).is_some_and(|answers| answers.iter().any(|one| one.given == 0))
    }

    /// What an agent is to answer now. Each is given again until its run is over: who has it drops the copy.
    pub(super) fn take(&mut self, agent: &str, now: MonoTime) -> Vec<Ticket> {
        let Some(answers) = self.0.get_mut(agent) else { return Vec::new() };
        answers.retain(|one| now < one.until);
        answers.iter_mut().for_each(|one| one.given += 1);
        let tickets = answers.iter().map(|one| one.ticket.clone()).collect();
        if answers.is_empty() {
            self.0.remove(agent);
        }
        tickets
    }

    /// A run is over: nobody has to answer it.
    pub(super) fn over(&mut self, lease: &LeaseName) {
        self.0.values_mut().for_each(|answers| answers.retain(|one| one.lease != *lease));
    }
}
