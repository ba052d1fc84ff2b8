//! An agent asks for work.

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::version;
use crate::api::work::{Counted, Facts, WorkReply, WorkRequest};
use crate::store::AgentContact;

/// What there is for an agent now.
pub(super) fn work(hub: &Hub, request: &Request, agent: &str) -> Result<WorkReply, RequestError> {
    let asked: WorkRequest = request.content()?;
    let now = hub.now();
    let version = request.version.clone().unwrap_or_else(|| version::TEXT.to_owned());
    hub.store.heard(agent, AgentContact { at: now, version, health: asked.health })?;
    Ok(WorkReply {
        leases: Vec::new(),
        serve: Vec::new(),
        unknown: Vec::new(),
        counted: Counted::Counted,
        waited: request.waited,
        facts: facts(hub, agent)?,
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
pub(super) fn is_due(hub: &Hub, _body: &[u8], agent: &str) -> Result<Due, RequestError> {
    Ok(if facts(hub, agent)? == Facts::Wanted { Due::Something } else { Due::Nothing })
}

fn facts(hub: &Hub, agent: &str) -> Result<Facts, RequestError> {
    let now = hub.now().unix_nanos();
    let newest = hub.store.newest_snapshot(agent)?;
    let is_old = newest.is_none_or(|newest| now.saturating_sub(newest.unix_nanos()) > FACTS_LAST_NS);
    Ok(if is_old { Facts::Wanted } else { Facts::Known })
}

/// All facts of a host are wanted once a day; changes come as they happen.
const FACTS_LAST_NS: u64 = 86_400_000_000_000;
