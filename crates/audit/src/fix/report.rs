//! What became of a fix, as `linerate host fix --json` prints it.

use model::host::fix::captured::Difference;
use model::run::RunId;
use serde::{Deserialize, Serialize};
use units::DataRate;

use super::exact::Commands;
use super::plan::FixPlan;
use crate::persist::Lost;

/// What became of a fix on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FixReport {
    /// Name of the host that was changed.
    pub host: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Its number in the host's journal; absent where nothing was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<u64>,
    /// What was to be done. `linerate host fix` takes this document as a plan.
    pub plan: FixPlan,
    /// The commands of each step, in the order of the steps.
    pub commands: Vec<Commands>,
    /// In which order the steps are taken back, by their place in the plan, from 0.
    pub undo_order: Vec<usize>,
    /// What it has changed, setting by setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Difference>,
    /// What tests before and after say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// What keeps it over the next start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<KeptIn>,
}

/// What became of a fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Outcome {
    /// Nothing was changed: it was only asked what would be (`--dry-run`).
    Planned,
    /// Nothing was changed: nothing is wrong that a program can mend.
    NothingToDo,
    /// Nothing was changed: every setting had the wanted value, as was read back.
    AlreadySo,
    /// It holds.
    Kept,
    /// The old values are back.
    TakenBack {
        /// Why.
        because: String,
    },
}

/// What a test of a fix counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Goodput of `linerate test`, in bits per second; more is better.
    #[default]
    Goodput,
    /// The last number that a program printed; more is better.
    Number,
    /// The same, where less is better: a time, a cost.
    Cost,
    /// Whether a program succeeded: 1 where it did, else 0.
    Success,
}

/// What tests before and after a fix say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// The test, argument by argument.
    pub command: Vec<String>,
    /// How sure the answer was to be: 0.95 lets chance alone pass in one of twenty cases.
    pub confidence: f64,
    /// Runs without the fix.
    pub before: Series,
    /// Runs with the fix.
    pub after: Series,
    /// Probability of such a difference if the fix did nothing (Mann and Whitney, two-sided).
    pub p_two_sided: f64,
    /// What the fix adds, in bits per second or in what the program counts: the median of all differences between a run
    /// with it and one without (Hodges and Lehmann).
    pub shift: f64,
    /// What was counted.
    #[serde(default)]
    pub counted: Counted,
    /// Whether the measurement got better, worse or neither.
    pub verdict: Verdict,
}

/// Runs on one side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The runs of `linerate test`, in the order in which they were made; none of other programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunId>,
    /// What each run gave, as [`Counted`] says: goodput in bits per second, of a test both ways that of the slower direction;
    /// or the number of another program.
    pub values: Vec<f64>,
    /// The median of them.
    pub median: f64,
}

impl Counted {
    /// A value with its unit.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a goodput is a whole number of bits"
        )]
        match self {
            Self::Goodput => DataRate::from_bps(value.max(0.0).round() as u64).to_string(),
            Self::Number | Self::Cost => significant(value).to_string(),
            Self::Success => if value > 0.5 { "succeeds" } else { "fails" }.to_owned(),
        }
    }

    /// A difference with its sign and unit.
    #[must_use]
    pub fn difference(self, value: f64) -> String {
        let sign = if value < 0.0 { '-' } else { '+' };
        match self {
            Self::Goodput => format!("{sign}{}", self.shown(value.abs())),
            Self::Number | Self::Cost | Self::Success => format!("{sign}{}", significant(value.abs())),
        }
    }
}

/// A number as far as a person reads it: six digits.
fn significant(value: f64) -> f64 {
    const DIGITS: f64 = 6.0;
    let places = DIGITS - 1.0 - value.abs().log10().floor();
    let scale = 10.0_f64.powf(places);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Faster with the fix, by more than noise.
    Gain,
    /// Slower with the fix, by more than noise.
    Loss,
    /// What there is of a difference may be noise.
    Noise,
}

/// What keeps a fix over the next start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptIn {
    /// Absolute paths of the files that were written.
    pub files: Vec<String>,
    /// Settings that another file overrules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overruled: Vec<Overruled>,
    /// What no file can keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

/// A setting that another file overrules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overruled {
    /// What another program sets again.
    pub setting: String,
    /// The other file, and the line.
    pub by: String,
    /// Its value there.
    pub value: String,
    /// When: `at boot`, or `after sysctl --system`.
    pub when: String,
}

/// A roll-out over several hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RollOut {
    /// The stages, as far as they were begun.
    pub stages: Vec<RolloutBatch>,
    /// Hosts that were not touched, because an earlier one gave no reason to go on.
    pub untouched: Vec<String>,
}

/// Hosts that get a fix before the next ones do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RolloutBatch {
    /// The hosts, as far as they were begun.
    pub hosts: Vec<OnHost>,
}

/// One host of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnHost {
    /// Its name, as it was typed.
    pub name: String,
    /// What became of the fix there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<FixReport>,
    /// Why the roll-out stopped there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl RollOut {
    /// The host at which it stopped, and why.
    #[must_use]
    pub fn stopped(&self) -> Option<(&str, &str)> {
        let mut hosts = self.stages.iter().flat_map(|stage| &stage.hosts);
        hosts.find_map(|host| Some((host.name.as_str(), host.stopped.as_deref()?)))
    }
}

/// The schemas of a fix, a plan and a roll-out, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schemas() -> [(&'static str, schemars::Schema); 3] {
    [
        ("fix.schema.json", schemars::schema_for!(FixReport)),
        ("fix-plan.schema.json", schemars::schema_for!(FixPlan)),
        ("roll-out.schema.json", schemars::schema_for!(RollOut)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_programs_are_shown_with_six_digits() {
        let shown = [6_103_601_556.566_09, 369.599_999_999_999_97, 0.000_123_456_789, 0.0, f64::MAX];
        let shown = shown.map(|value| Counted::Number.shown(value));
        assert_eq!(shown[..4], ["6103600000", "369.6", "0.000123457", "0"]);
        assert_eq!(Counted::Cost.difference(-0.1 - 0.2), "-0.3");
    }
}
