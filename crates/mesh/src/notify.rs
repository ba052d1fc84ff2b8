//! Whom to tell what: messages as values. Sending them is the hub's.
//!
//! Each step of an incident is told once on each route, however often it is looked at: what was sent is kept with the incident. A
//! silenced incident, and hosts in maintenance, tell nobody; an incident that stays open is told again after a while, so that it
//! is not forgotten.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::clock;
use crate::incident::{Incident, IncidentId, Incidents, Occurrence, Status};
use crate::rules::Rules;
use crate::run::Resource;

/// Where messages go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// This JSON by POST.
    Webhook(String),
    /// A webhook of Slack, or of what speaks as it does.
    Slack(String),
    /// The API of an Alertmanager.
    Alertmanager(String),
    /// An e-mail.
    Email(String),
}

/// Who is told of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Unique among all routes: what was sent is remembered by it.
    pub name: String,
    /// Where messages go.
    pub target: Target,
    /// Only of incidents of these hosts; of all where empty.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// After how long an incident that is open is told again; never where it is [`None`].
    #[serde(default)]
    pub remind_after_s: Option<u64>,
}

/// What is sent to one target, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// The route, by name.
    pub route: String,
    /// The same for a message that is sent again: whoever receives it may drop the second.
    pub key: String,
    /// What it is about.
    pub incident: IncidentId,
    /// Where it stands.
    pub status: Status,
    /// In a line.
    pub subject: String,
    /// In some lines.
    pub text: String,
}

/// The messages that are due now. They count as sent; the incidents have changed and are to be stored.
pub fn messages(incidents: &mut Incidents, routes: &[Route], now: WallTime) -> Vec<Message> {
    let rules = incidents.rules().clone();
    let mut due = Vec::new();
    for incident in incidents.all_mut() {
        if incident.silent_until.is_some_and(|until| now < until) || is_maintained(incident, &rules, now) {
            continue;
        }
        for route in routes {
            if concerns(route, incident) {
                due.extend(message(incident, route, now));
            }
        }
    }
    due
}

fn message(incident: &mut Incident, route: &Route, now: WallTime) -> Option<Message> {
    let reopened = incident.timeline.iter().filter(|entry| entry.occurrence == Occurrence::Reopened).count();
    // A person's acknowledgement or note is told to nobody: they know.
    let step = match incident.status {
        Status::Open | Status::Acknowledged | Status::Fixed => "open",
        Status::Explained => "explained",
        Status::Verified => "verified",
        Status::Closed => "closed",
    };
    let mut key = format!("{}/{}/{step}-{reopened}", incident.id, route.name);
    let was_told = incident.sent.keys().any(|sent| sent.starts_with(&format!("{}/{}/", incident.id, route.name)));
    // Of what nobody was told, nobody has to hear that it is over.
    if !was_told && !incident.status.is_bad() {
        return None;
    }
    if let Some(first) = incident.sent.get(&key).copied() {
        let after = route.remind_after_s.filter(|_| incident.status.is_bad())?;
        let reminders = clock::between(first, now).as_secs() / after.max(1);
        if reminders == 0 {
            return None;
        }
        key = format!("{key}-reminder-{reminders}");
        if incident.sent.contains_key(&key) {
            return None;
        }
    }
    incident.sent.insert(key.clone(), now);
    Some(Message {
        route: route.name.clone(),
        key,
        incident: incident.id.clone(),
        status: incident.status,
        subject: subject(incident),
        text: text(incident, now),
    })
}

fn concerns(route: &Route, incident: &Incident) -> bool {
    route.hosts.is_empty() || route.hosts.iter().any(|host| incident.hosts.contains(host))
}

fn is_maintained(incident: &Incident, rules: &Rules, now: WallTime) -> bool {
    incident.status.is_bad()
        && incident.hosts.iter().any(|host| rules.is_maintained(&Resource::Host(host.clone()), now))
}

/// `open: host naasc-vs-4, receiving: goodput -31 %`.
#[must_use]
pub fn subject(incident: &Incident) -> String {
    let worst = incident.symptoms.iter().max_by(|a, b| a.shift.abs().total_cmp(&b.shift.abs()));
    let worst = worst.map_or_else(String::new, |symptom| format!(": {symptom}"));
    format!("{}: {}{worst}", incident.status, incident.subject)
}

/// What is worse since when, why, and what was changed before.
#[must_use]
pub fn text(incident: &Incident, now: WallTime) -> String {
    let mut lines = vec![format!("{} {}", incident.id, subject(incident))];
    let until = incident.verified.or(incident.closed).unwrap_or(now);
    lines.push(format!("since {}, for {}", clock::shown(incident.since), long(clock::between(incident.since, until))));
    lines.extend(incident.symptoms.iter().map(|symptom| format!("- {}: {symptom}", symptom.subject)));
    if let Some(explanation) = &incident.explanation {
        let percent = 100.0 * explanation.probability;
        lines.push(format!("cause: {explanation} ({percent:.0} %, {})", explanation.by));
    }
    for entry in &incident.timeline {
        if let Occurrence::Configuration { change, lead_s } = &entry.occurrence {
            let by = change.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
            let when = if *lead_s >= 0 {
                format!("first bad result {lead_s} s after")
            } else {
                format!("first bad result {} s before", -lead_s)
            };
            lines.push(format!("{when}: {} on {}{by}", change.what, change.host));
        }
    }
    lines.join("\n")
}

/// A time for people, in its largest whole unit of which there are two at least: `90 s`, `60 min`, `36 h`, `2 days`.
#[must_use]
pub fn long(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 172_800 => format!("{} days", seconds / 86_400),
        seconds if seconds >= 7_200 => format!("{} h", seconds / 3_600),
        seconds if seconds >= 120 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
