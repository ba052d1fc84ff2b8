//! What the locator answers.

use serde::{Deserialize, Serialize};

use super::cell::{Pair, Symptom};
use super::element::{Element, Network, Selector};

/// Where one symptom comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Located {
    /// What was measured in the cells that are explained.
    pub symptom: Symptom,
    /// Cells whose quality is known.
    pub known: usize,
    /// Of these, how many are bad: worse than noise makes a healthy one.
    pub bad: usize,
    /// Cells whose quality is not known. They count neither for nor against anything.
    pub unknown: usize,
    /// What may be at fault, the likeliest first. Empty where nothing explains the cells better than chance does.
    pub explanations: Vec<Explanation>,
    /// What these measurements cannot tell from the first explanation, and the test that would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguity: Option<Ambiguity>,
    /// Bad cells that the first explanation does not explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Pair>,
    /// What limits this answer, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A set of elements that together explain the bad cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The elements; several where several things are wrong at once.
    pub blamed: Vec<Blamed>,
    /// The probability of this explanation among all that were tried, a healthy network included. It takes for granted
    /// that one of them holds.
    pub probability: f64,
    /// Bad cells on the way of which one of the elements is.
    pub explained: Vec<Pair>,
    /// Good cells on the way of which one of them is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicting: Vec<Pair>,
    /// Votes of bad cells, each shared among the segments on its way (007: Arzani and others 2018); absent where no element
    /// is a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<f64>,
}

impl Explanation {
    /// The share of bad cells among those that the elements cover.
    #[must_use]
    pub fn hit_ratio(&self) -> f64 {
        ratio(self.explained.len(), self.explained.len() + self.contradicting.len())
    }
}

/// One element of an explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blamed {
    /// Which hosts, segment or network the fault is in.
    pub element: Element,
    /// The part of what it should pass that it does pass.
    pub passes: f64,
    /// What else the same hosts have in common and no others: no test tells these apart, only changing one of them does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alias: Vec<Selector>,
    /// Other elements on the way of the same known cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<Element>,
}

/// Explanations that the measurements cannot tell apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ambiguity {
    /// Each is a set of elements; the first is that of the first explanation.
    pub between: Vec<Vec<Element>>,
    /// The test that would best tell them apart; absent where none would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<SeparatingTest>,
}

/// A test that has not been made, and what it would say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeparatingTest {
    /// Who should send payload.
    pub from: Tester,
    /// Who should receive it.
    pub to: Tester,
    /// In which network.
    pub network: Network,
    /// The probability that the test is bad, by what is known now. Near a half it tells most.
    pub bad_probability: f64,
    /// If it is bad, it is one of these, by their place in `between`.
    pub bad_under: Vec<usize>,
    /// If it is good, it is one of these.
    pub good_under: Vec<usize>,
}

/// Who takes part in a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "who")]
pub enum Tester {
    /// A member of the round.
    Member {
        /// Name of the host in the plan.
        host: String,
    },
    /// A host that is none of the members.
    Newcomer {
        /// What it must not share with those that the explanations name.
        apart_from: Vec<Selector>,
    },
}

#[expect(clippy::cast_precision_loss, reason = "counts of cells are far below 2^53")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
