//! From weights to probabilities, one problem after the other.

use std::collections::{BTreeMap, BTreeSet};

use model::round::Round;

use super::alike::alike;
use super::candidate::{Candidate, candidates};
use super::comparable::ComparableFlows;
use super::explained_signs::ExplainedSigns;
use super::findings::Findings;
use super::ground::{Ground, Part};
use super::place::FaultLocation;
use super::problem::{Hypothesis, LikelyPlace, Problem, Ranked, Standing};
use super::roles;
use super::says::Says;
use super::severity::Severity;
use super::together;
use super::weigh::{Weighed, parts, prior, weigh};
use crate::causes::{Catalogue, Cause};
use crate::signs::flow::{Complaint, FlowKind};
use crate::signs::{Coverage, Flow, SignState};
use crate::wires::Wires;

/// What explains the flows that suffer, and what is wrong without one that does.
pub(super) fn standings<'c>(
    round: &Round,
    flows: &[Flow],
    findings: &Findings,
    coverage: Coverage,
    catalogue: &'c Catalogue,
) -> Vec<Standing<'c>> {
    let all = candidates(round, flows, catalogue);
    let (alone, explaining): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) =
        all.into_iter().partition(|candidate| candidate.cause.alone);
    let wires = Wires::of(round);
    let weights = catalogue.weights();
    let severity = Severity::of(flows);
    let mut problems: Vec<Standing<'c>> = Vec::new();
    let mut open: Vec<bool> = flows.iter().map(Flow::is_bad).collect();
    let mut told = vec![ExplainedSigns::default(); flows.len()];
    let mut left: Vec<&Candidate<'c>> = explaining.iter().collect();
    while open.contains(&true) && problems.len() < MOST_PROBLEMS {
        let is_later = !problems.is_empty();
        let mut ground = Ground {
            flows,
            open: &open,
            told: &told,
            findings,
            wires: &wires,
            severity: &severity,
            comparable: ComparableFlows::default(),
            most: 0.0,
            weights,
            calibration: weights.calibration(coverage, problems.len()),
        };
        ground.most = left.iter().map(|candidate| ground.gain(candidate)).fold(0.0, f64::max);
        let (standing, explained, best) = standing(&left, &ground);
        if is_later && !is_named(&standing, &explained, flows, &told) {
            break;
        }
        match best.and_then(|best| problems.iter_mut().find(|earlier| is_of_one_segment(earlier, &best.place))) {
            Some(earlier) => earlier.take_in(standing),
            None => problems.push(standing),
        }
        let Some(best) = best else { break };
        let before = open.clone();
        for number in (0..flows.len()).filter(|number| explained[*number]) {
            told[number].add(&flows[number], best, weights);
            open[number] = told[number].leaves_open(&flows[number]);
        }
        left.retain(|candidate| candidate.cause.id != best.cause.id || !candidate.place.is_at(&best.place));
        if open == before && !explained.contains(&true) {
            break;
        }
    }
    together::merge(&mut problems, flows, catalogue);
    roles::unite(&mut problems, flows, catalogue);
    let nothing = vec![false; flows.len()];
    let ground = Ground {
        flows,
        open: &nothing,
        told: &told,
        findings,
        wires: &wires,
        severity: &severity,
        comparable: ComparableFlows::default(),
        most: 0.0,
        weights,
        calibration: weights.calibration(coverage, 1),
    };
    for candidate in &alone {
        let Some(problem) = by_itself(candidate, &ground) else { continue };
        let mut standing = Standing { problem, hypotheses: Vec::new(), suffering: Vec::new() };
        take_what_nothing_explains(&mut standing, candidate, &mut problems, flows);
        problems.push(standing);
    }
    problems
}

/// What no cause explains better than chance is no second problem where the first may have done that as well. Flows that no problem explains
/// are one, whatever it is, and so is what took much of a rate that nothing explains yet.
fn is_named(standing: &Standing<'_>, explained: &[bool], flows: &[Flow], told: &[ExplainedSigns]) -> bool {
    let mut hit = (0..flows.len()).filter(|number| explained[*number]);
    if hit.clone().any(|number| told[number].is_untouched()) {
        return true;
    }
    let has_lost_more = hit.any(|number| told[number].left_limit(&flows[number]).is_some());
    let least = standing.problem.unknown.max(if has_lost_more { SECOND_OF_RATE } else { SECOND });
    standing.problem.ranking.first().is_some_and(|first| first.probability > least)
}

/// What is found by itself explains flows that show it outright, where nothing else explains them better than chance.
fn take_what_nothing_explains<'c>(
    found: &mut Standing<'c>,
    candidate: &Candidate<'c>,
    problems: &mut Vec<Standing<'c>>,
    flows: &[Flow],
) {
    let shows = |flow: &Flow| flow.observations.iter().any(|seen| candidate.cause.requires.contains(&seen.seen));
    let is_its = |standing: &Standing<'_>| {
        let is_unnamed = standing.problem.ranking.first().is_none_or(|first| first.probability < NAMED);
        let mut suffering = standing.suffering.iter();
        is_unnamed
            && !standing.suffering.is_empty()
            && suffering.all(|number| candidate.covers.contains(number) && shows(&flows[*number]))
    };
    problems.extract_if(.., |standing| is_its(standing)).for_each(|standing| found.take_in(standing));
}

/// Whether a problem was found at this segment already: one direction of a segment has one fault, which makes some flows slow and
/// others wait.
fn is_of_one_segment(earlier: &Standing<'_>, place: &FaultLocation) -> bool {
    let first = earlier.problem.ranking.first().and_then(|best| best.places.first());
    matches!(place, FaultLocation::Segment { .. }) && first.is_some_and(|likely| likely.place.is_at(place))
}

/// The ranking for all that is open, and the flows that its first explains.
fn standing<'x, 'c>(
    candidates: &[&'x Candidate<'c>],
    ground: &Ground<'_>,
) -> (Standing<'c>, Vec<bool>, Option<&'x Candidate<'c>>) {
    // What is left of a flow that is explained already is no reason to name a cause that does not bring it.
    let useful = |candidate: &&&'x Candidate<'c>| {
        let mut open = candidate.covers.iter().filter(|number| ground.open[**number]);
        open.any(|number| ground.told[*number].is_answered_by(&ground.flows[*number], candidate, ground.weights))
    };
    let useful: Vec<&'x Candidate<'c>> = candidates.iter().filter(useful).copied().collect();
    let mut places: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for candidate in &useful {
        *places.entry(way(candidate)).or_default() += candidate.weight;
    }
    let mut weighed: Vec<(&'x Candidate<'c>, Weighed<'_>)> =
        useful.iter().map(|candidate| (*candidate, weigh(candidate, places[&way(candidate)], ground))).collect();
    keep_likeliest_ways(&mut weighed);
    let unknown = ground.weights.unknown;
    allow_several_problems(&mut weighed, unknown);
    let most = weighed.iter().map(|(_, weighed)| weighed.score).fold(unknown, f64::max);
    let odds = |score: f64| (score - most).exp();
    let all: f64 = weighed.iter().map(|(_, weighed)| odds(weighed.score)).sum::<f64>() + odds(unknown);
    let part = |weighed: &Weighed<'_>| odds(weighed.score) / all;
    let hypotheses = weighed.iter().map(|(candidate, weighed)| Hypothesis {
        cause: candidate.cause,
        place: candidate.place.clone(),
        probability: part(weighed),
    });
    let hypotheses = hypotheses.collect();
    let mut by_cause: BTreeMap<&str, Vec<(&'x Candidate<'c>, &Weighed<'_>)>> = BTreeMap::new();
    for (candidate, weighed) in &weighed {
        by_cause.entry(&candidate.cause.id).or_default().push((candidate, weighed));
    }
    let mut ranking: Vec<(Ranked, &'x Candidate<'c>)> = by_cause
        .into_values()
        .map(|mut at| {
            at.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
            let sum: f64 = at.iter().map(|(_, weighed)| part(weighed)).sum();
            let likely = at.iter().map(|(candidate, weighed)| LikelyPlace {
                place: candidate.place.clone(),
                probability: if sum > 0.0 { part(weighed) / sum } else { 0.0 },
            });
            let likely = likely.take(MOST_PLACES).collect();
            (ranked(at[0].0.cause, likely, sum, &at[0].1.parts), at[0].0)
        })
        .collect();
    ranking.sort_by(|a, b| b.0.probability.total_cmp(&a.0.probability));
    let mut of_unknown = odds(unknown) / all;
    calibrate(&mut ranking, &mut of_unknown, ground);
    let explained: Vec<bool> = match ranking.first() {
        Some((_, best)) => {
            let mut explained = vec![false; ground.flows.len()];
            let hit: Vec<usize> = best.covers.iter().copied().filter(|number| ground.open[*number]).collect();
            ground.severity.explained(&hit).into_iter().for_each(|number| explained[number] = true);
            explain_way_back(best.cause, &mut explained, ground);
            explain_by_shaper(best.cause, &mut explained, ground);
            leave_what_is_small_enough(best.cause, &mut explained, ground);
            explained
        }
        None => ground.open.to_vec(),
    };
    let labels = ground.flows.iter().zip(&explained).filter(|(_, explained)| **explained);
    let best = ranking.first().map(|(_, best)| *best);
    let ranking: Vec<Ranked> = ranking.into_iter().map(|(ranked, _)| ranked).take(MOST_RANKED).collect();
    let problem = Problem {
        explains: labels.map(|(flow, _)| flow.label.clone()).collect(),
        alike: alike(&ranking),
        ranking,
        unknown: of_unknown,
    };
    let suffering = (0..explained.len()).filter(|number| explained[*number]).collect();
    (Standing { problem, hypotheses, suffering }, explained, best)
}

/// Where no cause that stands out covers all affected flows there are several problems: that some suffer elsewhere speaks against a
/// cause beside the others, and not beside "something else".
fn allow_several_problems(weighed: &mut [(&Candidate<'_>, Weighed<'_>)], unknown: f64) {
    let stands_out = |weighed: &&Weighed<'_>| weighed.score - weighed.elsewhere() > unknown + STANDS_OUT;
    let least = weighed.iter().map(|(_, weighed)| weighed).filter(stands_out).map(Weighed::elsewhere);
    let least = least.fold(f64::NEG_INFINITY, f64::max);
    if least.is_finite() {
        weighed.iter_mut().for_each(|(_, weighed)| weighed.score -= least);
    }
}

fn explained_flows<'g>(explained: &[bool], ground: &Ground<'g>) -> Vec<&'g Flow> {
    ground.flows.iter().zip(explained).filter(|(_, explained)| **explained).map(|(flow, _)| flow).collect()
}

/// Who counts packets counts acknowledgements as well, and who takes options out of connections does so whichever end sends the data: what
/// goes the other way is slow because of the same device.
fn explain_way_back(cause: &Cause, explained: &mut [bool], ground: &Ground<'_>) {
    let shown = OF_BOTH_WAYS.iter().filter_map(|(sign, state)| SignState::named(sign, state));
    let shown: Vec<SignState> =
        shown.filter(|seen| cause.shows.get(seen).is_some_and(|part| *part >= KNOWN_FOR)).collect();
    let shows = |flow: &Flow| flow.observations.iter().any(|seen| shown.contains(&seen.seen));
    let hit = explained_flows(explained, ground);
    let is_back = |flow: &Flow| {
        let ends = |hit: &&&Flow| hit.sender == flow.receiver && hit.receiver == flow.sender;
        shows(flow) && hit.iter().any(|hit| ends(&hit) && shows(hit))
    };
    let back: Vec<usize> =
        (0..explained.len()).filter(|number| ground.open[*number] && is_back(&ground.flows[*number])).collect();
    back.into_iter().for_each(|number| explained[number] = true);
}

/// What a sending host lets out of datagrams it lets out of TCP: where both end at one rate, both wait for the same shaper.
fn explain_by_shaper(cause: &Cause, explained: &mut [bool], ground: &Ground<'_>) {
    if !SHAPED.contains(&cause.id.as_str()) {
        return;
    }
    let hit = explained_flows(explained, ground);
    let is_alike = |flow: &Flow, hit: &Flow| {
        let part = flow.goodput.share_of(hit.goodput).unwrap_or_default();
        flow.sender.host == hit.sender.host && flow.kind == FlowKind::Tcp && (0.7..1.1).contains(&part)
    };
    let also = |number: &usize| {
        let flow = &ground.flows[*number];
        ground.open[*number] && hit.iter().any(|hit| is_alike(flow, hit))
    };
    let also: Vec<usize> = (0..explained.len()).filter(also).collect();
    also.into_iter().for_each(|number| explained[number] = true);
}

/// Where large packets vanish, flows of clearly smaller ones than one that gets nothing through are not hit: what slows them is
/// something else.
fn leave_what_is_small_enough(cause: &Cause, explained: &mut [bool], ground: &Ground<'_>) {
    if !CLIPS.contains(&cause.id.as_str()) {
        return;
    }
    let hit = explained_flows(explained, ground);
    let is_small_enough = |flow: &Flow| {
        let is_clipped = |hit: &Flow| {
            flow.shape.has_smaller_packets(&hit.shape) && hit.goodput.bps() < flow.goodput.bps() / NEXT_TO_NOTHING
        };
        flow.kind != FlowKind::Echo
            && flow.complaint != Some(Complaint::Clipped)
            && hit.iter().any(|hit| hit.is_same_pair(flow) && is_clipped(hit))
    };
    let left: Vec<usize> =
        (0..explained.len()).filter(|number| explained[*number] && is_small_enough(&ground.flows[*number])).collect();
    left.into_iter().for_each(|number| explained[number] = false);
}

/// Gives the first name the probability with which names like it turned out to be right, and the others what that leaves.
fn calibrate(ranking: &mut [(Ranked, &Candidate<'_>)], unknown: &mut f64, ground: &Ground<'_>) {
    let Some(said) = ranking.first().map(|(best, _)| best.probability) else { return };
    let right = ground.calibration.right(said);
    let others = if said < 1.0 { (1.0 - right) / (1.0 - said) } else { 0.0 };
    for (number, (ranked, _)) in ranking.iter_mut().enumerate() {
        ranked.probability = if number == 0 { right } else { (ranked.probability * others).min(right) };
    }
    let named: f64 = ranking.iter().map(|(ranked, _)| ranked.probability).sum();
    *unknown = (1.0 - named).max(0.0);
}

/// A cause in one of the ways in which it is at work.
pub(crate) fn way<'c>(candidate: &Candidate<'c>) -> (&'c str, &'c str) {
    (&candidate.cause.id, &candidate.cause.title)
}

/// Of the ways in which a cause may be at work at a place, the likeliest stands for it.
fn keep_likeliest_ways<'x>(weighed: &mut Vec<(&'x Candidate<'_>, Weighed<'_>)>) {
    let several: BTreeSet<&str> = weighed
        .iter()
        .filter(|(candidate, _)| !candidate.cause.manners.is_empty())
        .map(|(candidate, _)| candidate.cause.id.as_str())
        .collect();
    let mut best: BTreeMap<(&str, &'x FaultLocation), f64> = BTreeMap::new();
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
    // Few causes are found so, and all of them by rules: what incidents taught of affected flows says nothing of these.
    let parts = parts(candidate, ground);
    let score = prior(candidate, 1.0) + parts.iter().map(|part| part.weight).sum::<f64>();
    let mut weighed = Weighed { score, parts };
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
    let place = vec![LikelyPlace { place: candidate.place.clone(), probability: 1.0 }];
    Some(Problem {
        explains: Vec::new(),
        ranking: vec![ranked(candidate.cause, place, probability, &weighed.parts)],
        unknown: 1.0 - probability,
        alike: None,
    })
}

fn ranked(cause: &Cause, places: Vec<LikelyPlace>, probability: f64, parts: &[Part<'_>]) -> Ranked {
    let mut grouped = grouped(parts);
    // What it cannot be without is told first, however usual that is where the cause is at work.
    let is_required = |says: &Says<'_>| matches!(says, Says::Sign(_, seen) if cause.requires.contains(&seen.seen));
    grouped.sort_by_key(|(weight, says, _)| !(*weight > TELLING && is_required(says)));
    let told = |of: &dyn Fn(f64) -> bool| {
        grouped
            .iter()
            .filter(|(weight, ..)| of(*weight))
            .take(MOST_TOLD)
            .map(|(_, says, more)| with_more(says, *more))
            .collect()
    };
    Ranked {
        cause: cause.id.clone(),
        title: cause.title.clone(),
        places,
        probability,
        speaks_for: told(&|weight| weight > TELLING),
        speaks_against: told(&|weight| weight < -TELLING),
        test: cause.test.clone(),
        fix: cause.fix.clone(),
        remedy: cause.remedy.clone(),
        verify: cause.verify.clone(),
    }
}

/// Parts that say the same of several flows as one: their weight together, the heaviest of them, and how many more there are.
fn grouped<'p>(parts: &'p [Part<'_>]) -> Vec<(f64, &'p Says<'p>, usize)> {
    let mut groups: BTreeMap<(usize, usize, bool), (f64, &Part<'_>, usize)> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        let (kind, which) = part.says.kind().unwrap_or((usize::MAX, number));
        let group = groups.entry((kind, which, part.weight > 0.0)).or_insert((0.0, part, 0));
        if part.weight.abs() > group.1.weight.abs() {
            group.1 = part;
        }
        (group.0, group.2) = (group.0 + part.weight, group.2 + 1);
    }
    let mut groups: Vec<(f64, &Says<'_>, usize)> =
        groups.into_values().map(|(weight, part, count)| (weight, &part.says, count - 1)).collect();
    groups.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    groups
}

fn with_more(says: &Says<'_>, more: usize) -> String {
    match more {
        0 => says.to_string(),
        1 => format!("{says}; 1 flow more alike"),
        more => format!("{says}; {more} flows more alike"),
    }
}

/// The odds, as a logarithm, against a cause that shows in no flow.
const ALONE: f64 = 1.0;
/// From this probability on a cause stands by itself.
const NAMED: f64 = 0.5;
/// By so much, as a logarithm, a cause stands out from something else.
const STANDS_OUT: f64 = 1.0;
/// With so much probability a cause is a second problem of flows that the first explains.
const SECOND: f64 = 0.5;
/// The same where something that took much of the rate is left: there is a second problem, whichever it is.
const SECOND_OF_RATE: f64 = 0.35;
/// Causes that are a shaper or a queue of the sending host, found by its datagrams.
const SHAPED: [&str; 2] = ["udp-sender-drops", "udp-sender-held"];
/// Causes that take large packets and no others.
const CLIPS: [&str; 3] = ["mtu-mismatch", "mtu-black-hole", "mtu-overlay"];
/// A flow that has less than this part of what smaller packets attain gets nothing through.
const NEXT_TO_NOTHING: u64 = 50;
/// What a device does to a flow whichever way its data goes.
const OF_BOTH_WAYS: [(&str, &str); 2] = [("datagram-rate", "as-many-packets"), ("window-scale", "missing")];
/// From this likelihood on a cause is known for what it shows.
const KNOWN_FOR: f64 = 0.2;
/// More problems than this are one that was not understood.
const MOST_PROBLEMS: usize = 5;
const MOST_PLACES: usize = 5;
const MOST_RANKED: usize = 5;
const MOST_TOLD: usize = 5;
/// A part below this weight is not told.
const TELLING: f64 = 0.25;
