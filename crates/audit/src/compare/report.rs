//! What a comparison says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rule::Severity;
use crate::settings::{Key, Origin, Value};

/// Several hosts, or one host at several times, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Those that are compared, as they are called here.
    pub sides: Vec<String>,
    /// Devices that are taken for the same although their names differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<MatchedDevice>,
    /// What differs, the most telling first.
    pub differences: Vec<Difference>,
    /// What is not known of some of them, and therefore neither equal nor different.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<NotKnown>,
    /// How many settings are alike wherever they are known.
    pub alike: usize,
}

/// A device by what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchedDevice {
    /// What it is called in the keys: `fastest NIC`.
    pub role: String,
    /// Its name on each.
    pub names: BTreeMap<String, String>,
}

/// A setting that is not the same everywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The setting; its device is named by its role where names differ.
    pub key: Key,
    /// How telling it is, from 0 to 1: how rare the odd value is, times the severity of the rules that look at it, times
    /// how clearly it parts the hosts.
    pub score: f64,
    /// The values, that of the most hosts last.
    pub values: Vec<SharedValue>,
    /// Whether one value is that of more than half of the hosts: then the others are outliers.
    pub has_majority: bool,
    /// The rules that look at it, the most severe first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ReadBy>,
    /// What sets the value at the next start, where a file does and that is not the same everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

/// A value and who has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedValue {
    /// The value; none where they have no such thing.
    pub value: Option<Value>,
    /// Who has it.
    pub by: Vec<String>,
}

/// A rule that looks at a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadBy {
    /// Id of the rule that reads the setting.
    pub rule: String,
    /// How much a finding of it costs.
    pub severity: Severity,
    /// Where it fires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fires_at: Vec<String>,
}

/// What sets a value on one host at its next start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Name of the host and when it was read.
    pub at: String,
    /// The definition; none where no file sets it.
    pub origin: Option<Origin>,
}

/// What is not known of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotKnown {
    /// Name of the host and when it was read.
    pub at: String,
    /// The setting, or the group of settings: `eth0: ring` stands for all its rings.
    pub key: Key,
    /// Why.
    pub why: String,
}

impl Difference {
    /// The outliers: all values but that of the majority. All of them where there is no majority.
    #[must_use]
    pub fn odd(&self) -> &[SharedValue] {
        let common = usize::from(self.has_majority);
        &self.values[..self.values.len().saturating_sub(common)]
    }

    /// The value of the majority, where there is one.
    #[must_use]
    pub fn common(&self) -> Option<&SharedValue> {
        self.values.last().filter(|_| self.has_majority)
    }
}
