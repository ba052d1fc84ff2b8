//! What `linerate hub demo` says.

use hub::api::mesh::IncidentDetail;
use mesh::incident::{Explanation, Incident, Metric};

use super::hub::{amount, incident};

/// Before anything happens.
pub const INTRODUCTION: &str = "\
A hub and 5 agents on this machine: 3 archives that send to 2 sites, 50 Mbit/s, RTT 20 ms.
A setting of one host goes wrong; the hub finds which, and why, by its measurements.

";

/// The same where the fault is for a person to find.
pub const INTRODUCTION_BY_HAND: &str = "\
A hub and 5 agents on this machine: 3 archives that send to 2 sites, 50 Mbit/s, RTT 20 ms.
A setting of one host goes wrong. Find which, and why, on the hub's pages; fix it in a second terminal.

";

/// A step, with the seconds since the start.
pub fn line(age_s: u64, text: &str) -> String {
    format!("{age_s:4} s  {text}\n")
}

/// Where to look at it.
pub fn pages(address: std::net::SocketAddr) -> String {
    format!("look at it: http://{address}/")
}

/// After the end of an incident.
pub fn goes_on(address: std::net::SocketAddr, incident: &str) -> String {
    format!(
        "the incident is closed; its post-mortem: http://{address}/incident/{incident}/report\n        the hub goes on until Ctrl-C"
    )
}

/// Once the fault is there.
pub const YOURS: &str = "something is wrong now: the page says what, as soon as the hub has measured it";

/// What the hub has learnt.
pub fn baseline(results: u64, goodput_bps: f64) -> String {
    format!("baseline: {results} results of each pair, usually {}", amount(Metric::Goodput, goodput_bps))
}

/// Where something goes wrong.
pub fn fault(host: &str) -> String {
    format!("fault planted on {host}")
}

/// What the hub has found.
pub fn opened(incident: &Incident) -> String {
    let worst = incident.symptoms.first().map_or_else(String::new, |symptom| format!(": {symptom}"));
    format!("incident {} opened: {}{worst}", incident.id, incident.subject)
}

/// What the diagnosis says.
pub fn explained(explanation: &Explanation) -> String {
    let percent = 100.0 * explanation.probability;
    format!("explained: {explanation} ({percent:.0} %)")
}

/// What was done about it.
pub fn fixed(host: &str, arguments: &[&str]) -> String {
    format!("fix on {host}: linerate {}", arguments.join(" "))
}

/// That it has helped.
pub fn verified(incident: &Incident) -> String {
    format!("incident {} verified: results are as before", incident.id)
}

/// The whole incident, as `linerate hub incidents` shows it.
pub fn end(detail: &IncidentDetail) -> String {
    format!("\n$ linerate hub incidents DIR {}\n{}", detail.incident.id, incident(detail))
}
