//! Whether a flow attained what its path and the settings of its hosts allow.
//!
//! What a flow waited for is seen in its samples, and is the better sign: it was measured. Where there are none, as in a
//! test with another program or in an imported file, what a flow with the same settings would have attained tells nearly
//! as much. The two are never weighed together: they would say one thing twice.

use model::expectation::{Bound, How, Prediction};
use model::round::Round;
use predict::of_round::Expectations;

use super::Observation;
use super::flow::{Complaint, Flow, FlowKind};

/// Adds it to slow flows of which nobody saw what they waited for.
pub(super) fn add(round: &Round, flows: &mut [Flow]) {
    let mut expectations = Expectations::of(round);
    let asked = flows
        .iter_mut()
        .filter(|flow| flow.kind == FlowKind::Tcp && flow.complaint == Some(Complaint::Slow) && !has_seen_limit(flow));
    for flow in asked.take(MOST) {
        flow.allowed = prediction(round, flow, &mut expectations).map(Box::new);
        let seen = flow.allowed.as_deref().and_then(seen);
        // Where something else was seen to be the limit, only that settings allow no more speaks against it.
        let is_a_setting = |seen: &Observation| seen.seen.state().is_direct;
        let seen = seen.filter(|seen| flow.state("limit").is_none() || is_a_setting(seen));
        flow.observations.extend(seen);
    }
}

/// Whether the flow was seen to wait for a window or buffer.
fn has_seen_limit(flow: &Flow) -> bool {
    matches!(flow.state("limit"), Some("receive-window" | "send-buffer" | "configured"))
}

/// What path and settings allow a flow over TCP, where that can be reckoned.
pub(crate) fn prediction<'a>(round: &'a Round, flow: &Flow, expectations: &mut Expectations<'a>) -> Option<Prediction> {
    let test = round.tests.get(flow.test).filter(|_| flow.kind == FlowKind::Tcp)?;
    let expectation = expectations.of_direction(test, &flow.sender, &flow.receiver)?;
    expectation.expected.prediction().cloned()
}

/// What is allowed, and which part of it a flow had.
pub(crate) fn says(prediction: &Prediction, attained: f64) -> String {
    let (allowed, because) = (prediction.goodput, &prediction.because);
    format!("path and settings allow {allowed} ({because}), of which it had {:.1} %", attained * 100.0)
}

fn seen(prediction: &Prediction) -> Option<Observation> {
    let inputs = &prediction.inputs;
    if [&inputs.send_buffer, &inputs.receive_buffer].iter().any(|buffer| buffer.how == How::Assumed) {
        return None;
    }
    let attained = prediction.attained?;
    let state = match prediction.limit {
        _ if attained < FAR => "far-less",
        _ if attained < MET => "less",
        Bound::SendBuffer if inputs.send_buffer.how == How::Given => "requested",
        Bound::ReceiveWindow if inputs.receive_buffer.how == How::Given => "requested",
        Bound::SendBuffer => "send-buffer",
        Bound::ReceiveWindow => "receive-window",
        Bound::Path | Bound::Asked | Bound::Start | Bound::CongestionWindow | Bound::Loss => "path",
    };
    Observation::of("allowed", state, says(prediction, attained))
}

/// Flows that are asked about at most: each may cost a simulation.
pub(crate) const MOST: usize = 16;
/// From this part on a flow has what it is allowed.
pub(crate) const MET: f64 = 0.75;
/// Below it, it has far less.
pub(crate) const FAR: f64 = 0.5;
