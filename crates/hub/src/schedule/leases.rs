//! What an agent is given when it asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use linux::clock;
use mesh::board::{AgentRequest, Counted as BoardCounted, Lease, Present};
use mesh::run::{LeaseName, RequestNumber, RunRow};
use units::WallTime;

use super::Schedule;
use super::planned::Planned;
use super::state::{Contacts, State};
use super::tickets::{self, Signed};
use super::turns::{Needs, Stored};
use crate::api::order::{self, Role};
use crate::api::work::{Counted, LeasedRun, StandingOrders, WorkRequest};
use crate::store::rows::AgentContact;
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
#[derive(Debug, Clone)]
pub struct Asking<'a> {
    /// Agent that has asked for work, when by the calendar, and how it is.
    pub contact: AgentContact,
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
        let Asking { contact, key, store, waited } = asking;
        let (agent, now) = (contact.agent.clone(), contact.at);
        let (own, request) = (agent.clone(), request.clone());
        let answer = move |state: &mut State| {
            let given = state.give(&agent, &request, now);
            (given, Stored { contact: Some(contact), ..Stored::default() })
        };
        let (answered, _) = self.change(store, Needs::default(), answer)?;
        let Answered { planned, counted, leases, serve, revoked, standing } = answered;
        let Some(planned) = planned else {
            return Ok(Given { counted, leases: Vec::new(), serve: Vec::new(), revoked, standing, wake: Vec::new() });
        };
        let sign = |run: &RunRow, agent: &str, role| tickets::issue(&planned, key, &Signed { run, agent, role, now });
        let mut given = Given { counted, leases: Vec::new(), serve: Vec::new(), revoked, standing, wake: Vec::new() };
        given.serve.extend(serve.iter().filter_map(|run| sign(run, &own, Role::Server)));
        for lease in leases {
            let Some(ticket) = sign(&lease.run, &own, Role::Client) else { continue };
            given.wake.extend(planned.answering(&lease.run));
            let ttl = lease.ttl.saturating_add(waited);
            let row = serde_json::to_value(&lease.run)?;
            given.leases.push(LeasedRun { ticket, ttl, row });
        }
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
        if request.standing.as_ref() != Some(&planned.standing_digest(agent)) {
            return true;
        }
        request.room > 0 && state.wanted(mono, now).contains(agent)
    }

    /// The agents that could begin a run now, or are to answer one.
    #[must_use]
    pub fn wanted(&self, now: WallTime) -> BTreeSet<String> {
        let mut state = self.state();
        let mut wanted = state.wanted(clock::now(), now).clone();
        wanted.extend(state.partners.waited_for().cloned());
        wanted
    }
}

/// What an agent is answered, not signed yet.
struct Answered {
    planned: Option<Arc<Planned>>,
    counted: Counted,
    leases: Vec<Lease>,
    serve: Vec<RunRow>,
    revoked: Vec<order::LeaseName>,
    standing: Option<StandingOrders>,
}

impl State {
    fn give(&mut self, agent: &str, request: &WorkRequest, now: WallTime) -> Answered {
        let mono = clock::now();
        self.heard.insert(agent.to_owned(), mono);
        let inventory = request.inventory.as_ref().map(|leases| leases.iter().map(LeaseName::from).collect());
        let number = RequestNumber { boots: request.boots, number: request.number };
        let room = usize::try_from(request.room).unwrap_or(0).min(MOST_LEASES);
        let room = if self.planned.is_some() { room } else { 0 };
        let asked = AgentRequest { agent: agent.to_owned(), number, room, inventory };
        let Self { board, planned, heard, .. } = self;
        let contacts = Contacts { planned: planned.as_deref(), heard };
        let is_there = |host: &str| contacts.has(host, mono);
        let reply = board.request(&asked, &Present::Those(&is_there), now);
        let is_new = |planned: &&Arc<Planned>| request.standing.as_ref() != Some(&planned.standing_digest(agent));
        Answered {
            planned: self.planned.clone(),
            counted: if reply.counted == BoardCounted::Yes { Counted::Counted } else { Counted::Old },
            leases: reply.leases,
            serve: self.partners.take(agent, mono),
            revoked: reply.revoked.iter().map(order::LeaseName::from).collect(),
            standing: self.planned.as_ref().filter(is_new).map(|planned| planned.standing(agent)),
        }
    }
}

/// A host runs one heavy test at a time.
const MOST_LEASES: usize = 4;
