//! How much the flows and the hosts of a round speak for a cause at a place.
//!
//! All weights are natural logarithms of ratios of probabilities: how much more often is this seen where the cause is at
//! work than among slow flows at large? Signs of one flow hang together, and so do flows of one path, so that their sum
//! would claim more than they know: they are damped, by [`OF_SIGNS`] and [`OF_FLOWS`].

use super::candidate::Candidate;
use super::findings::Findings;
use crate::signs::flow::Kind;
use crate::signs::{Flow, Observation, Seen};

/// What speaks for or against a candidate.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    /// The sum, with what was known before.
    pub(super) score: f64,
    /// The parts, the heaviest first.
    pub(super) parts: Vec<Part>,
}

/// One thing that speaks.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// For it above zero, against it below.
    pub(super) weight: f64,
    /// What.
    pub(super) says: String,
}

/// The flows that are still to be explained, and the hosts.
pub(super) struct Ground<'a> {
    /// All flows.
    pub(super) flows: &'a [Flow],
    /// Which of them suffer from what no earlier cause explains.
    pub(super) open: &'a [bool],
    /// Answers of rules.
    pub(super) findings: &'a Findings,
}

/// Weighs a candidate that would have to explain flows.
pub(super) fn weigh(candidate: &Candidate<'_>, places: f64, ground: &Ground<'_>) -> Weighed {
    let mut parts = of_covered(candidate, ground);
    parts.extend(of_spared(candidate, ground));
    parts.extend(of_unexplained(candidate, ground));
    parts.extend(of_rules(candidate, ground.findings));
    let before = (candidate.cause.prior * candidate.weight / places).ln();
    let score = before + parts.iter().map(|part| part.weight).sum::<f64>();
    parts.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    Weighed { score, parts }
}

/// What the signs of flows say that suffer at the place.
fn of_covered(candidate: &Candidate<'_>, ground: &Ground<'_>) -> Vec<Part> {
    let covered: Vec<&Flow> = numbered(ground)
        .filter(|(number, _)| candidate.covers[*number] && ground.open[*number])
        .map(|(_, flow)| flow)
        .collect();
    let damping = OF_SIGNS / (covered.len().max(1) as f64).powf(OF_FLOWS);
    let speaking = covered.iter().flat_map(|flow| flow.observations.iter().map(move |seen| (flow, seen)));
    speaking
        .filter_map(|(flow, seen)| {
            let weight = damping * sign(candidate, seen);
            (weight.abs() > LIGHT).then(|| Part { weight, says: format!("{}: {}", flow.label, seen.says) })
        })
        .collect()
}

fn sign(candidate: &Candidate<'_>, seen: &Observation) -> f64 {
    (candidate.cause.likelihood(seen.seen) / seen.seen.state().usual).ln().clamp(-MOST, MOST)
}

/// What it says that flows pass the place and do well.
fn of_spared(candidate: &Candidate<'_>, ground: &Ground<'_>) -> Vec<Part> {
    let suffering: Vec<&Flow> = numbered(ground)
        .filter(|(number, _)| candidate.covers[*number] && ground.open[*number])
        .map(|(_, flow)| flow)
        .collect();
    let spared: Vec<&Flow> = numbered(ground)
        .filter(|(number, flow)| candidate.covers[*number] && flow.is_good())
        .map(|(_, flow)| flow)
        .collect();
    let damping = 1.0 / (spared.len().max(1) as f64).powf(OF_FLOWS);
    let of_flow = |flow: &&Flow| {
        let weight = damping * sparing(candidate, flow, &suffering);
        (weight.abs() > LIGHT)
            .then(|| Part { weight, says: format!("{}: did well, though it passes there", flow.label) })
    };
    spared.iter().filter_map(of_flow).collect()
}

/// What one flow says that does well. Datagrams and echoes say it by what was looked at: where the cause would show in
/// them, they speak, however different they are from the flows that suffer.
fn sparing(candidate: &Candidate<'_>, flow: &Flow, suffering: &[&Flow]) -> f64 {
    let told = flow.observations.iter().filter(|seen| OF_PROBES.contains(&seen.seen.sign().name));
    let named = told.filter(|seen| candidate.cause.shows.keys().any(|shown| shown.sign == seen.seen.sign));
    let weights: Vec<f64> = named.map(|seen| (candidate.cause.likelihood(seen.seen) / WELL).ln().min(0.0)).collect();
    match flow.kind {
        Kind::Echo => weights.iter().sum(),
        Kind::Udp if !weights.is_empty() => pressing(candidate, flow, suffering) * weights.iter().sum::<f64>(),
        _ => comparable(flow, suffering) * (candidate.cause.spread.spared() / WELL).ln(),
    }
}

/// How much datagrams say that are not lost: little where they came slower than what the flows that suffer attained, unless
/// the cause takes its part of slow ones as well.
fn pressing(candidate: &Candidate<'_>, spared: &Flow, suffering: &[&Flow]) -> f64 {
    let at_any_rate = Seen::named("datagram-loss", "same-at-any-rate");
    let shows_always = at_any_rate.is_some_and(|seen| candidate.cause.shows.get(&seen).is_some_and(|part| *part > 0.5));
    let least = suffering.iter().filter(|flow| flow.kind != Kind::Echo).map(|flow| flow.goodput).min();
    let presses = least.is_none_or(|least| spared.shape.paced.is_none_or(|rate| rate >= least));
    if presses || shows_always { 1.0 } else { 0.25 }
}

/// How much a flow that does well says about those that suffer: little where it asked for less, or has a shorter path.
fn comparable(spared: &Flow, suffering: &[&Flow]) -> f64 {
    let asks_for_less = |flow: &&&Flow| {
        let short = spared.rtt.zip(flow.rtt).is_some_and(|(own, other)| own * 3 < other);
        let paced = spared.shape.paced.is_some() && flow.shape.paced != spared.shape.paced;
        let shared = spared.shape.streams > flow.shape.streams;
        let small = spared.shape.payload.zip(flow.shape.payload).is_some_and(|(own, other)| own * 2 < other);
        let other_kind = spared.kind != flow.kind;
        let other_control = spared.shape.control != flow.shape.control;
        short || paced || shared || small || other_kind || other_control
    };
    let fair = suffering.iter().filter(|flow| !asks_for_less(flow)).count();
    if fair > 0 { 1.0 } else { 0.25 }
}

/// What it says that other flows suffer as well, which the cause at this place cannot explain.
fn of_unexplained(candidate: &Candidate<'_>, ground: &Ground<'_>) -> Vec<Part> {
    let other = numbered(ground).filter(|(number, _)| !candidate.covers[*number] && ground.open[*number]);
    other
        .map(|(_, flow)| Part {
            weight: UNEXPLAINED,
            says: format!("{}: suffers too, and does not pass there", flow.label),
        })
        .collect()
}

/// What the audit of the host says.
fn of_rules(candidate: &Candidate<'_>, findings: &Findings) -> Vec<Part> {
    let Some(host) = &candidate.host else { return Vec::new() };
    let of_rule = |(rule, part): (&String, &f64)| {
        let fired = findings.fired(host, rule)?;
        let usual = findings.usual(host, rule).clamp(0.03, 0.97);
        let (ratio, says) = if fired {
            (part / usual, format!("{rule} fires at {host}"))
        } else {
            ((1.0 - part) / (1.0 - usual), format!("{rule} passes at {host}"))
        };
        let weight = OF_RULES * ratio.ln().clamp(-MOST, MOST);
        (weight.abs() > LIGHT).then_some(Part { weight, says })
    };
    candidate.cause.rules.iter().filter_map(of_rule).collect()
}

fn numbered<'a>(ground: &Ground<'a>) -> impl Iterator<Item = (usize, &'a Flow)> {
    ground.flows.iter().enumerate()
}

/// Signs of one flow hang together.
const OF_SIGNS: f64 = 0.85;
/// Flows of one path hang together: n of them count as n to the power of one less this.
const OF_FLOWS: f64 = 0.5;
/// Rules of one cause hang together.
const OF_RULES: f64 = 0.7;
/// No single thing decides alone.
const MOST: f64 = 3.5;
/// How often a flow does well that passes nothing that is at fault.
const WELL: f64 = 0.85;
/// Signs by which datagrams and echoes tell that nothing is lost.
const OF_PROBES: [&str; 3] = ["datagrams", "echoes", "mtu"];
/// Lighter than this is not worth a line.
const LIGHT: f64 = 0.02;
/// A further cause is as likely as one in twelve.
const UNEXPLAINED: f64 = -2.0;
