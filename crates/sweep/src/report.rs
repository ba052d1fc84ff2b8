//! What an experiment says, for programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expectation::Verdict;
use crate::parameter::Parameter;
use crate::selection::Rows;
use crate::summary::{self, Group, Variants};
use crate::table::Table;
use crate::value::{QuantityKind, Value};

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The version of this format.
    pub format: u32,
    /// The name of the experiment.
    pub name: String,
    /// The same for the same settings, repetitions and seed, whatever is drawn or expected of them.
    pub digest: String,
    /// The share that was simulated, as `2/8`.
    pub shard: String,
    /// The program that simulated it.
    pub program: String,
    /// How many transfers were simulated.
    pub flows: u64,
    /// How many the experiment has.
    pub flows_in_all: u64,
    /// What the transfers of each combination of settings did.
    pub groups: Vec<Combination>,
    /// Whether what was expected was found.
    pub expectations: Vec<Expected>,
}

/// The transfers of one combination of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Combination {
    /// The variant, where it is told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What it is told apart by, under the names of the columns of the table.
    pub set: BTreeMap<String, Setting>,
    /// How many transfers.
    pub flows: u64,
    /// Median of the completion times, in microseconds.
    pub took_median_us: f64,
    /// 95th percentile of the completion times, in microseconds.
    pub took_p95_us: f64,
    /// Share of the transfers that were given up; their completion times are only known to be longer.
    #[serde(default)]
    pub gave_up: f64,
    /// Share of the transfers that missed their deadline or never ended.
    pub missed: f64,
    /// Share that ran into the next window.
    pub cascaded: f64,
    /// Share that lasted to the end of the next window.
    pub covered: f64,
    /// Median of the segments sent again.
    pub resent_median: f64,
    /// 95th percentile of the segments sent again.
    pub resent_p95: f64,
}

/// A value of a parameter in the unit that its name says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// Microseconds, bytes, bit/s, a count, or a share from 0 to 1.
    Number(f64),
    /// One of the words that the parameter knows.
    Word(String),
    /// Not set.
    Nothing,
}

/// What was expected, and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// Name of the expectation in the file of the experiment.
    pub name: String,
    /// What is expected, in the words of the file.
    pub says: String,
    /// Whether it holds; absent where no rows tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// What should be.
    pub wanted: String,
    /// What is.
    pub found: String,
}

/// The schema of [`Report`].
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Report)
}

impl Report {
    /// What a table says, told apart by some parameters.
    #[must_use]
    pub fn new(table: &Table, by: &[&'static Parameter], variants: Variants) -> Self {
        let rows = Rows::new(&table.sweep.experiment, &table.rows);
        let judged = table.sweep.expectations.iter().map(|expectation| (expectation, expectation.judge(&rows)));
        Self {
            format: 1,
            name: table.sweep.experiment.name.clone(),
            digest: table.sweep.experiment.digest(),
            shard: table.share.to_string(),
            program: table.program.clone(),
            flows: table.rows.len() as u64,
            flows_in_all: table.sweep.experiment.len(),
            groups: summary::groups(&rows, by, variants).iter().map(Combination::from).collect(),
            expectations: judged
                .map(|(expectation, judged)| Expected {
                    name: expectation.name.clone(),
                    says: expectation.says.clone(),
                    met: (judged.verdict != Verdict::Unknown).then_some(judged.verdict == Verdict::Met),
                    wanted: judged.wanted,
                    found: judged.found,
                })
                .collect(),
        }
    }
}

impl From<&Group> for Combination {
    fn from(group: &Group) -> Self {
        let setting = |(parameter, value): &(&Parameter, Value)| (parameter.column(), Setting::from(value));
        Self {
            variant: group.variant.clone(),
            set: group.values.iter().map(setting).collect(),
            flows: group.flows as u64,
            took_median_us: group.took_us.0,
            took_p95_us: group.took_us.1,
            gave_up: group.gave_up,
            missed: group.missed,
            cascaded: group.cascaded,
            covered: group.covered,
            resent_median: group.resent.0,
            resent_p95: group.resent.1,
        }
    }
}

impl From<&Value> for Setting {
    fn from(value: &Value) -> Self {
        match value {
            Value::None => Self::Nothing,
            Value::Flag(flag) => Self::Flag(*flag),
            Value::Word(word) => Self::Word(word.clone()),
            Value::Time(_) | Value::Bytes(_) | Value::Rate(_) | Value::Count(_) | Value::Share(_) => {
                value.number().map_or(Self::Nothing, Self::Number)
            }
        }
    }
}

impl Combination {
    /// The completion times and what was sent again, for people: median and 95th percentile of each.
    #[must_use]
    pub fn shown(&self) -> [String; 4] {
        let time = |micros, share| Quantile { share, micros }.shown(self.gave_up);
        let count = |number| QuantityKind::Count.of_number(number).to_string();
        [
            time(self.took_median_us, 0.5),
            time(self.took_p95_us, 0.95),
            count(self.resent_median),
            count(self.resent_p95),
        ]
    }
}

/// A quantile of completion times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// Which: 0.5 is the median.
    pub share: f64,
    /// The time that this share took at most, in microseconds.
    pub micros: f64,
}

impl Quantile {
    /// For people: `> 10 min` where it is the time after which transfers were given up, because a share `gave_up` of them was that is
    /// as large as the rest.
    #[must_use]
    pub fn shown(&self, gave_up: f64) -> String {
        let time = QuantityKind::Time.of_number(self.micros).to_string();
        if gave_up > 0.0 && gave_up >= 1.0 - self.share { format!("> {time}") } else { time }
    }
}
