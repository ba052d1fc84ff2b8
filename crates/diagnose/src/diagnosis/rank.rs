//! From weights to probabilities, one problem after the other.

use std::collections::{BTreeMap, BTreeSet};

use model::round::Round;

use super::candidate::{Candidate, candidates};
use super::findings::Findings;
use super::weigh::{Ground, Part, Says, Weighed, weigh};
use super::{Hypothesis, Likely, Place, Problem, Ranked, Standing};
use crate::causes::{Catalogue, Cause};
use crate::signs::Flow;
use crate::wires::Wires;

/// What explains the flows that suffer, and what is wrong without one that does.
pub(super) fn standings<'c>(
    round: &Round,
    flows: &[Flow],
    findings: &Findings,
    catalogue: &'c Catalogue,
) -> Vec<Standing<'c>> {
    let all = candidates(round, flows, catalogue);
    let (alone, explaining): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) =
        all.into_iter().partition(|candidate| candidate.cause.alone);
    let wires = Wires::of(round);
    let mut problems = Vec::new();
    let mut open: Vec<bool> = flows.iter().map(Flow::is_bad).collect();
    while open.contains(&true) && problems.len() < MOST_PROBLEMS {
        let ground = Ground { flows, open: &open, findings, wires: &wires };
        let (standing, explained) = standing(&explaining, &ground);
        problems.push(standing);
        let before = open.iter().filter(|open| **open).count();
        open.iter_mut().zip(explained).for_each(|(open, explained)| *open &= !explained);
        if open.iter().filter(|open| **open).count() == before {
            break;
        }
    }
    let nothing = vec![false; flows.len()];
    let ground = Ground { flows, open: &nothing, findings, wires: &wires };
    let by_themselves = alone.iter().filter_map(|candidate| by_itself(candidate, &ground));
    problems.extend(by_themselves.map(|problem| Standing { problem, hypotheses: Vec::new(), suffering: Vec::new() }));
    problems
}

/// The ranking for all that is open, and the flows that its first explains.
fn standing<'c>(candidates: &[Candidate<'c>], ground: &Ground<'_>) -> (Standing<'c>, Vec<bool>) {
    let useful = |candidate: &&Candidate<'c>| candidate.covers.iter().any(|number| ground.open[*number]);
    let useful: Vec<&Candidate<'c>> = candidates.iter().filter(useful).collect();
    let mut places: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for candidate in &useful {
        *places.entry(way(candidate)).or_default() += candidate.weight;
    }
    let mut weighed: Vec<(&Candidate<'c>, Weighed<'_>)> =
        useful.iter().map(|candidate| (*candidate, weigh(candidate, places[&way(candidate)], ground))).collect();
    keep_likeliest_ways(&mut weighed);
    let most = weighed.iter().map(|(_, weighed)| weighed.score).fold(UNKNOWN, f64::max);
    let odds = |score: f64| (SHARPNESS * (score - most)).exp();
    let all: f64 = weighed.iter().map(|(_, weighed)| odds(weighed.score)).sum::<f64>() + odds(UNKNOWN);
    let part = |weighed: &Weighed<'_>| odds(weighed.score) / all;
    let hypotheses = weighed.iter().map(|(candidate, weighed)| Hypothesis {
        cause: candidate.cause,
        place: candidate.place.clone(),
        probability: part(weighed),
    });
    let hypotheses = hypotheses.collect();
    let mut by_cause: BTreeMap<&str, Vec<(&Candidate<'c>, &Weighed<'_>)>> = BTreeMap::new();
    for (candidate, weighed) in &weighed {
        by_cause.entry(&candidate.cause.id).or_default().push((candidate, weighed));
    }
    let mut ranking: Vec<(Ranked, &Candidate<'c>)> = by_cause
        .into_values()
        .map(|mut at| {
            at.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
            let sum: f64 = at.iter().map(|(_, weighed)| part(weighed)).sum();
            let likely = at.iter().map(|(candidate, weighed)| Likely {
                place: candidate.place.clone(),
                probability: if sum > 0.0 { part(weighed) / sum } else { 0.0 },
            });
            let likely = likely.take(MOST_PLACES).collect();
            (ranked(at[0].0.cause, likely, sum, &at[0].1.parts), at[0].0)
        })
        .collect();
    ranking.sort_by(|a, b| b.0.probability.total_cmp(&a.0.probability));
    let explained: Vec<bool> = match ranking.first() {
        Some((_, best)) => {
            let mut explained = vec![false; ground.flows.len()];
            best.covers.iter().for_each(|number| explained[*number] = ground.open[*number]);
            explained
        }
        None => ground.open.to_vec(),
    };
    let labels = ground.flows.iter().zip(&explained).filter(|(_, explained)| **explained);
    let problem = Problem {
        explains: labels.map(|(flow, _)| flow.label.clone()).collect(),
        ranking: ranking.into_iter().map(|(ranked, _)| ranked).take(MOST_RANKED).collect(),
        unknown: odds(UNKNOWN) / all,
    };
    let suffering = (0..explained.len()).filter(|number| explained[*number]).collect();
    (Standing { problem, hypotheses, suffering }, explained)
}

/// A cause in one of the ways in which it is at work.
fn way<'c>(candidate: &Candidate<'c>) -> (&'c str, &'c str) {
    (&candidate.cause.id, &candidate.cause.title)
}

/// Of the ways in which a cause may be at work at a place, the likeliest stands for it.
fn keep_likeliest_ways<'x>(weighed: &mut Vec<(&'x Candidate<'_>, Weighed<'_>)>) {
    let several: BTreeSet<&str> = weighed
        .iter()
        .filter(|(candidate, _)| !candidate.cause.manners.is_empty())
        .map(|(candidate, _)| candidate.cause.id.as_str())
        .collect();
    let mut best: BTreeMap<(&str, &'x Place), f64> = BTreeMap::new();
    for (candidate, weighed) in weighed.iter() {
        let Some(id) = several.get(candidate.cause.id.as_str()) else { continue };
        let score = best.entry((id, &candidate.place)).or_insert(f64::NEG_INFINITY);
        *score = score.max(weighed.score);
    }
    weighed.retain(|(candidate, weighed)| {
        let id = several.get(candidate.cause.id.as_str());
        id.is_none_or(|id| best.get(&(*id, &candidate.place)).is_none_or(|score| weighed.score >= *score))
    });
}

/// A cause that is there though no flow suffers.
fn by_itself(candidate: &Candidate<'_>, ground: &Ground<'_>) -> Option<Problem> {
    let mut weighed = weigh(candidate, 1.0, ground);
    for flow in candidate.covers.iter().map(|number| &ground.flows[*number]) {
        for seen in &flow.observations {
            if candidate.cause.shows.keys().any(|shown| shown.sign == seen.seen.sign) {
                let weight = (candidate.cause.likelihood(seen.seen) / seen.seen.state().usual).ln();
                weighed.score += weight;
                weighed.parts.push(Part { weight, says: Says::Sign(flow, seen) });
            }
        }
    }
    // Most hosts do not have it.
    let odds = (weighed.score - ALONE).exp();
    let probability = odds / (1.0 + odds);
    if probability < 0.5 {
        return None;
    }
    let place = vec![Likely { place: candidate.place.clone(), probability: 1.0 }];
    Some(Problem {
        explains: Vec::new(),
        ranking: vec![ranked(candidate.cause, place, probability, &weighed.parts)],
        unknown: 1.0 - probability,
    })
}

fn ranked(cause: &Cause, places: Vec<Likely>, probability: f64, parts: &[Part<'_>]) -> Ranked {
    let mut parts: Vec<&Part<'_>> = parts.iter().collect();
    parts.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    let told = |of: &dyn Fn(&Part<'_>) -> bool| {
        parts.iter().filter(|part| of(part)).take(MOST_TOLD).map(|part| part.says.to_string()).collect()
    };
    Ranked {
        cause: cause.id.clone(),
        title: cause.title.clone(),
        places,
        probability,
        speaks_for: told(&|part| part.weight > TELLING),
        speaks_against: told(&|part| part.weight < -TELLING),
        test: cause.test.clone(),
        fix: cause.fix.clone(),
        remedy: cause.remedy.clone(),
        verify: cause.verify.clone(),
    }
}

/// By how much sums of weights are stretched before they become probabilities: the damping of weights that hang together
/// claims too little. Learnt on plays of `scenarios/`, and confirmed on those of `testdata/unseen/` (docs/diagnosis.md).
const SHARPNESS: f64 = 1.2;
/// What "something else" weighs: a cause that nothing speaks for or against, of average prior, at one of a few places.
const UNKNOWN: f64 = -1.0;
/// The odds, as a logarithm, against a cause that shows in no flow.
const ALONE: f64 = 1.0;
/// More problems than this are one that was not understood.
const MOST_PROBLEMS: usize = 5;
const MOST_PLACES: usize = 5;
const MOST_RANKED: usize = 5;
const MOST_TOLD: usize = 5;
/// A part below this weight is not told.
const TELLING: f64 = 0.25;
