//! What a flow that suffers was allowed by its path and by the settings of its hosts.
//!
//! An explanation for people, with no weight: what a transfer waited for is a sign already (`held-by`), and the prediction
//! says nothing of the settings that the audit does not say.

use model::expectation::Prediction;
use model::round::Round;
use predict::of_round::Expectations;

use super::Symptom;
use crate::signs::Flow;
use crate::signs::flow::Kind;

/// Adds it to what is said of a flow, where it can be reckoned.
pub(super) fn add<'a>(
    mut symptom: Symptom,
    round: &'a Round,
    flow: &Flow,
    expectations: &mut Expectations<'a>,
) -> Symptom {
    let test = round.tests.get(flow.test).filter(|_| flow.kind == Kind::Tcp);
    let expectation = test.and_then(|test| expectations.of_direction(test, &flow.sender, &flow.receiver));
    if let Some(prediction) = expectation.as_ref().and_then(|expectation| expectation.expected.prediction()) {
        symptom.predicted = Some(prediction.goodput);
        symptom.allowed = says(prediction);
    }
    symptom
}

/// Which of the two it is: what the settings allow, or far less.
fn says(prediction: &Prediction) -> Option<String> {
    let attained = prediction.attained?;
    let (allowed, because) = (prediction.goodput, &prediction.because);
    let lossy = prediction.with_loss.map(|rate| format!("; with what datagrams lost, {rate}")).unwrap_or_default();
    Some(if prediction.limit.is_a_setting() && attained >= MET {
        format!("its settings allow no more: {allowed} ({because})")
    } else if attained < FAR {
        format!("path and settings allow {allowed} ({because}), of which it had {:.1} %{lossy}", attained * 100.0)
    } else {
        format!("path and settings allow {allowed} ({because}){lossy}")
    })
}

/// Flows that are told of at most: each may cost a simulation.
pub(super) const MOST: usize = 16;
/// From this part on a flow has what it is allowed.
const MET: f64 = 0.75;
/// Below it, it has far less.
const FAR: f64 = 0.5;
