//! The answer of an audit.

mod text;

use model::host::snapshot::HostIdentity;
use serde::{Deserialize, Serialize};

use crate::fact::Missing;
use crate::fix::{Disruption, Operation};
use crate::profile::ProfileValue;
use crate::rule::{RuleFault, Severity};

pub use text::shown;

/// What all rules say about one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Name of the host that was audited.
    pub host: String,
    /// Host, boot and network namespace; a fix that is made of this report is for that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_for: Option<HostIdentity>,
    /// What was wanted of it, with defaults filled in.
    pub profile: Vec<ProfileValue>,
    /// How often rules gave each answer.
    pub summary: Summary,
    /// Rules that fired: the worst first.
    pub findings: Vec<Finding>,
    /// Rules that could not be answered.
    pub unknown: Vec<Unknown>,
    /// Answers that were asked for in full: rules that passed or did not apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Other>,
    /// Rules that could not be used at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RuleFault>,
}

/// How often rules gave each answer; a rule that is asked for several devices counts for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Rules there are.
    pub rules: usize,
    /// Answers: nothing wrong.
    pub pass: usize,
    /// Answers: something wrong.
    pub fail: usize,
    /// Answers: a fact is missing.
    pub unknown: usize,
    /// Answers: not for this host, or not for what was looked at.
    pub not_applicable: usize,
    /// Rules by the worst of their answers, each of them once.
    #[serde(default)]
    pub by_rule: RuleCounts,
}

/// How many rules gave which answer, where one that was asked several times counts once, by its worst answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleCounts {
    /// Something wrong in one place at least.
    pub fail: usize,
    /// A fact is missing in one place at least, and nothing wrong in any.
    pub unknown: usize,
    /// Nothing wrong.
    pub pass: usize,
    /// Not for this host, or for nothing that it has.
    pub not_applicable: usize,
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// The network namespace; absent for the host's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the network device; absent for what is of the whole namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Destination of the route, as `ip route` writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

/// A rule that fired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Id of the rule, such as `BUF-RMEM-BDP`.
    pub rule: String,
    /// What it looked at.
    pub subject: Subject,
    /// How much it costs.
    pub severity: Severity,
    /// What is wrong.
    pub title: String,
    /// Facts that decided it.
    pub facts: Vec<UsedFact>,
    /// The value that is recommended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// Why it matters.
    pub why: String,
    /// What to do, in order.
    pub fix: Vec<Step>,
    /// Whether the fix is there to lower a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lowers: bool,
    /// What that costs while it is done.
    pub disruption: Disruption,
    /// Symptoms that it explains.
    pub explains: Vec<String>,
    /// What to keep in mind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}

/// One step of a fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// What the step changes, with its values.
    pub operation: Operation<String>,
    /// The command that a person would type.
    pub command: String,
    /// The command that takes it back, with the values of this snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// A rule that could not be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unknown {
    /// Id of the rule, such as `BUF-RMEM-BDP`.
    pub rule: String,
    /// What it looked at.
    pub subject: Subject,
    /// How much it would cost if it fired.
    pub severity: Severity,
    /// What is missing, and why.
    pub missing: Vec<LackedFact>,
    /// Facts that were known.
    pub facts: Vec<UsedFact>,
}

/// A rule that passed or did not apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Other {
    /// Id of the rule, such as `BUF-RMEM-BDP`.
    pub rule: String,
    /// What it looked at.
    pub subject: Subject,
    /// What the rule answered where it found nothing.
    pub answer: Answer,
    /// Facts that decided it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<UsedFact>,
}

/// The answer of a rule, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Not for this host, or not for what was looked at.
    NotApplicable,
    /// Nothing wrong.
    Pass,
    /// A fact is missing.
    Unknown,
    /// Something wrong.
    Fail,
}

/// A fact with its value and source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsedFact {
    /// Path of the fact, as rules write it.
    pub name: String,
    /// Value that the rule was given.
    pub value: serde_json::Value,
    /// Where it was read.
    pub source: String,
}

/// A fact that is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LackedFact {
    /// Path of the fact, as rules write it.
    pub name: String,
    /// Why.
    #[serde(flatten)]
    pub missing: Missing,
}

/// The schema of a report, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Report)
}
