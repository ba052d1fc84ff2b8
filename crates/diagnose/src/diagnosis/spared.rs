//! What it says of a cause that flows pass its place and do well.

use super::candidate::Candidate;
use super::comparable::Comparable;
use super::ground::{DEFINING, Ground, LIGHT, MOST, OF_FLOWS, Part};
use super::says::Says;
use crate::causes::Cause;
use crate::signs::flow::FlowKind;
use crate::signs::{Flow, SignState};

/// What it says that flows pass the place and do well.
pub(super) fn weigh<'a>(
    candidate: &Candidate<'_>,
    suffering: &[&Flow],
    ground: &Ground<'a>,
    parts: &mut Vec<Part<'a>>,
) {
    // Flows of one complaint are alike: a few of them say who can be compared with them.
    let examples = &suffering[..suffering.len().min(EXAMPLES)];
    let spared = ground.comparable.of(candidate, ground.flows, examples);
    let damping = 1.0 / (spared.len().max(1) as f64).powf(OF_FLOWS);
    let known = Known::by(candidate.cause);
    let says = |one: &Comparable| {
        let flow = &ground.flows[one.number];
        (flow, flow.weight * damping * sparing(candidate, &known, SparedFlow { flow, part: one.part }, examples))
    };
    let mut of_flows: Vec<(&Flow, f64)> = spared.iter().map(says).collect();
    forgive_earlier(&mut of_flows, suffering);
    parts.extend(
        of_flows
            .into_iter()
            .filter(|(_, weight)| weight.abs() > LIGHT)
            .map(|(flow, weight)| Part { weight, says: Says::Spared(flow) }),
    );
}

/// A fault may have begun after the flows that it spared: all that were before the first that suffers say together no more against it
/// than that it did.
fn forgive_earlier(spared: &mut [(&Flow, f64)], suffering: &[&Flow]) {
    let Some(first) = suffering.iter().map(|flow| flow.began).min() else { return };
    let is_earlier = |flow: &Flow, weight: f64| flow.began < first && weight < 0.0 && weight > -MOST;
    let against: f64 = spared.iter().filter(|(flow, weight)| is_earlier(flow, *weight)).map(|(_, weight)| weight).sum();
    let most = (BEGINS_LATER / WELL).ln();
    if against < most {
        let earlier = spared.iter_mut().filter(|(flow, weight)| is_earlier(flow, *weight));
        earlier.for_each(|(_, weight)| *weight *= most / against);
    }
}

/// A flow that does well, and how much it says about those that suffer.
#[derive(Clone, Copy)]
struct SparedFlow<'a> {
    flow: &'a Flow,
    part: f64,
}

/// What one flow says that does well. Datagrams and echoes say it by what was looked at: where the cause would show in
/// them, they speak, however different they are from the flows that suffer.
fn sparing(candidate: &Candidate<'_>, known: &Known, spared: SparedFlow<'_>, suffering: &[&Flow]) -> f64 {
    let SparedFlow { flow, part } = spared;
    if known.contradicts(flow, suffering) {
        return -MOST;
    }
    if known.is_told_by_sign(flow, suffering) {
        return 0.0;
    }
    let by_itself = || part * (candidate.cause.spread.spared() / WELL).ln();
    if !matches!(flow.kind, FlowKind::Echo | FlowKind::Udp) {
        return by_itself();
    }
    let told = flow.observations.iter().filter(|seen| OF_PROBES.contains(&seen.seen.sign().name));
    let named = told.filter(|seen| candidate.cause.shows.keys().any(|shown| shown.sign == seen.seen.sign));
    let weights: Vec<f64> = named.map(|seen| (candidate.cause.likelihood(seen.seen) / WELL).ln().min(0.0)).collect();
    match flow.kind {
        FlowKind::Echo => weights.iter().sum(),
        _ if weights.is_empty() => by_itself(),
        _ => pressing(candidate, flow, suffering) * weights.iter().sum::<f64>(),
    }
}

/// What a cause is known by: asked once for a candidate, and not again for each flow.
struct Known {
    /// What it does to every flow that passes, or to none.
    done: Vec<SignState>,
    /// Which differences between flows of a pair it is known by, in the order of [`DIFFERENCES`].
    differences: [bool; DIFFERENCES.len()],
}

impl Known {
    fn by(cause: &Cause) -> Self {
        let done = TO_EVERY_FLOW.iter().filter_map(|(sign, state)| SignState::named(sign, state));
        let defines =
            |sign: &str| cause.shows.iter().any(|(shown, part)| *part >= DEFINING && shown.sign().name == sign);
        Self {
            done: done.filter(|seen| cause.shows.contains_key(seen)).collect(),
            differences: DIFFERENCES.map(defines),
        }
    }

    /// Whether a place would have done to this flow what was done to those that suffer, and did not: an appliance strips an
    /// option from every connection, however fast it is.
    fn contradicts(&self, spared: &Flow, suffering: &[&Flow]) -> bool {
        self.done.iter().any(|done| {
            let has = |flow: &Flow| flow.observations.iter().any(|seen| seen.seen == *done);
            let asked = spared.observations.iter().any(|seen| seen.seen.sign == done.sign);
            asked && !has(spared) && suffering.iter().any(|flow| has(flow))
        })
    }

    /// Whether a flow of the same pair differs in something whose effect a sign of the flows that suffer already tells, and the
    /// cause is known by: what another congestion control attained speaks once.
    fn is_told_by_sign(&self, spared: &Flow, suffering: &[&Flow]) -> bool {
        if !self.differences.contains(&true) {
            return false;
        }
        // Small datagrams say as little as small segments of what large packets suffer from.
        let [.., by_size] = self.differences;
        let is_like =
            |flow: &Flow| flow.kind == spared.kind || (by_size && spared.shape.has_smaller_packets(&flow.shape));
        let mut twins = suffering.iter().filter(|flow| flow.is_same_pair(spared) && is_like(flow));
        twins.any(|flow| {
            differences(flow, spared).iter().zip(self.differences).any(|(differs, known)| *differs && known)
        })
    }
}

/// In which of [`DIFFERENCES`] a flow differs from one of its pair.
fn differences(flow: &Flow, other: &Flow) -> [bool; DIFFERENCES.len()] {
    let (own, its) = (&flow.shape, &other.shape);
    [
        own.control != its.control,
        its.has_more_streams(own),
        own.paced.is_none() && its.paced.is_some(),
        its.has_smaller_packets(own),
    ]
}

/// How much datagrams say that are not lost: little where they came slower than what the flows that suffer attained, unless
/// the cause takes its part of slow ones as well.
fn pressing(candidate: &Candidate<'_>, spared: &Flow, suffering: &[&Flow]) -> f64 {
    let at_any_rate = SignState::named("datagram-loss", "same-at-any-rate");
    let shows_always = at_any_rate.is_some_and(|seen| candidate.cause.shows.get(&seen).is_some_and(|part| *part > 0.5));
    let least = suffering.iter().filter(|flow| flow.kind != FlowKind::Echo).map(|flow| flow.goodput).min();
    let presses = least.is_none_or(|least| spared.shape.paced.is_none_or(|rate| rate >= least));
    if presses || shows_always { 1.0 } else { 0.25 }
}

/// How often a flow does well that passes nothing that is at fault.
const WELL: f64 = 0.85;
/// How often a fault begins while it is tested.
const BEGINS_LATER: f64 = 0.2;
/// Signs that tell what comes of a difference between flows of a pair.
const DIFFERENCES: [&str; 4] = ["other-control", "streams", "paced", "small-packets"];
/// What is done to every flow that passes, or to none.
const TO_EVERY_FLOW: [(&str, &str); 1] = [("window-scale", "missing")];
/// Signs by which datagrams and echoes tell that nothing is lost.
const OF_PROBES: [&str; 3] = ["datagrams", "echoes", "mtu"];
/// So many flows that suffer are looked at to say whether one that does well is like them.
const EXAMPLES: usize = 8;
