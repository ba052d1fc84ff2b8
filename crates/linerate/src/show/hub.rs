//! A hub's agents, plan, incidents and pairs, for people.

use std::fmt::Write as _;
use std::time::Duration;

use hub::api::mesh::{IncidentDetail, IncidentList, Pairs, PlanInfo};
use hub::api::people::AgentList;
use mesh::incident::{Metric, Series, TimelineEntry};
use mesh::notify;
use units::{WallTime, duration};

use super::plural::counted;

/// A line for each agent.
pub fn agents(list: &AgentList, now: WallTime) -> String {
    if list.agents.is_empty() {
        return "no agent has joined; `linerate hub token DIR` makes a token for one\n".to_owned();
    }
    let widest = list.agents.iter().map(|agent| agent.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for agent in &list.agents {
        let ago = agent.heard.map(|heard| Duration::from_nanos(now.unix_nanos().saturating_sub(heard.unix_nanos())));
        let heard = match ago {
            Some(ago) if ago > CONNECTED => format!("not connected: last request {} ago", notify::long(ago)),
            Some(ago) => format!("last request {} ago", notify::long(ago)),
            None => "no request yet".to_owned(),
        };
        let version = agent.version.as_deref().unwrap_or("?");
        let spooled = counted(agent.health.spooled, "record", "records");
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{:widest$}  {heard}, version {version}, {spooled} to deliver", agent.name);
    }
    text
}

/// An agent that runs asks for work every 20 s, and at least once a minute after failures: what is silent for longer is away.
const CONNECTED: Duration = Duration::from_secs(90);

/// A plan that was taken.
pub fn plan(info: &PlanInfo) -> String {
    let fit = &info.checked.fit;
    let mut text = format!(
        "the plan is taken: {} heavy and {} light runs a day\nagents on {}\n",
        fit.heavy_runs,
        fit.light_runs,
        if info.agents.is_empty() { "no host yet".to_owned() } else { info.agents.join(", ") }
    );
    if !info.others.is_empty() {
        text += &format!("without an agent: {}\n", info.others.join(", "));
    }
    fit.warnings.iter().for_each(|warning| text += &format!("- {warning}\n"));
    text
}

/// Which incidents are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Those that are not closed.
    Open,
    /// Closed ones as well.
    All,
}

/// A line for each incident.
pub fn incidents(list: &IncidentList, listed: Listed, now: WallTime) -> String {
    let shown = list.incidents.iter().filter(|incident| listed == Listed::All || incident.status.is_active());
    let mut text = String::new();
    for incident in shown {
        let ago = Duration::from_secs(now.unix_seconds().saturating_sub(incident.since.unix_seconds()));
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}  {}, for {}", incident.id, notify::subject(incident), duration::show(ago));
        if let Some(explanation) = &incident.explanation {
            let percent = 100.0 * explanation.probability;
            let _ = writeln!(text, "    {explanation} ({percent:.0} %)");
        }
    }
    match (text.is_empty(), listed) {
        (false, _) => text,
        (true, Listed::All) => "no incident so far\n".to_owned(),
        (true, Listed::Open) => "no open incident; --all lists closed ones\n".to_owned(),
    }
}

/// An incident with its time line.
pub fn incident(detail: &IncidentDetail) -> String {
    let mut text = format!("{}\n\n", detail.text);
    for TimelineEntry { at, occurrence } in &detail.incident.timeline {
        let _ = writeln!(text, "{}  {}", mesh::clock::shown(*at), occurrence);
    }
    if let Some(verdict) = detail.diagnosis.as_ref().and_then(|diagnosis| diagnosis["verdict"].as_str()) {
        let _ = write!(text, "\ndiagnosis: {verdict}\n");
    }
    text
}

/// A line for each series.
pub fn pairs(pairs: &Pairs) -> String {
    if pairs.series.is_empty() {
        return "no result yet\n".to_owned();
    }
    let mut text = String::new();
    for info in &pairs.series {
        let metric = info.series.metric;
        let last = info.last.map_or_else(|| "-".to_owned(), |last| amount(metric, last.value));
        let usual = info.usual.map_or_else(|| "-".to_owned(), |usual| amount(metric, usual));
        let Series { from, to, test, .. } = &info.series;
        let state = serde_json::to_value(info.state).unwrap_or_default();
        let state = state.as_str().unwrap_or_default();
        let _ = writeln!(text, "{from} to {to}  {test} {metric}  {last}  usually {usual}  {state}");
    }
    text
}

/// A value of a metric with its unit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole bits a second and microseconds are shown"
)]
pub fn amount(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Goodput | Metric::DownloadRate | Metric::TransferRate => {
            units::DataRate::from_bps(value.max(0.0) as u64).to_string()
        }
        Metric::RttMin | Metric::RttLoaded => duration::show(Duration::from_micros(value.max(0.0) as u64)),
        Metric::Loss | Metric::RetransmitShare => format!("{:.2} %", 100.0 * value),
        Metric::Mtu => format!("{value:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use hub::api::people::AgentInfo;

    use super::*;

    fn line(silent_s: u64, spooled: u64) -> String {
        let now = WallTime::from_unix_nanos(1_795_949_346_000_000_000);
        let heard = WallTime::from_unix_nanos(now.unix_nanos() - silent_s * 1_000_000_000);
        let health = hub::api::work::AgentHealth { spooled, ..Default::default() };
        let agent = AgentInfo {
            name: "b".to_owned(),
            address: None,
            joined: heard,
            heard: Some(heard),
            version: Some("0.1.0".to_owned()),
            health,
        };
        agents(&AgentList { agents: vec![agent] }, now)
    }

    #[test]
    fn an_agent_that_is_silent_is_called_not_connected() {
        assert_eq!(line(323, 0), "b  not connected: last request 5 min ago, version 0.1.0, 0 records to deliver\n");
        assert_eq!(line(9, 1), "b  last request 9 s ago, version 0.1.0, 1 record to deliver\n");
        assert!(line(0, 0).starts_with("b  last request 0 s ago"));
    }
}
