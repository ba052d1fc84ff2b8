//! One decision of a diagnosis, with the right answer: which cause at which place explains what is still open.

use std::collections::BTreeMap;

use super::case::LearningCase;
use super::table::Tables;
use crate::causes::Catalogue;
use crate::causes::weights::Evidence;
use crate::diagnosis::FaultLocation;
use crate::diagnosis::candidate::{Candidate, candidates};
use crate::diagnosis::comparable::ComparableFlows;
use crate::diagnosis::explained_signs::ExplainedSigns;
use crate::diagnosis::ground::Ground;
use crate::diagnosis::rank::way;
use crate::diagnosis::says::Says;
use crate::diagnosis::weigh::{parts, prior, seen};
use crate::signs::Coverage;

/// What could be said, and what is right.
#[derive(Debug, Clone)]
pub(super) struct Example {
    pub(super) options: Vec<Answer>,
    /// Whether no cause of the catalogue is right, but "something else".
    pub(super) is_unknown: bool,
}

/// A cause at a place.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// By the order of the catalogue.
    pub(super) cause: u16,
    /// What speaks for it by kinds of evidence: number and sum of weights.
    pub(super) speaks: Vec<(u16, f32)>,
    /// The states that were seen, of a cause with a table of its own: number and how far they count.
    pub(super) seen: Vec<(u16, f32)>,
    /// What excludes it, whatever the rest says.
    pub(super) fixed: f32,
    pub(super) is_right: bool,
}

/// The decisions of an incident, one for each fault that can be seen: what the right answer to one explains is not asked again.
pub(super) fn examples(case: &LearningCase, catalogue: &Catalogue, tables: &Tables) -> Vec<Example> {
    let all = candidates(&case.round, &case.flows, catalogue);
    let explaining: Vec<&Candidate<'_>> = all.iter().filter(|candidate| !candidate.cause.alone).collect();
    let mut open: Vec<bool> = case.flows.iter().map(crate::signs::Flow::is_bad).collect();
    let mut left: Vec<usize> = (0..case.planted.len()).collect();
    let mut told = vec![ExplainedSigns::default(); case.flows.len()];
    let mut explaining = explaining;
    let mut found = Vec::new();
    while open.contains(&true) && found.len() < MOST {
        let (example, best) = decision(case, Known { catalogue, tables }, &explaining, &open, &told, &left);
        found.push(example);
        let Some(best) = best else { break };
        let hit: Vec<usize> = best.covers.iter().copied().filter(|number| open[*number]).collect();
        for number in case.severity.explained(&hit) {
            told[number].add(&case.flows[number], best, catalogue.weights());
            open[number] = told[number].leaves_open(&case.flows[number]);
        }
        explaining.retain(|candidate| candidate.cause.id != best.cause.id || !candidate.place.is_at(&best.place));
        left.retain(|number| !is_right(best, &case.planted[*number]));
    }
    found
}

/// What is known before an incident is looked at.
#[derive(Clone, Copy)]
struct Known<'a> {
    catalogue: &'a Catalogue,
    tables: &'a Tables,
}

fn decision<'c>(
    case: &LearningCase,
    known: Known<'_>,
    explaining: &[&'c Candidate<'c>],
    open: &[bool],
    told: &[ExplainedSigns],
    left: &[usize],
) -> (Example, Option<&'c Candidate<'c>>) {
    let LearningCase { flows, findings, wires, severity, .. } = case;
    let Known { catalogue, tables } = known;
    let weights = catalogue.weights();
    // Names are weighed here, and nobody is told how sure they are.
    let calibration = weights.calibration(Coverage::Whole, 0);
    let mut ground = Ground {
        flows,
        open,
        told,
        findings,
        wires,
        severity,
        comparable: ComparableFlows::default(),
        most: 0.0,
        weights,
        calibration,
    };
    ground.most = explaining.iter().map(|candidate| ground.gain(candidate)).fold(0.0, f64::max);
    let is_answered = |candidate: &&&Candidate<'c>| {
        let mut covered = candidate.covers.iter().filter(|number| open[**number]);
        covered.any(|number| told[*number].is_answered_by(&flows[*number], candidate, weights))
    };
    let useful: Vec<&&Candidate<'c>> = explaining.iter().filter(is_answered).collect();
    let mut places: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for candidate in &useful {
        *places.entry(way(candidate)).or_default() += candidate.weight;
    }
    let order: BTreeMap<&str, u16> = catalogue.all().iter().map(|cause| cause.id.as_str()).zip(0_u16..).collect();
    let mut options: Vec<(f64, Answer)> = Vec::with_capacity(useful.len());
    let mut best: Option<(f64, &'c Candidate<'c>)> = None;
    for candidate in useful {
        let cause = order.get(candidate.cause.id.as_str()).copied().unwrap_or_default();
        // Of the ways in which a cause is at work the first has a table.
        let is_first = catalogue.get(&candidate.cause.id).is_some_and(|cause| cause.title == candidate.cause.title);
        let table = Some(tables).filter(|tables| is_first && tables.has(cause));
        let before = prior(candidate, places[&way(candidate)]);
        let answer = answer(candidate, &ground, &Start { cause, before, table });
        let is_right = left.iter().any(|number| is_right(candidate, &case.planted[*number]));
        let score = answer.1;
        if is_right && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, candidate));
        }
        options.push((score, Answer { is_right, ..answer.0 }));
    }
    // What nothing speaks for does not decide.
    options.sort_by(|a, b| b.1.is_right.cmp(&a.1.is_right).then(b.0.total_cmp(&a.0)));
    options.truncate(MOST_OPTIONS);
    let example =
        Example { options: options.into_iter().map(|(_, option)| option).collect(), is_unknown: best.is_none() };
    (example, best.map(|(_, candidate)| candidate))
}

/// A candidate before anything is looked at.
struct Start<'a> {
    /// By the order of the catalogue.
    cause: u16,
    /// How likely it is at its place, a logarithm.
    before: f64,
    /// Where its likelihoods are fitted.
    table: Option<&'a Tables>,
}

/// What speaks for a candidate, and the sum of it before anything is fitted.
fn answer(candidate: &Candidate<'_>, ground: &Ground<'_>, start: &Start<'_>) -> (Answer, f64) {
    let mut sums = [0.0_f64; Evidence::COUNT];
    let mut fixed = 0.0;
    sums[Evidence::Prior.number()] = start.before;
    let mut score = start.before;
    for part in parts(candidate, ground) {
        score += part.weight;
        match part.says.evidence(part.weight) {
            _ if start.table.is_some() && matches!(part.says, Says::Sign(..)) => {}
            Some(evidence) => sums[evidence.number()] += part.weight,
            None => fixed += part.weight,
        }
    }
    let mut states: BTreeMap<u16, f64> = BTreeMap::new();
    if let Some(table) = start.table {
        for seen in seen(candidate, ground) {
            let number = u16::try_from(table.number(seen.says)).unwrap_or(u16::MAX);
            *states.entry(number).or_default() += seen.counts;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a weight")]
    let short = |(number, sum): (u16, f64)| (number, sum as f32);
    let speaks = (0_u16..).zip(sums).filter(|(_, sum)| sum.abs() > 1e-4).map(short).collect();
    let seen = states.into_iter().map(short).collect();
    let (_, fixed) = short((0, fixed));
    (Answer { cause: start.cause, speaks, seen, fixed, is_right: false }, score)
}

/// Whether a candidate is what was planted. Where nobody knows which way packets took, the cause is all that can be known.
fn is_right(candidate: &Candidate<'_>, planted: &crate::causes::learn::PlantedCause) -> bool {
    let is_path = matches!(candidate.place, FaultLocation::Path { .. });
    candidate.cause.id == planted.cause && (is_path || candidate.place.is_at(&planted.place))
}

/// More problems than this are not asked for.
const MOST: usize = 3;
const MOST_OPTIONS: usize = 90;
