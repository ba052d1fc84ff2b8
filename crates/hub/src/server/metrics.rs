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
    for (name, count) in hub.counters.all() {
        let name = format!("linerate_hub_{name}_total");
        family(&mut text, &Family { name: &name, kind: "counter" });
        line(&mut text, &format!("{name} {count}"));
    }
    let mut incidents: BTreeMap<String, u64> = STATUSES.map(|status| (word(&status), 0)).into();
    for incident in hub.watching.state().incidents.list() {
        incidents.entry(word(&incident.status)).and_modify(|count| *count += 1);
    }
    labelled(&mut text, &Gauge { name: "linerate_hub_incidents", label: "status" }, &incidents);
    let mut series: BTreeMap<String, u64> = STATES.map(|state| (word(&state), 0)).into();
    for info in views::pairs(hub).series {
        series.entry(word(&info.state)).and_modify(|count| *count += 1);
    }
    labelled(&mut text, &Gauge { name: "linerate_hub_series", label: "state" }, &series);
    agents(&mut text, &hub.store.agents()?, hub.now().unix_nanos());
    Ok(text)
}

fn agents(text: &mut String, agents: &[AgentRow], now_unix_ns: u64) {
    let each = |value: &dyn Fn(&AgentRow) -> Option<u64>| {
        agents.iter().filter_map(|agent| Some((agent.name.clone(), value(agent)?))).collect::<BTreeMap<_, _>>()
    };
    let ago = |agent: &AgentRow| Some(now_unix_ns.saturating_sub(agent.heard?.unix_nanos()) / 1_000_000_000);
    labelled(text, &Gauge { name: "linerate_agent_heard_seconds", label: "agent" }, &each(&ago));
    labelled(
        text,
        &Gauge { name: "linerate_agent_spooled_records", label: "agent" },
        &each(&|agent| Some(agent.health.spooled)),
    );
    labelled(
        text,
        &Gauge { name: "linerate_agent_dropped_records", label: "agent" },
        &each(&|agent| Some(agent.health.dropped)),
    );
    labelled(
        text,
        &Gauge { name: "linerate_agent_refused_tickets", label: "agent" },
        &each(&|agent| Some(agent.health.refused)),
    );
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
}

/// A gauge, and by what its values are told apart.
struct Gauge {
    name: &'static str,
    label: &'static str,
}

/// A gauge with a value for each label.
fn labelled(text: &mut String, gauge: &Gauge, values: &BTreeMap<String, u64>) {
    let Gauge { name, label } = gauge;
    family(text, &Family { name, kind: "gauge" });
    for (of, value) in values {
        let of = of.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        line(text, &format!("{name}{{{label}=\"{of}\"}} {value}"));
    }
}

fn family(text: &mut String, family: &Family<'_>) {
    line(text, &format!("# TYPE {} {}", family.name, family.kind));
}

fn line(text: &mut String, line: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{line}");
}
