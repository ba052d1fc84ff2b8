//! What an agent is given when it asks.

use linux::clock;
use mesh::board::{AgentRequest, Counted as BoardCounted, Present};
use mesh::run::{LeaseName, RequestNumber};
use units::WallTime;

use super::Schedule;
use super::tickets::{self, Issued};
use crate::api::order;
use crate::api::work::{Counted, LeasedRun, StandingOrders, WorkRequest};
use crate::store::{Store, StoreError};
use crate::trust::ticket::{Ticket, TicketKey};

/// What there is for an agent.
#[derive(Debug)]
pub struct Given {
    /// Whether its request was the newest.
    pub counted: Counted,
    /// Runs to carry out.
    pub leases: Vec<LeasedRun>,
    /// Runs of others to answer.
    pub serve: Vec<Ticket>,
    /// Leases of its inventory that are not its own any more.
    pub revoked: Vec<order::LeaseName>,
    /// Its light tests, where it has others.
    pub standing: Option<StandingOrders>,
    /// Agents that are to answer: their requests are worth an answer now.
    pub wake: Vec<String>,
}

/// Who asks, when, and what signs tickets.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// Agent that has asked for work.
    pub agent: &'a str,
    /// By the calendar.
    pub now: WallTime,
    /// The hub's key.
    pub key: &'a TicketKey,
    /// Where rows are kept.
    pub store: &'a dyn Store,
    /// How long the request has waited at the hub.
    pub waited: std::time::Duration,
}

impl Schedule {
    /// Answers an agent. What it is given is on disk by then.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn give(&self, asking: Asking<'_>, request: &WorkRequest) -> Result<Given, StoreError> {
        let Asking { agent, now, key, store, waited } = asking;
        let (given, pending) = {
            let mut guard = self.fresh(store)?;
            let state = &mut *guard;
            let mono = clock::now();
            state.heard.insert(agent.to_owned(), mono);
            let present = state.present(mono);
            let inventory = request.inventory.as_ref().map(|leases| leases.iter().map(LeaseName::from).collect());
            let number = RequestNumber { boots: request.boots, number: request.number };
            let room = usize::try_from(request.room).unwrap_or(0).min(MOST_LEASES);
            let room = if state.planned.is_some() { room } else { 0 };
            let asked = AgentRequest { agent: agent.to_owned(), number, room, inventory };
            let reply = state.board.request(&asked, &present, now);
            let (mut leases, mut wake) = (Vec::new(), Vec::new());
            for lease in reply.leases {
                let Some(planned) = &state.planned else { break };
                let Some(issued) = tickets::issue(planned, key, &lease, now) else { continue };
                let Issued { client, server } = issued;
                if let Some((partner, ticket)) = server {
                    state.partners.add(&partner, ticket, lease.name(), mono + lease.ttl);
                    wake.push(partner);
                }
                let ttl = lease.ttl.saturating_add(waited);
                let row = serde_json::to_value(&lease.run)?;
                leases.push(LeasedRun { ticket: client, ttl, row });
            }
            let standing = state.planned.as_ref().map(|planned| planned.standing(agent));
            let standing = standing.filter(|orders| request.standing.as_ref() != Some(&orders.digest));
            let given = Given {
                counted: if reply.counted == BoardCounted::Yes { Counted::Counted } else { Counted::Old },
                leases,
                serve: state.partners.take(agent, mono),
                revoked: reply.revoked.iter().map(order::LeaseName::from).collect(),
                standing,
                wake,
            };
            let rows = state.board.take_changes();
            state.board.forget_over();
            (given, store.save(rows, None)?)
        };
        pending.wait().inspect_err(|_| self.refused())?;
        Ok(given)
    }

    /// Whether there is something for an agent that has asked and waits.
    #[must_use]
    pub fn has_for(&self, agent: &str, request: &WorkRequest, now: WallTime) -> bool {
        let mut guard = self.state();
        let state = &mut *guard;
        let mono = clock::now();
        state.heard.insert(agent.to_owned(), mono);
        if state.partners.is_waited_for(agent) {
            return true;
        }
        let Some(planned) = &state.planned else { return false };
        if request.standing.as_ref() != Some(&planned.standing(agent).digest) {
            return true;
        }
        request.room > 0 && state.board.wanted(&state.present(mono), now).contains(agent)
    }

    /// The agents that could begin a run now.
    #[must_use]
    pub fn wanted(&self, now: WallTime) -> Vec<String> {
        let state = self.state();
        let present: Present = state.present(clock::now());
        state.board.wanted(&present, now).into_iter().collect()
    }
}

/// A host runs one heavy test at a time.
const MOST_LEASES: usize = 4;
