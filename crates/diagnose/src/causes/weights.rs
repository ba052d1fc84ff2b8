//! How much each kind of evidence counts, how often causes are met, and what a printed probability turned out to be.
//!
//! A sum of logarithms of likelihood ratios is right where signs are independent of each other, which they are not: a flow that lost
//! packets also lost them in episodes, waited for its timer and had a small window. How far each kind of evidence repeats what
//! others say is measured on incidents with a known cause ([`crate::learn`]), and stands in a file that a person can read and
//! correct: 1 is independent of all others, 0 says nothing that others do not.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

use crate::signs::{ALL, Coverage, SignState};

/// A kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// A sign of flows that suffer, by its place in [`ALL`].
    Sign(usize),
    /// How many places a cause could be at, and how often causes are met.
    Prior,
    /// Flows that pass the place and do well.
    Spared,
    /// Flows that suffer elsewhere.
    Elsewhere,
    /// Rules of the audit.
    Rules,
    /// Packets that vanished between two counters.
    Vanished,
    /// Link speeds of interfaces.
    Speeds,
    /// MTUs of interfaces.
    Mtus,
}

impl Evidence {
    /// How many there are.
    pub const COUNT: usize = ALL.len() + OTHERS.len();

    /// Its place among all, below [`Self::COUNT`].
    #[must_use]
    pub const fn number(self) -> usize {
        match self {
            Self::Sign(sign) => sign,
            Self::Prior => ALL.len(),
            Self::Spared => ALL.len() + 1,
            Self::Elsewhere => ALL.len() + 2,
            Self::Rules => ALL.len() + 3,
            Self::Vanished => ALL.len() + 4,
            Self::Speeds => ALL.len() + 5,
            Self::Mtus => ALL.len() + 6,
        }
    }
}

/// Names of the kinds that are no signs, in the order of their numbers.
const OTHERS: [&str; 7] = ["prior", "spared", "elsewhere", "rules", "missing-packets", "speeds", "mtus"];

/// What was learnt of evidence as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// By the number of the evidence.
    evidence: Vec<f64>,
    /// What is added for each cause: logarithms.
    causes: BTreeMap<String, f64>,
    /// What "something else" weighs.
    pub(crate) unknown: f64,
    /// How often each state is seen among slow flows, where that was counted.
    usual: BTreeMap<SignState, f64>,
    calibration: Calibration,
}

/// How often first names turned out to be right. Where much is known, the same sum of weights is worth more.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// In rounds that have all that they can have.
    pub whole: CalibrationCurves,
    /// In rounds that lack some of it.
    pub partial: CalibrationCurves,
}

/// Of the first problem of a round, and of the others.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationCurves {
    /// Of the first problem.
    pub first: CalibrationCurve,
    /// Of all later ones.
    pub later: CalibrationCurve,
}

/// Probability as it was reckoned, and how often it was right, both 0 to 1 and growing.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
pub struct CalibrationCurve(pub Vec<(f64, f64)>);

impl CalibrationCurve {
    /// How often what was reckoned to have this probability turned out to be right; the same where nothing was learnt.
    #[must_use]
    pub fn right(&self, probability: f64) -> f64 {
        let Some(above) = self.0.iter().position(|(said, _)| *said >= probability) else {
            return self.0.last().map_or(probability, |(_, right)| *right);
        };
        let (to, high) = self.0[above];
        let (from, low) = above.checked_sub(1).map_or((0.0, 0.0), |below| self.0[below]);
        if to <= from { high } else { low + (high - low) * (probability - from) / (to - from) }
    }
}

impl fmt::Display for CalibrationCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<String> = self.0.iter().map(|(said, right)| format!("[{said:.3}, {right:.3}]")).collect();
        write!(f, "[{}]", points.join(", "))
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            evidence: vec![SHARPNESS; Evidence::COUNT],
            causes: BTreeMap::new(),
            unknown: UNKNOWN * SHARPNESS,
            usual: BTreeMap::new(),
            calibration: Calibration::default(),
        }
    }
}

impl Weights {
    /// How much a kind of evidence counts.
    #[must_use]
    pub fn of(&self, evidence: Evidence) -> f64 {
        self.evidence[evidence.number()]
    }

    pub(crate) fn numbered(&self, number: usize) -> f64 {
        self.evidence.get(number).copied().unwrap_or_default()
    }

    /// What is added for a cause.
    #[must_use]
    pub fn of_cause(&self, id: &str) -> f64 {
        self.causes.get(id).copied().unwrap_or_default()
    }

    /// Whether anything was learnt from incidents.
    #[must_use]
    pub fn are_learnt(&self) -> bool {
        !self.usual.is_empty()
    }

    /// How often a state is seen among slow flows, whatever ails them.
    #[must_use]
    pub fn usual(&self, seen: SignState) -> f64 {
        self.usual.get(&seen).copied().unwrap_or(seen.state().usual)
    }

    /// The same of all states that were counted.
    pub(crate) const fn all_usual(&self) -> &BTreeMap<SignState, f64> {
        &self.usual
    }

    /// How often first names turned out to be right, in the problem of this number from 0.
    #[must_use]
    pub fn calibration(&self, coverage: Coverage, problem: usize) -> &CalibrationCurve {
        let curves = if coverage == Coverage::Whole { &self.calibration.whole } else { &self.calibration.partial };
        if problem == 0 { &curves.first } else { &curves.later }
    }

    /// The same with other numbers: evidence by number, causes by id, and the weight of "something else".
    #[must_use]
    pub(crate) fn with(&self, evidence: &[f64], causes: &BTreeMap<String, f64>, unknown: f64) -> Self {
        Self { evidence: evidence.to_vec(), causes: causes.clone(), unknown, ..self.clone() }
    }

    /// The same with counted shares of states.
    #[must_use]
    pub(crate) fn with_usual(&self, usual: BTreeMap<SignState, f64>) -> Self {
        Self { usual, ..self.clone() }
    }

    /// The same with a calibration.
    #[must_use]
    pub(crate) fn with_calibration(&self, calibration: Calibration) -> Self {
        Self { calibration, ..self.clone() }
    }

    /// Reads what [`Self::text`] wrote, as a person may have changed it.
    ///
    /// # Errors
    /// If it is no such file, or names evidence that does not exist.
    pub fn read(text: &str) -> Result<Self, WeightsError> {
        let file: FileText = toml::from_str(text)?;
        let mut weights = Self { unknown: file.unknown, causes: file.causes, ..Self::default() };
        weights.calibration = file.calibration;
        for (name, weight) in file.evidence {
            let sign = ALL.iter().position(|sign| sign.name == name);
            let other = OTHERS.iter().position(|other| *other == name).map(|at| at + ALL.len());
            let number = sign.or(other).ok_or(WeightsError::Unknown(name))?;
            weights.evidence[number] = weight;
        }
        for (sign, states) in file.usual {
            for (state, share) in states {
                let seen =
                    SignState::named(&sign, &state).ok_or_else(|| WeightsError::Unknown(format!("{sign}={state}")))?;
                weights.usual.insert(seen, share.clamp(LEAST, 1.0));
            }
        }
        Ok(weights)
    }

    /// The file, with a comment on each part.
    #[must_use]
    pub fn text(&self, made_of: &str) -> String {
        let mut text = format!(
            "# Learnt by `linerate lab learn`: {made_of}.\n# Correct a number by hand where you know better.\n\n"
        );
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "# What \"something else\" weighs beside the causes, a logarithm.\nunknown = {:.3}\n",
            self.unknown
        );
        let _ = writeln!(
            text,
            "# How far each kind of evidence counts: 1 where it repeats nothing that others say.\n[evidence]"
        );
        let names = ALL.iter().map(|sign| sign.name).chain(OTHERS);
        for (name, weight) in names.zip(&self.evidence) {
            let _ = writeln!(text, "{name} = {weight:.3}");
        }
        let _ = writeln!(text, "\n# What is added for a cause beside its prior, a logarithm.\n[causes]");
        for (cause, base) in &self.causes {
            let _ = writeln!(text, "{cause} = {base:.3}");
        }
        let _ = writeln!(text, "\n# How often each answer is seen among affected flows, whatever ails them.\n[usual]");
        for (sign, known) in ALL.iter().enumerate() {
            let states = (0..known.states.len()).map(|state| SignState { sign, state });
            let parts: Vec<String> = states
                .filter_map(|seen| Some(format!("{} = {:.4}", seen.state().name, self.usual.get(&seen)?)))
                .collect();
            if !parts.is_empty() {
                let _ = writeln!(text, "{} = {{ {} }}", known.name, parts.join(", "));
            }
        }
        let _ = writeln!(
            text,
            "\n# Probability as it is reckoned, and how often it was right: in rounds that have all they can have, and in others."
        );
        for (name, curves) in [("whole", &self.calibration.whole), ("partial", &self.calibration.partial)] {
            let _ = writeln!(text, "[calibration.{name}]\nfirst = {}\nlater = {}", curves.first, curves.later);
        }
        text
    }
}

/// Why a file of weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// It is no such file.
    #[error("weights of evidence: {0}")]
    Syntax(#[from] toml::de::Error),
    /// It names evidence that does not exist.
    #[error("weights of evidence: there is no evidence `{0}`")]
    Unknown(String),
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    unknown: f64,
    evidence: BTreeMap<String, f64>,
    causes: BTreeMap<String, f64>,
    usual: BTreeMap<String, BTreeMap<String, f64>>,
    calibration: Calibration,
}

/// By how much sums of damped weights are stretched before they become probabilities, before anything was learnt.
const SHARPNESS: f64 = 1.2;
/// What "something else" weighs, before anything was learnt: a cause that nothing speaks for or against, of average prior, at one
/// of a few places.
const UNKNOWN: f64 = -1.0;
/// No answer is impossible.
const LEAST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let evidence: Vec<f64> = (0..Evidence::COUNT).map(|number| number as f64 / 10.0).collect();
        let causes = BTreeMap::from([("policer".to_owned(), -0.5)]);
        let usual = BTreeMap::from([(SignState { sign: 0, state: 1 }, 0.25)]);
        let whole = CalibrationCurves { first: CalibrationCurve(vec![(0.2, 0.1), (0.9, 0.7)]), ..Default::default() };
        let partial = CalibrationCurves { later: CalibrationCurve(vec![(0.5, 0.25)]), ..Default::default() };
        let weights = Weights::default().with(&evidence, &causes, -2.0).with_usual(usual);
        let weights = weights.with_calibration(Calibration { whole, partial });
        assert_eq!(Weights::read(&weights.text("a test")).unwrap(), weights);
    }

    #[test]
    fn calibration_goes_through_its_points() {
        let curve = CalibrationCurve(vec![(0.5, 0.4), (0.9, 0.6)]);
        for (said, right) in [(0.0, 0.0), (0.5, 0.4), (0.7, 0.5), (0.95, 0.6)] {
            assert!((curve.right(said) - right).abs() < 1e-9, "{said}");
        }
        assert!((CalibrationCurve::default().right(0.7) - 0.7).abs() < 1e-9, "nothing was learnt");
    }

    #[test]
    fn evidence_that_does_not_exist_is_refused() {
        let text = Weights::default().text("a test").replace("mtus", "mtuz");
        assert!(Weights::read(&text).unwrap_err().to_string().contains("mtuz"));
    }
}
