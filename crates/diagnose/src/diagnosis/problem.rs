//! What a diagnosis says: problems, what each may be, and where.

use serde::{Deserialize, Serialize};
use units::DataRate;

use super::place::FaultLocation;
use crate::causes::Cause;
use crate::locate::explanation::Located;

/// What is wrong with what a round tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// The answer in one sentence: what is wrong, where and how sure that is, or what is not known.
    #[serde(default)]
    pub verdict: String,
    /// What suffers, as it was seen.
    pub symptoms: Vec<Symptom>,
    /// What explains it: a problem for each cause that is needed, the one that explains most first. None in a network that
    /// is well.
    pub problems: Vec<Problem>,
    /// Which part of the network explains the bad pairs, for each thing that was measured and is bad.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub located: Vec<Located>,
    /// How many flows were held against something.
    #[serde(default)]
    pub judged: usize,
    /// Flows that nothing is known of that they could be held against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<UnjudgedFlow>,
    /// What limits the answer: hosts and tests that gave nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Diagnosis {
    /// Whether nothing wrong was found. That says nothing of flows that were not judged.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A flow that was measured and cannot be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnjudgedFlow {
    /// Label of the test in the plan.
    pub test: String,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// What it reached.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// What is not known, and what would make it known.
    pub reason: String,
    /// What its losses allow by models of TCP, in a sentence: whether it is slow is not known, but what it would be slow by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_allows: Option<String>,
}

/// A flow that does not do what it should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symptom {
    /// Label of the test in the plan.
    pub test: String,
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// What is wrong, in a sentence.
    pub says: String,
    /// What its path and the settings of both hosts allow, where that was reckoned.
    #[serde(rename = "predicted_bps", default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<DataRate>,
    /// That beside what it reached, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// What its losses allow by models of TCP, and whether they explain its rate, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_allows: Option<String>,
}

/// Something that is wrong, with what it may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Tests that the first of the ranking explains.
    pub explains: Vec<String>,
    /// What it may be, the most likely first.
    pub ranking: Vec<Ranked>,
    /// How likely it is something else.
    pub unknown: f64,
    /// The first causes of the ranking, where the evidence does not tell them from each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<Alike>,
}

/// A cause at its most likely place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranked {
    /// Its name in the catalogue.
    pub cause: String,
    /// What is wrong.
    pub title: String,
    /// Where, the most likely first.
    pub places: Vec<LikelyPlace>,
    /// How likely it is, 0 to 1, wherever it is.
    pub probability: f64,
    /// What speaks for it, the heaviest first.
    pub speaks_for: Vec<String>,
    /// What speaks against it.
    pub speaks_against: Vec<String>,
    /// The test that would decide.
    pub test: String,
    /// Rules of the host audit whose fix mends it.
    pub fix: Vec<String>,
    /// What mends it.
    pub remedy: String,
    /// How one sees that it is fixed.
    pub verify: String,
}

/// A place and how likely it is, if the cause is the right one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LikelyPlace {
    /// Host, segment or path at which the cause would be.
    pub place: FaultLocation,
    /// 0 to 1.
    pub probability: f64,
}

/// Two or three causes of which the evidence does not say which it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alike {
    /// Their names in the catalogue, the likeliest first.
    pub causes: Vec<String>,
    /// How likely it is one of them.
    pub probability: f64,
    /// Tests that would tell them from each other.
    pub tests: Vec<String>,
}

/// A problem with all that it may be.
#[derive(Debug, Clone)]
pub struct Standing<'c> {
    /// The problem as it is told.
    pub problem: Problem,
    /// Every cause at every place; with the unknown their probabilities add up to 1. Empty where no flow suffers.
    pub hypotheses: Vec<Hypothesis<'c>>,
    /// The flows that the likeliest explains, by their numbers.
    pub suffering: Vec<usize>,
}

/// A cause at a place.
#[derive(Debug, Clone)]
pub struct Hypothesis<'c> {
    /// Entry of the catalogue.
    pub cause: &'c Cause,
    /// Where.
    pub place: FaultLocation,
    /// How likely it is, 0 to 1.
    pub probability: f64,
}

impl Standing<'_> {
    /// What another one explains is this one's as well.
    pub(super) fn take_in(&mut self, other: Standing<'_>) {
        self.problem.explains.extend(other.problem.explains);
        self.suffering.extend(other.suffering);
    }
}
