//! Rates of pairs, and the line rates of their ways.

use std::collections::BTreeMap;

use model::expectation::Prediction;
use model::played::Finding;
use model::round::{Endpoint, Round, Tested};
use predict::of_round::Expectations;
use units::DataRate;

use crate::locate::cell::Symptom;
use crate::locate::round::rates_told;

/// What the tests of one pair told.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    goodputs: Vec<DataRate>,
    /// Whether the plan or the test itself says what it should be.
    pub(super) is_expected: bool,
    /// What the user declared, or the lowest known rate of the way.
    pub(super) line: Option<DataRate>,
    /// What simulated transfers reach.
    predictions: Vec<Prediction>,
}

impl Rates {
    /// The rate in the middle; of two, the lower.
    pub(super) fn median(&self) -> Option<DataRate> {
        let mut goodputs = self.goodputs.clone();
        goodputs.sort_unstable();
        goodputs.get(goodputs.len().checked_sub(1)? / 2).copied()
    }

    /// The prediction in the middle; of two, the lower.
    pub(super) fn predicted(&self) -> Option<&Prediction> {
        let mut predictions: Vec<&Prediction> = self.predictions.iter().collect();
        predictions.sort_by_key(|prediction| prediction.goodput);
        predictions.get(predictions.len().checked_sub(1)? / 2).copied()
    }
}

/// The rates of all pairs.
pub(super) fn of(round: &Round) -> BTreeMap<(Symptom, Endpoint, Endpoint), Rates> {
    let mut all: BTreeMap<(Symptom, Endpoint, Endpoint), Rates> = BTreeMap::new();
    let mut expectations = Expectations::of(round);
    for test in &round.tests {
        let line = line_rate(round, test);
        for told in rates_told(round, test) {
            let expectation = expectations.of_direction(test, &told.from, &told.to);
            let rates = all.entry((told.symptom, told.from, told.to)).or_default();
            rates.predictions.extend(expectation.and_then(|expectation| expectation.expected.prediction().cloned()));
            rates.goodputs.push(told.rate);
            rates.is_expected |= told.expected.is_some();
            rates.line = rates.line.into_iter().chain(line).min();
        }
    }
    all
}

/// The line rate of a test's path, as far as it is known.
fn line_rate(round: &Round, test: &Tested) -> Option<DataRate> {
    let declared = match &test.finding {
        Finding::Run(run) => run.declared_line_rate,
        _ => None,
    };
    declared.or_else(|| {
        let passed = |segment: &&model::round::Segment| test.way.iter().any(|passage| passage.segment == segment.name);
        round.segments.iter().filter(passed).filter_map(|segment| segment.rate).min()
    })
}
