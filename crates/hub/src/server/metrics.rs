//! Numbers for Prometheus (text format 0.0.4). Labels are names of agents alone: no run has one.

use std::fmt::Write as _;

use super::request::RequestError;
use super::state::Hub;

/// All of them.
pub(super) fn text(hub: &Hub) -> Result<String, RequestError> {
    let mut text = String::new();
    for (name, count) in hub.counters.all() {
        family(&mut text, &Family { name: &format!("linerate_hub_{name}_total"), kind: "counter" });
        line(&mut text, &format!("linerate_hub_{name}_total {count}"));
    }
    let agents = hub.store.agents()?;
    let now = hub.now().unix_nanos();
    family(&mut text, &Family { name: "linerate_agent_heard_seconds", kind: "gauge" });
    for agent in &agents {
        if let Some(heard) = agent.heard {
            let ago = now.saturating_sub(heard.unix_nanos()) / 1_000_000_000;
            line(&mut text, &format!("linerate_agent_heard_seconds{{agent=\"{}\"}} {ago}", agent.name));
        }
    }
    family(&mut text, &Family { name: "linerate_agent_spooled_records", kind: "gauge" });
    for agent in &agents {
        let spooled = agent.health.spooled;
        line(&mut text, &format!("linerate_agent_spooled_records{{agent=\"{}\"}} {spooled}", agent.name));
    }
    Ok(text)
}

struct Family<'a> {
    name: &'a str,
    kind: &'a str,
}

fn family(text: &mut String, family: &Family<'_>) {
    line(text, &format!("# TYPE {} {}", family.name, family.kind));
}

fn line(text: &mut String, line: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{line}");
}
