//! How much the flows and the hosts of a round speak for a cause at a place.
//!
//! All weights are natural logarithms of ratios of probabilities: how much more often is this seen where the cause is at
//! work than among slow flows at large? Signs of one flow hang together, and so do flows of one path, so that their sum
//! would claim more than they know: they are damped, by [`OF_SIGNS`] and [`OF_FLOWS`].

use super::candidate::Candidate;
use super::excluded;
use super::explained_signs::ExplainedSigns;
use super::findings::Findings;
use super::mtus;
use super::says::{EXCLUDED, Says};
use super::severity::Severity;
use super::speeds;
use super::vanished;
use crate::causes::Cause;
use crate::causes::weights::{CalibrationCurve, Evidence, Weights};
use crate::signs::flow::FlowKind;
use crate::signs::{ALL, Flow, Observation, SignState};
use crate::wires::Wires;

/// What speaks for or against a candidate.
#[derive(Debug, Clone)]
pub(crate) struct Weighed<'a> {
    /// The sum, with what was known before.
    pub(crate) score: f64,
    /// The parts, in any order.
    pub(crate) parts: Vec<Part<'a>>,
}

impl Weighed<'_> {
    /// What affected flows that do not pass the place weigh against it: 0 or less.
    pub(crate) fn elsewhere(&self) -> f64 {
        let elsewhere = self.parts.iter().filter(|part| matches!(part.says, Says::Elsewhere(..)));
        elsewhere.map(|part| part.weight).sum()
    }
}

/// One thing that speaks.
#[derive(Debug, Clone)]
pub(crate) struct Part<'a> {
    /// For it above zero, against it below.
    pub(crate) weight: f64,
    /// What.
    pub(crate) says: Says<'a>,
}

/// The flows that are still to be explained, and the hosts.
pub(crate) struct Ground<'a> {
    /// All flows.
    pub(crate) flows: &'a [Flow],
    /// Which of them suffer from what no earlier cause explains.
    pub(crate) open: &'a [bool],
    /// What earlier problems explain of each flow.
    pub(crate) told: &'a [ExplainedSigns],
    /// Answers of rules.
    pub(crate) findings: &'a Findings,
    /// What the two ends of segments tell.
    pub(crate) wires: &'a Wires,
    /// How bad each flow is.
    pub(crate) severity: &'a Severity,
    /// The most that flows speak for any candidate.
    pub(crate) most: f64,
    /// How much each kind of evidence counts.
    pub(crate) weights: &'a Weights,
    /// How often first names turned out to be right.
    pub(crate) calibration: &'a CalibrationCurve,
}

impl<'a> Ground<'a> {
    /// How much the flows that a candidate would have to explain speak for one cause of them all.
    pub(crate) fn gain(&self, candidate: &Candidate<'_>) -> f64 {
        let hit: Vec<usize> = candidate.covers.iter().copied().filter(|number| self.open[*number]).collect();
        self.severity.gain(&hit)
    }

    /// The flows that a candidate would have to explain.
    pub(crate) fn suffering(&self, candidate: &Candidate<'_>) -> Vec<&'a Flow> {
        candidate.covers.iter().filter(|number| self.open[**number]).map(|number| &self.flows[*number]).collect()
    }
}

/// Weighs a candidate that would have to explain flows.
pub(crate) fn weigh<'a>(candidate: &'a Candidate<'_>, places: f64, ground: &Ground<'a>) -> Weighed<'a> {
    let weights = ground.weights;
    let mut parts = parts(candidate, ground);
    for part in &mut parts {
        part.weight *= part.says.evidence(part.weight).map_or(1.0, |evidence| weights.of(evidence));
    }
    let before = weights.of(Evidence::Prior) * prior(candidate, places) + weights.of_cause(&candidate.cause.id);
    let score = before + parts.iter().map(|part| part.weight).sum::<f64>();
    Weighed { score, parts }
}

/// How likely a cause is at a place before anything is looked at, a logarithm.
pub(crate) fn prior(candidate: &Candidate<'_>, places: f64) -> f64 {
    (candidate.cause.prior * candidate.weight / places).ln()
}

/// All that speaks for and against a candidate, each as if it were independent of the others.
pub(crate) fn parts<'a>(candidate: &'a Candidate<'_>, ground: &Ground<'a>) -> Vec<Part<'a>> {
    let suffering = ground.suffering(candidate);
    let mut parts = of_suffering(candidate, ground);
    of_spared(candidate, &suffering, ground, &mut parts);
    parts.extend(of_hit(candidate, &suffering));
    parts.extend(of_elsewhere(candidate, ground));
    parts.extend(excluded::weigh(candidate, &suffering, ground));
    parts.extend(of_rules(candidate, ground.findings));
    parts.extend(vanished::weigh(candidate, &suffering, ground));
    parts.extend(speeds::weigh(candidate, &suffering, ground));
    parts.extend(mtus::weigh(candidate, ground));
    parts
}

/// What the signs of flows say that suffer at the place.
fn of_suffering<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Vec<Part<'a>> {
    let parts = seen(candidate, ground).into_iter().map(|seen| Part {
        weight: seen.counts * sign(candidate, seen.says, ground.weights),
        says: Says::Sign(seen.flow, seen.observation),
    });
    parts.filter(|part| part.weight.abs() > LIGHT).collect()
}

/// A sign of a flow that suffers, as a candidate sees it.
pub(crate) struct SeenSign<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) observation: &'a Observation,
    /// What it says of the candidate.
    pub(crate) says: SignState,
    /// How far it counts.
    pub(crate) counts: f64,
}

/// The signs of the flows that suffer at the place.
pub(crate) fn seen<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Vec<SeenSign<'a>> {
    let (flows, told) = (ground.flows, ground.told);
    let suffering = candidate.covers.iter().copied().filter(|number| ground.open[*number]);
    let left = |number: usize| flows[number].observations.iter().filter(move |seen| told[number].leaves(seen));
    let mut found: Vec<SeenSign<'a>> = Vec::new();
    for number in suffering {
        let flow = &flows[number];
        found.extend(left(number).map(|observation| SeenSign {
            flow,
            observation,
            says: candidate.sees(flow, observation.seen),
            counts: flow.weight,
        }));
    }
    // A sign that few of the flows can have, as the limit of a stream among datagrams, is no less worth for the others.
    let mut looked_at = [0u32; ALL.len()];
    found.iter().for_each(|seen| looked_at[seen.says.sign] += 1);
    for seen in &mut found {
        seen.counts *= OF_SIGNS / f64::from(looked_at[seen.says.sign].max(1)).powf(OF_FLOWS);
    }
    found
}

fn sign(candidate: &Candidate<'_>, seen: SignState, weights: &Weights) -> f64 {
    let likelihood = candidate.cause.likelihood_among(seen, |seen| weights.usual(seen));
    (likelihood / weights.usual(seen)).ln().clamp(-MOST, MOST)
}

/// What it says that flows pass the place and do well.
fn of_spared<'a>(candidate: &Candidate<'_>, suffering: &[&Flow], ground: &Ground<'a>, parts: &mut Vec<Part<'a>>) {
    let spared = || candidate.covers.iter().map(|number| &ground.flows[*number]).filter(|flow| flow.is_good());
    let count = spared().count();
    let damping = 1.0 / (count.max(1) as f64).powf(OF_FLOWS);
    // Flows of one complaint are alike: a few of them say who can be compared with them.
    let examples = &suffering[..suffering.len().min(EXAMPLES)];
    let known = Known::by(candidate.cause);
    let mut of_flows: Vec<(&Flow, f64)> =
        spared().map(|flow| (flow, flow.weight * damping * sparing(candidate, &known, flow, examples))).collect();
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

/// What it says that flows are hit by a cause that spares some of those that pass: it would take more luck than one that hits all.
fn of_hit<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let (first, count) = (suffering.first()?, suffering.len());
    #[expect(clippy::cast_precision_loss, reason = "a count of flows")]
    let damping = (count as f64).powf(1.0 - OF_FLOWS);
    let weight = damping * (1.0 - candidate.cause.spread.spared()).ln();
    (weight < -LIGHT).then_some(Part { weight, says: Says::Hit(first, count) })
}

/// What one flow says that does well. Datagrams and echoes say it by what was looked at: where the cause would show in
/// them, they speak, however different they are from the flows that suffer.
fn sparing(candidate: &Candidate<'_>, known: &Known, flow: &Flow, suffering: &[&Flow]) -> f64 {
    if known.contradicts(flow, suffering) {
        return -MOST;
    }
    if known.is_told_by_sign(flow, suffering) {
        return 0.0;
    }
    let by_itself = || comparable(flow, suffering) * (candidate.cause.spread.spared() / WELL).ln();
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
    // What limits one flow to a rate spares another one that is content with it.
    let no_faster = |flow: &&Flow| u128::from(spared.goodput.bps()) * 4 < u128::from(flow.goodput.bps()) * 5;
    if !suffering.is_empty() && suffering.iter().all(no_faster) {
        return 0.05;
    }
    if suffering.iter().all(|flow| asks_for_less(&flow)) { 0.25 } else { 1.0 }
}

/// What the affected flows speak for a cause at this place, beside the place that they speak for most: flows elsewhere need another cause.
fn of_elsewhere<'a>(candidate: &Candidate<'_>, ground: &Ground<'a>) -> Option<Part<'a>> {
    let weight = ground.gain(candidate) - ground.most;
    let is_elsewhere = |number: &usize| ground.open[*number] && candidate.covers.binary_search(number).is_err();
    let mut elsewhere = (0..ground.flows.len()).filter(is_elsewhere);
    let first = elsewhere.next()?;
    (weight < -LIGHT).then(|| Part { weight, says: Says::Elsewhere(&ground.flows[first], 1 + elsewhere.count()) })
}

/// What the audit of the host says.
fn of_rules<'a>(candidate: &'a Candidate<'_>, findings: &Findings) -> Vec<Part<'a>> {
    let Some(host) = &candidate.host else { return Vec::new() };
    let of_rule = |(rule, part): (&'a String, &f64)| {
        let fires = findings.fired(host, rule)?;
        let usual = findings.usual(host, rule).clamp(0.03, 0.97);
        let ratio = if fires { part / usual } else { (1.0 - part) / (1.0 - usual) };
        let excludes = !fires && *part >= 1.0;
        let damped = OF_RULES * ratio.ln().clamp(-MOST, MOST);
        // The one setting that differs at the odd host is hardly chance, nor is a count that shows the cause outright and others lack.
        let is_odd = findings.is_only(host, rule) || *part >= 1.0 && findings.usual(host, rule) < RARE;
        let is_only = fires && *part >= DEFINING && is_odd;
        let weight = if excludes {
            -EXCLUDED
        } else if is_only {
            damped.max(0.0) + ONLY_ONE
        } else {
            damped
        };
        (weight.abs() > LIGHT).then_some(Part { weight, says: Says::Rule { rule, host, fires } })
    };
    candidate.cause.rules.iter().filter_map(of_rule).collect()
}

/// Signs of one flow hang together.
const OF_SIGNS: f64 = 0.85;
/// Flows of one path hang together: n of them count as n to the power of one less this.
const OF_FLOWS: f64 = 0.5;
/// Rules of one cause hang together.
const OF_RULES: f64 = 0.7;
/// What it weighs besides that a setting is so at one host only, among three or more, or a count that shows the cause outright.
const ONLY_ONE: f64 = 2.0;
/// Where fewer of the other hosts have it, it is no habit of the site.
const RARE: f64 = 0.34;
/// No single thing decides alone, but for this.
pub(crate) const MOST: f64 = 3.5;
/// How often a flow does well that passes nothing that is at fault.
const WELL: f64 = 0.85;
/// How often a fault begins while it is tested.
const BEGINS_LATER: f64 = 0.2;
/// How often a cause shows an answer that it is known by.
const DEFINING: f64 = 0.8;
/// Signs that tell what comes of a difference between flows of a pair.
const DIFFERENCES: [&str; 4] = ["other-control", "streams", "paced", "small-packets"];
/// What is done to every flow that passes, or to none.
const TO_EVERY_FLOW: [(&str, &str); 1] = [("window-scale", "missing")];
/// Signs by which datagrams and echoes tell that nothing is lost.
const OF_PROBES: [&str; 3] = ["datagrams", "echoes", "mtu"];
/// So many flows that suffer are looked at to say whether one that does well is like them.
const EXAMPLES: usize = 8;
/// Lighter than this is not worth a line.
const LIGHT: f64 = 0.02;
