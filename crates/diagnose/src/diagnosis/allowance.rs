//! What a flow that suffers was allowed by its path and by the settings of its hosts.
//!
//! An explanation for people. Where nobody saw what the flow waited for, the same is a sign ([`mod@crate::signs::allowed`]).

use model::expectation::Prediction;
use model::round::Round;
use predict::of_round::Expectations;

use super::problem::Symptom;
use crate::signs::Flow;
use crate::signs::allowed::{self, FAR, MET};

/// Adds it to what is said of a flow, where it can be reckoned.
pub(super) fn add<'a>(
    mut symptom: Symptom,
    round: &'a Round,
    flow: &Flow,
    expectations: &mut Expectations<'a>,
) -> Symptom {
    // As a sign it was reckoned already.
    let known = flow.allowed.as_deref().cloned();
    if let Some(prediction) = known.or_else(|| allowed::prediction(round, flow, expectations)) {
        symptom.predicted = Some(prediction.goodput);
        symptom.allowed = says(&prediction);
    }
    symptom
}

/// Which of the two it is: what the settings allow, or far less.
fn says(prediction: &Prediction) -> Option<String> {
    let attained = prediction.attained?;
    let (allowed, because) = (prediction.goodput, &prediction.because);
    // What was taken for the settings is wrong where a flow reached more: nothing can be said.
    if attained > REFUTED {
        return None;
    }
    let lossy = prediction.with_loss.map(|rate| format!("; with what datagrams lost, {rate}")).unwrap_or_default();
    Some(if prediction.limit.is_a_setting() && attained >= MET {
        format!("its settings allow no more: {allowed} ({because})")
    } else if attained < FAR {
        format!("{}{lossy}", allowed::says(prediction, attained))
    } else {
        format!("path and settings allow {allowed} ({because}){lossy}")
    })
}

/// A flow that had so much more than it was allowed shows that something else is set than was assumed.
const REFUTED: f64 = 1.5;
