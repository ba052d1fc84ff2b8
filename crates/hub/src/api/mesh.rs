//! What the mesh shows: pairs, their histories, the grid, hosts with their changes, incidents, the plan.

use std::time::Duration;

use mesh::check::Checked;
use mesh::incident::{Incident, Metric, Series};
use serde::{Deserialize, Serialize};
use units::WallTime;

/// A plan that is to be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanText {
    /// TOML, as docs/formats/plan.md has it.
    pub text: String,
}

/// The plan of the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanInfo {
    /// TOML, as it was given.
    pub text: String,
    /// What it needs, and a day of it.
    pub checked: Checked,
    /// Its hosts that have an agent.
    pub agents: Vec<String>,
    /// Its hosts without one: they only answer.
    pub others: Vec<String>,
}

/// What is known of a series now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SeriesState {
    /// As usual.
    Good,
    /// Worse than usual.
    Worse,
    /// The evidence is not enough.
    Suspect,
    /// Too few results for a baseline.
    Learning,
    /// No good result for too long: neither good nor bad.
    Stale,
    /// Never a result.
    NoData,
}

/// A series, and its last result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesInfo {
    /// Sender, receiver, test, family, metric.
    #[serde(flatten)]
    pub series: Series,
    /// What is known of it now.
    pub state: SeriesState,
    /// The last result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<PointInfo>,
    /// The median of its baseline; while an incident of it is open, that from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<f64>,
    /// How many results are kept in memory.
    pub results: u64,
}

/// A result of a series: bit/s, microseconds, bytes, or a share from 0 to 1, as its metric has it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointInfo {
    /// When it was measured.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// What was measured.
    pub value: f64,
    /// Whether it is judged: what an overloaded host measured is kept and never judged.
    pub judged: bool,
    /// The record that it is from: `/api/v1/record?key=`.
    pub record: u64,
}

/// All series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pairs {
    /// By sender, receiver, test, metric.
    pub series: Vec<SeriesInfo>,
}

/// The results of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Sender, receiver, test, family, metric.
    #[serde(flatten)]
    pub series: Series,
    /// In order of time.
    pub points: Vec<PointInfo>,
    /// Incidents that are about it.
    pub incidents: Vec<String>,
}

/// The latest grid of a test: senders in rows, receivers in columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grid {
    /// The metric of the cells.
    pub metric: Metric,
    /// The label of the test.
    pub test: String,
    /// Rows and columns.
    pub hosts: Vec<String>,
    /// Those that there are; a pair that is not tested has none.
    pub cells: Vec<SeriesInfo>,
}

/// Grids.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grids {
    /// One for each test and metric.
    pub grids: Vec<Grid>,
}

/// Hosts of the plan, and agents that it does not name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hosts {
    /// By name.
    pub hosts: Vec<HostInfo>,
}

/// A host of the plan, with its agent where it has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostInfo {
    /// Its name in the plan.
    pub name: String,
    /// By what others reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What distinguishes it, as the plan has it.
    #[serde(default)]
    pub attributes: std::collections::BTreeMap<String, String>,
    /// Whether an agent runs there.
    pub has_agent: bool,
    /// When its agent was heard last.
    #[serde(rename = "heard_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<WallTime>,
    /// When its facts were read last.
    #[serde(rename = "facts_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<WallTime>,
    /// Its settings that were changed lately, newest first; at most 20 in a list, 500 of one host.
    pub changes: Vec<ChangeInfo>,
    /// Incidents that are open and may be a fault of it.
    pub incidents: Vec<String>,
}

/// A host with all its facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostDetail {
    /// What the list has.
    #[serde(flatten)]
    pub host: HostInfo,
    /// All its facts, as `linerate host snapshot --json` prints them; absent where none have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<serde_json::Value>,
}

/// A line of a host's change log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeInfo {
    /// The host, by its name at the hub.
    pub host: String,
    /// When it was seen.
    #[serde(rename = "at_unix_ns")]
    pub at: WallTime,
    /// `rx-gro-hw of eth0: on -> off`.
    pub what: String,
    /// Who did it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The entry as the host has it.
    pub entry: serde_json::Value,
}

/// The change logs of all hosts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Newest first.
    pub changes: Vec<ChangeInfo>,
}

/// All incidents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentList {
    /// In the order of opening.
    pub incidents: Vec<Incident>,
}

/// An incident with what was made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentDetail {
    /// As the list has it.
    pub incident: Incident,
    /// In some lines, as notifications have it.
    pub text: String,
    /// The diagnosis of the latest results, as `linerate why --json` prints it; absent until there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<serde_json::Value>,
}

/// What somebody does about an incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentStep {
    /// Which.
    pub id: String,
    /// Who; what an account asks for is in its own name.
    #[serde(default)]
    pub by: String,
    /// What.
    pub step: Step,
    /// Why, or a note; at most 4,000 bytes.
    #[serde(default)]
    pub text: String,
    /// For how long, of a silence.
    #[serde(rename = "for_s", default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// Steps that people make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// They know.
    Acknowledge,
    /// The text is the cause.
    Explain,
    /// The text says what was done; measurements will say whether it helped.
    Fix,
    /// Words.
    Note,
    /// Nobody is notified for a while.
    Silence,
    /// The present level was meant: it is closed, and its series learn anew.
    Accept,
    /// It is no fault, or nobody will do anything about it.
    Close,
}

/// A heavy run that is asked for out of turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunWish {
    /// The label of the test.
    pub test: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
}

/// Runs that were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedRuns {
    /// Their names.
    pub runs: Vec<String>,
}

/// A record with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordInfo {
    /// Its place among all records.
    pub key: u64,
    /// Who delivered it.
    pub agent: String,
    /// `result`, `change` or `snapshot`.
    pub kind: String,
    /// The run that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// When it came.
    #[serde(rename = "received_unix_ns")]
    pub received: WallTime,
    /// What the agent has written.
    pub content: serde_json::Value,
}

/// For how long results are shown where nobody says otherwise.
pub const USUAL_HISTORY: Duration = Duration::from_secs(30 * 86_400);
