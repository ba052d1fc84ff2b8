//! Rates of pairs, and what they are judged against.

use std::collections::BTreeMap;

use model::expectation::Prediction;
use model::round::{Endpoint, Round};
use model::target::TargetRate;
use predict::of_round::Expectations;
use predict::target::Targets;
use units::DataRate;

use super::Loss;
use crate::locate::cell::Symptom;
use crate::locate::round::{losses_told, rates_told};

/// What the tests of one pair told.
#[derive(Debug, Clone, Default)]
pub(super) struct Rates {
    goodputs: Vec<DataRate>,
    /// What they are judged against.
    pub(super) target: Option<TargetRate>,
    /// What simulated transfers reach.
    predictions: Vec<Prediction>,
    /// What was lost in all of them, where packets were counted.
    pub(super) loss: Option<Loss>,
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
    let targets = Targets::of(round);
    for (number, test) in round.tests.iter().enumerate() {
        for told in rates_told(&targets, (number, test)) {
            let expectation = expectations.of_direction(test, &told.from, &told.to);
            let rates = all.entry((told.symptom, told.from, told.to)).or_default();
            rates.predictions.extend(expectation.and_then(|expectation| expectation.expected.prediction().cloned()));
            rates.goodputs.push(told.rate);
            rates.target = rates.target.take().or(told.target.ok());
        }
        for (from, to, counts) in losses_told(&targets, number, test) {
            let loss = &mut all.entry((Symptom::Loss, from, to)).or_default().loss;
            let so_far = loss.unwrap_or_default();
            *loss = Some(Loss { lost: so_far.lost + counts.lost, sent: so_far.sent + counts.sent });
        }
    }
    all
}
