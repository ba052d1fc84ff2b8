//! How much the flows and the hosts of a round speak for a cause at a place.
//!
//! All weights are natural logarithms of ratios of probabilities: how much more often is this seen where the cause is at
//! work than among slow flows at large? Signs of one flow hang together, and so do flows of one path, so that their sum
//! would claim more than they know: they are damped, by [`OF_SIGNS`] and [`OF_FLOWS`].

use super::candidate::Candidate;
use super::excluded;
use super::findings::Findings;
use super::ground::{DEFINING, Ground, LIGHT, MOST, OF_FLOWS, Part};
use super::mtus;
use super::place::FaultLocation;
use super::says::{EXCLUDED, Says};
use super::spared;
use super::speeds;
use super::vanished;
use crate::causes::weights::{Evidence, Weights};
use crate::signs::{ALL, Flow, Observation, SignState};

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
    spared::weigh(candidate, &suffering, ground, &mut parts);
    parts.extend(of_hit(candidate, &suffering));
    parts.extend(of_elsewhere(candidate, ground));
    parts.extend(excluded::weigh(candidate, &suffering, ground));
    parts.extend(of_rules(candidate, ground.findings));
    parts.extend(vanished::weigh(candidate, &suffering, ground));
    parts.extend(speeds::weigh(candidate, &suffering, ground));
    parts.extend(mtus::weigh(candidate, &suffering, ground));
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
    let left = |number: usize| {
        let own = flows[number].observations.iter().filter(move |seen| told[number].leaves(seen));
        own.chain(told[number].left_limit(&flows[number]))
    };
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

/// What it says that flows are hit by a cause that spares some of those that pass: it would take more luck than one that hits all.
fn of_hit<'a>(candidate: &Candidate<'_>, suffering: &[&'a Flow]) -> Option<Part<'a>> {
    let (first, count) = (suffering.first()?, suffering.len());
    // Of a path over which one flow went alone nobody knows whether another one would have been spared.
    if count == 1 && candidate.covers.len() == 1 && matches!(candidate.place, FaultLocation::Path { .. }) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of flows")]
    let damping = (count as f64).powf(1.0 - OF_FLOWS);
    let weight = damping * (1.0 - candidate.cause.spread.spared()).ln();
    (weight < -LIGHT).then_some(Part { weight, says: Says::Hit(first, count) })
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
    let one_of = one_of(&candidate.cause.requires_of_host, host, findings).map(|rule| (rule, &1.0));
    candidate.cause.rules.iter().chain(one_of).filter_map(of_rule).collect()
}

/// The first rule that fires, of those that are each another way to see a cause outright; any of them where none does.
fn one_of<'a>(rules: &'a [String], host: &str, findings: &Findings) -> Option<&'a String> {
    let is_denied = |rule: &String| findings.fired(host, rule) == Some(false);
    let first = rules.iter().find(|rule| findings.fired(host, rule) == Some(true));
    first.or_else(|| rules.first().filter(|_| rules.iter().all(is_denied)))
}

/// Signs of one flow hang together.
const OF_SIGNS: f64 = 0.85;
/// Rules of one cause hang together.
const OF_RULES: f64 = 0.7;
/// What it weighs besides that a setting is so at one host only, among three or more, or a count that shows the cause outright.
const ONLY_ONE: f64 = 2.0;
/// Where fewer of the other hosts have it, it is no habit of the site.
const RARE: f64 = 0.34;
