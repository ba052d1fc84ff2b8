//! An agent asks for work.

use units::WallTime;

use super::counters::Event;
use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::version;
use crate::api::work::{Facts, WorkReply, WorkRequest};
use crate::schedule::Asking;
use crate::store::rows::AgentContact;

/// What there is for an agent now.
pub(super) fn work(hub: &Hub, request: &Request, agent: &str) -> Result<WorkReply, RequestError> {
    let asked: WorkRequest = request.content()?;
    let now = hub.now();
    let version = request.version.clone().unwrap_or_else(|| version::TEXT.to_owned());
    let contact = AgentContact { agent: agent.to_owned(), at: now, version, health: asked.health };
    let asking = Asking { contact, key: &hub.ticket_key, store: hub.store.as_ref(), waited: request.waited };
    let given = hub.schedule.give(asking, &asked)?;
    for _ in &given.leases {
        hub.counters.count(Event::RunLeased);
    }
    given.wake.iter().for_each(|agent| hub.bells.ring(agent));
    Ok(WorkReply {
        leases: given.leases,
        serve: given.serve,
        unknown: given.revoked,
        counted: given.counted,
        now: Some(hub.now()),
        waited: request.waited,
        facts: facts(hub, agent)?,
        standing: given.standing,
        transfers_every_ms: hub.transfers_every.map(units::duration::millis),
    })
}

/// Whether there is something for an agent to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// There is.
    Something,
    /// There is not.
    Nothing,
}

/// Whether a request for work is answered now, or waits.
pub(super) fn is_due(hub: &Hub, asked: &WorkRequest, agent: &str) -> Result<Due, RequestError> {
    let is_due = hub.schedule.has_for(agent, asked, hub.now()) || facts(hub, agent)? == Facts::Wanted;
    Ok(if is_due { Due::Something } else { Due::Nothing })
}

fn facts(hub: &Hub, agent: &str) -> Result<Facts, RequestError> {
    let now = hub.now().unix_nanos();
    let is_new = |newest: WallTime| {
        let is_old = now.saturating_sub(newest.unix_nanos()) > FACTS_LAST_NS;
        // What was changed since, or is to be explained, is not in them.
        !is_old && !hub.watching.wants_facts(agent, newest)
    };
    let known = hub.newest_facts.are_known(hub.store.as_ref(), agent, is_new)?;
    Ok(if known { Facts::Known } else { Facts::Wanted })
}

/// All facts of a host are wanted once a day; changes come as they happen.
const FACTS_LAST_NS: u64 = 86_400_000_000_000;
