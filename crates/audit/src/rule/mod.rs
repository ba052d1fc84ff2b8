//! Rules as data: read from TOML, compiled, kept.

mod compile;
mod document;
mod set;

use serde::{Deserialize, Serialize};

use crate::expression::{Expression, Template};
use crate::fix::{Disruption, Operation};
use crate::profile::Role;
use crate::scope::Per;

pub use set::{Rules, built_in_texts};

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its stable name.
    pub id: String,
    /// What is wrong where it fires, in a few words.
    pub title: String,
    /// The field it belongs to: buffers, tcp, pacing, nic, mtu, cpu, loss, drops, path, method, drift.
    pub category: String,
    /// How much it costs where it fires.
    pub severity: Severity,
    /// For what it is asked.
    pub per: Per,
    /// Hosts it is for; all where empty.
    pub roles: Vec<Role>,
    /// What must hold for it to apply at all.
    pub when: Option<Expression>,
    /// What is wrong: the rule fires where this is true.
    pub condition: Expression,
    /// The value that is recommended.
    pub want: Option<Expression>,
    /// The recommendation in words.
    pub want_text: Option<Template>,
    /// What the number of `want` counts.
    pub unit: Unit,
    /// Why it matters.
    pub why: String,
    /// What to do, in order.
    pub fix: Vec<Operation<Template>>,
    /// Whether it is there to lower a value; no other rule may.
    pub lowers: bool,
    /// What that costs while it is done.
    pub disruption: Disruption,
    /// Symptoms that it explains.
    pub explains: Vec<String>,
    /// Where this is known from.
    pub sources: Vec<String>,
    /// What to keep in mind.
    pub caveat: Option<String>,
    /// Where it departs from what is commonly said, and why.
    pub corrected: Option<String>,
    /// Every fact it uses, as numbers of slots: those of `when` and `condition` first.
    pub slots: Vec<usize>,
    /// How many of those belong to `when` and `condition`.
    pub deciding: usize,
    /// The file it comes from.
    pub file: String,
}

/// How much a finding costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Where it holds it nearly always costs nine tenths of the rate or more.
    Critical,
    /// It can cost half of the rate or more, or hides the cause.
    High,
    /// Worth mending in a maintenance window.
    Medium,
    /// Advice: try it first.
    Low,
    /// An explanation, nothing to mend.
    Info,
}

impl Severity {
    /// The word in a rule's file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}

/// What a recommended number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nothing in particular, or it is said in the words.
    #[default]
    None,
    /// Bytes.
    Bytes,
    /// Bits per second.
    BitsPerSecond,
    /// Microseconds.
    Microseconds,
}

/// A rule that cannot be used, and where it is wrong. All others go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{file}:{line}:{column}: rule {rule}: {message}")]
pub struct RuleFault {
    /// Path of the rule's file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The rule; empty where its name could not be read.
    pub rule: String,
    /// What is wrong.
    pub message: String,
}
