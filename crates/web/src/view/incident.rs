//! An incident with its time line.

use mesh::incident::{Incident, TimelineEntry};
use mesh::notify;
use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::source::{FixCommand, IncidentRecord};

/// An incident in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IncidentLine {
    /// The same from the first sign to the end.
    pub id: String,
    /// Where it stands, and what it is about.
    pub title: String,
    /// Where it stands.
    pub status: mesh::incident::Status,
    /// When the first bad result was measured, as far as is known.
    #[serde(rename = "since_unix_ns")]
    pub since: WallTime,
    /// Its cause and place with their probability, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<mesh::incident::Explanation>,
}

/// An incident as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IncidentView {
    /// The incident in a line.
    #[serde(flatten)]
    pub line: IncidentLine,
    /// The hosts that it may be a fault of.
    pub hosts: Vec<String>,
    /// What is or was worse.
    pub symptoms: Vec<SymptomLine>,
    /// What happened, in order of time.
    pub timeline: Vec<HappenedLine>,
    /// The diagnosis, as `linerate why --json` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<serde_json::Value>,
    /// Commands that fix the cause, each on its host.
    pub fixes: Vec<FixCommand>,
}

/// Something that is worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SymptomLine {
    /// What, where, by how much.
    pub text: String,
    /// Since when.
    #[serde(rename = "since_unix_ns")]
    pub since: WallTime,
    /// Until when.
    #[serde(rename = "recovered_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<WallTime>,
}

/// A line of the time line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HappenedLine {
    /// When.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// What.
    pub text: String,
}

impl IncidentLine {
    pub(crate) fn of(incident: &Incident) -> Self {
        Self {
            id: incident.id.0.clone(),
            title: notify::subject(incident),
            status: incident.status,
            since: incident.since,
            explanation: incident.explanation.clone(),
        }
    }
}

impl IncidentView {
    pub(crate) fn of(record: IncidentRecord) -> Self {
        let IncidentRecord { incident, diagnosis, fixes } = record;
        let symptoms = incident.symptoms.iter().map(|symptom| SymptomLine {
            text: format!("{}: {symptom}", symptom.subject),
            since: symptom.since,
            recovered: symptom.recovered,
        });
        let happened = |entry: &TimelineEntry| HappenedLine { at: entry.at, text: entry.occurrence.to_string() };
        Self {
            line: IncidentLine::of(&incident),
            hosts: incident.hosts.iter().cloned().collect(),
            symptoms: symptoms.collect(),
            timeline: incident.timeline.iter().map(happened).collect(),
            diagnosis,
            fixes,
        }
    }
}
