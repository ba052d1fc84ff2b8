//! Learning from incidents whose causes are known because they were made with them.
//!
//! Three things are learnt, each from incidents of its own, and each is written as a file that a person can read and correct:
//!
//! * how often each sign is seen where a cause is at work ([`crate::causes::learn`]), with the values that the authors of the
//!   catalogue set as prior
//! * [`mod@fit`]: how far each kind of evidence repeats what others say, and how often causes are met
//!   ([`crate::causes::weights`])
//! * [`mod@calibrate`]: how often what is said with some probability turns out to be right
//!
//! `case` is an incident as far as it is learnt from, `example` one decision in it.

pub mod calibrate;
pub mod case;
mod example;
pub mod fit;
mod table;

pub use calibrate::{Outcome, calibrate};
pub use case::LearningCase;
pub use fit::{Fitted, Regularization, fit};

use crate::causes::Catalogue;
use crate::causes::learn::{Tally, USUAL_PRIOR, Worth};
use crate::causes::weights::{Calibration, Weights};

/// What was learnt.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// Likelihoods of signs, as a file.
    pub likelihoods: String,
    /// Weights of evidence, without a calibration.
    pub weights: Weights,
    /// The catalogue with both.
    pub catalogue: Catalogue,
    /// How the weights fit the incidents.
    pub fitted: Fitted,
}

/// Learns likelihoods from the incidents with an even number and weights from the others, so that what was counted is not taken for
/// what is certain.
#[must_use]
pub fn learn(cases: &[LearningCase]) -> Lesson {
    let by_hand = Catalogue::by_hand();
    let mut tally = Tally::default();
    for case in cases.iter().step_by(2) {
        tally.add_flows(&case.round, &case.flows, &case.planted, &by_hand);
    }
    let likelihoods = tally.learnt(&by_hand, WORTH);
    // What was just written names nothing that does not exist.
    let learnt = by_hand.with_learnt(&likelihoods).unwrap_or(by_hand);
    let before = Weights::default().with_usual(tally.usual(USUAL_PRIOR));
    let learnt = learnt.with_weights(before.clone());
    let others: Vec<&LearningCase> = cases.iter().skip(1).step_by(2).collect();
    let fitted = fit(&others, &learnt, &before, Regularization::default());
    let weights = fitted.weights.clone();
    let learnt = learnt.with_shown(&fitted.shown);
    let likelihoods = tally.fitted(&learnt);
    Lesson { likelihoods, catalogue: learnt.with_weights(weights.clone()), weights, fitted }
}

/// Learns on from what was learnt before: tables and weights are fitted to all incidents, drawn towards those of a catalogue.
#[must_use]
pub fn refine(cases: &[LearningCase], from: &Catalogue, regularization: Regularization) -> Lesson {
    let mut tally = Tally::default();
    for case in cases {
        tally.add_flows(&case.round, &case.flows, &case.planted, from);
    }
    let mut usual = tally.usual(USUAL_PRIOR);
    usual.extend(from.weights().all_usual().iter().map(|(seen, share)| (*seen, *share)));
    let before = from.weights().with_calibration(Calibration::default()).with_usual(usual);
    // What was just written names nothing that does not exist.
    let with_new_signs = from.with_learnt(&tally.learnt_of_new_signs(from, WORTH));
    let learnt = with_new_signs.unwrap_or_else(|_| from.clone()).with_weights(before.clone());
    let all: Vec<&LearningCase> = cases.iter().collect();
    let fitted = fit(&all, &learnt, &before, regularization);
    let weights = fitted.weights.clone();
    let learnt = learnt.with_shown(&fitted.shown);
    let likelihoods = tally.fitted(&learnt);
    Lesson { likelihoods, catalogue: learnt.with_weights(weights.clone()), weights, fitted }
}

/// Values of the mechanism stay where few incidents were seen.
const WORTH: Worth = Worth { prior: 8.0, least: 3.0 };
