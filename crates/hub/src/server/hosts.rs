//! Hosts, their facts, their change logs.

use std::collections::BTreeSet;
use std::time::Duration;

use model::host::change::ChangeEntry;
use units::WallTime;

use super::request::{Request, RequestError};
use super::state::Hub;
use super::views::since;
use crate::api::mesh::{ChangeInfo, Changes, HostDetail, HostInfo, Hosts};
use crate::api::record::content;
use crate::store::rows::{AgentRow, RecordQuery, StoredRecord};
use crate::watching::line;

pub(super) fn list(hub: &Hub) -> Result<Hosts, RequestError> {
    let agents = hub.store.agents()?;
    let mut names: BTreeSet<String> = agents.iter().map(|agent| agent.name.clone()).collect();
    let planned = hub.schedule.planned();
    names.extend(planned.iter().flat_map(|planned| planned.plan().hosts.iter().map(|host| host.name.clone())));
    let hosts = names.into_iter().map(|name| host(hub, &agents, &name, IN_LIST));
    Ok(Hosts { hosts: hosts.collect::<Result<_, _>>()? })
}

pub(super) fn one(hub: &Hub, request: &Request) -> Result<HostDetail, RequestError> {
    let name =
        request.value("name").ok_or_else(|| RequestError::NotUnderstood("`name` is missing behind `?`".to_owned()))?;
    let agents = hub.store.agents()?;
    let is_planned = hub.schedule.planned().is_some_and(|planned| planned.plan().host(&name).is_some());
    if !is_planned && agents.iter().all(|agent| agent.name != name) {
        return Err(RequestError::NotFound(format!("host {name}")));
    }
    let query = RecordQuery { kind: "snapshot", agent: Some(&name), since: WallTime::default(), most: 1 };
    let snapshot = hub.store.newest(query)?.pop().and_then(|record| content(&record.content).ok());
    Ok(HostDetail { host: host(hub, &agents, &name, OF_ONE)?, snapshot })
}

pub(super) fn changes(hub: &Hub, request: &Request) -> Result<Changes, RequestError> {
    let host = request.value("host");
    let since = since(hub.now(), request, DAY)?;
    let query = RecordQuery { kind: "change", agent: host.as_deref(), since, most: OF_ONE };
    let mut changes: Vec<ChangeInfo> = hub.store.newest(query)?.iter().filter_map(change).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    Ok(Changes { changes })
}

fn host(hub: &Hub, agents: &[AgentRow], name: &str, most: usize) -> Result<HostInfo, RequestError> {
    let agent = agents.iter().find(|agent| agent.name == name);
    let planned = hub.schedule.planned();
    let plan = planned.as_ref().map(|planned| planned.plan());
    let number = plan.and_then(|plan| plan.host(name));
    let member = plan.zip(number).map(|(plan, number)| plan.member(number));
    let address = plan.zip(number).and_then(|(plan, number)| plan.hosts[number].address.clone());
    let query = RecordQuery { kind: "change", agent: Some(name), since: WallTime::default(), most };
    let state = hub.watching.state();
    let open = state.incidents.list().iter().filter(|one| one.status.is_active() && one.hosts.contains(name));
    let incidents = open.map(|incident| incident.id.0.clone()).collect();
    drop(state);
    Ok(HostInfo {
        name: name.to_owned(),
        address: address.or_else(|| agent.and_then(|agent| agent.address.clone())),
        attributes: member.map(|member| member.attributes).unwrap_or_default(),
        has_agent: agent.is_some(),
        heard: agent.and_then(|agent| agent.heard),
        facts: hub.store.newest_snapshot(name)?,
        changes: hub.store.newest(query)?.iter().filter_map(change).collect(),
        incidents,
    })
}

fn change(record: &StoredRecord) -> Option<ChangeInfo> {
    let entry: serde_json::Value = content(&record.content).ok()?;
    let read: ChangeEntry = model::value::read(&entry).ok()?;
    let (what, by) = line(&read);
    Some(ChangeInfo { host: record.agent.clone(), at: read.time, what, by, entry })
}

const IN_LIST: usize = 20;
const OF_ONE: usize = 500;
const DAY: Duration = Duration::from_secs(86_400);
