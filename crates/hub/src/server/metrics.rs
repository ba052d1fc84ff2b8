//! Numbers for Prometheus (text format 0.0.4). Labels are names of agents and words of this program: no run and no pair has one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mesh::incident::Status;
use serde::Serialize;

use super::request::RequestError;
use super::state::Hub;
use super::views;
use crate::api::mesh::SeriesState;
use crate::store::rows::AgentRow;

/// All of them.
pub(super) fn text(hub: &Hub) -> Result<String, RequestError> {
    let mut text = String::new();
    for (event, count) in hub.counters.all() {
        let name = format!("linerate_hub_{}_total", event.name());
        family(&mut text, &Family { name: &name, kind: "counter", help: event.help() });
        line(&mut text, &format!("{name} {count}"));
    }
    let mut incidents: BTreeMap<String, u64> = STATUSES.map(|status| (word(&status), 0)).into();
    for incident in hub.watching.state().incidents.list() {
        incidents.entry(word(&incident.status)).and_modify(|count| *count += 1);
    }
    labelled(
        &mut text,
        &Gauge { name: "linerate_hub_incidents", label: "status", help: "Incidents that are not closed" },
        &incidents,
    );
    let mut series: BTreeMap<String, u64> = STATES.map(|state| (word(&state), 0)).into();
    for info in views::pairs(hub).series {
        series.entry(word(&info.state)).and_modify(|count| *count += 1);
    }
    labelled(
        &mut text,
        &Gauge { name: "linerate_hub_series", label: "state", help: "Series of results by what is known of them" },
        &series,
    );
    agents(&mut text, &hub.store.agents()?, hub.now().unix_nanos());
    Ok(text)
}

fn agents(text: &mut String, agents: &[AgentRow], now_unix_ns: u64) {
    let each = |value: &dyn Fn(&AgentRow) -> Option<u64>| {
        agents.iter().filter_map(|agent| Some((agent.name.clone(), value(agent)?))).collect::<BTreeMap<_, _>>()
    };
    let ago = |agent: &AgentRow| Some(now_unix_ns.saturating_sub(agent.heard?.unix_nanos()) / 1_000_000_000);
    let mut gauge = |name, help, value: &dyn Fn(&AgentRow) -> Option<u64>| {
        labelled(text, &Gauge { name, label: "agent", help }, &each(value));
    };
    gauge("linerate_agent_heard_seconds", "Time since the agent asked for work last", &ago);
    gauge("linerate_agent_spooled_records", "Records that wait on the agent's disk", &|agent| {
        Some(agent.health.spooled)
    });
    gauge("linerate_agent_dropped_records", "Records that the agent had no room for, since its start", &|agent| {
        Some(agent.health.dropped)
    });
    gauge("linerate_agent_refused_tickets", "Runs that the agent refused, since its start", &|agent| {
        Some(agent.health.refused)
    });
}

/// Those that are not over: closed ones only grow in number, and are nobody's concern.
const STATUSES: [Status; 5] = [Status::Open, Status::Acknowledged, Status::Explained, Status::Fixed, Status::Verified];

const STATES: [SeriesState; 6] = [
    SeriesState::Good,
    SeriesState::Worse,
    SeriesState::Suspect,
    SeriesState::Learning,
    SeriesState::Stale,
    SeriesState::NoData,
];

/// As JSON has it.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

struct Family<'a> {
    name: &'a str,
    kind: &'a str,
    help: &'a str,
}

/// A gauge, and by what its values are told apart.
struct Gauge {
    name: &'static str,
    label: &'static str,
    help: &'static str,
}

/// A gauge with a value for each label.
fn labelled(text: &mut String, gauge: &Gauge, values: &BTreeMap<String, u64>) {
    let Gauge { name, label, help } = gauge;
    family(text, &Family { name, kind: "gauge", help });
    for (of, value) in values {
        let of = of.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        line(text, &format!("{name}{{{label}=\"{of}\"}} {value}"));
    }
}

fn family(text: &mut String, family: &Family<'_>) {
    let Family { name, kind, help } = family;
    line(text, &format!("# HELP {name} {help}\n# TYPE {name} {kind}"));
}

fn line(text: &mut String, line: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{line}");
}
