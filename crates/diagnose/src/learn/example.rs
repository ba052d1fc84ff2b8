//! One decision of a diagnosis, with the right answer: which cause at which place explains what is still open.

use std::collections::BTreeMap;

use super::case::LearningCase;
use crate::causes::Catalogue;
use crate::causes::weights::Evidence;
use crate::diagnosis::FaultLocation;
use crate::diagnosis::candidate::{Candidate, candidates};
use crate::diagnosis::explained_signs::ExplainedSigns;
use crate::diagnosis::rank::way;
use crate::diagnosis::weigh::{Ground, parts, prior};

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
    /// What excludes it, whatever the rest says.
    pub(super) fixed: f32,
    pub(super) is_right: bool,
}

/// The decisions of an incident, one for each fault that can be seen: what the right answer to one explains is not asked again.
pub(super) fn examples(case: &LearningCase, catalogue: &Catalogue) -> Vec<Example> {
    let all = candidates(&case.round, &case.flows, catalogue);
    let explaining: Vec<&Candidate<'_>> = all.iter().filter(|candidate| !candidate.cause.alone).collect();
    let mut open: Vec<bool> = case.flows.iter().map(crate::signs::Flow::is_bad).collect();
    let mut left: Vec<usize> = (0..case.planted.len()).collect();
    let mut told = vec![ExplainedSigns::default(); case.flows.len()];
    let mut explaining = explaining;
    let mut found = Vec::new();
    while open.contains(&true) && found.len() < MOST {
        let (example, best) = decision(case, catalogue, &explaining, &open, &told, &left);
        found.push(example);
        let Some(best) = best else { break };
        let hit: Vec<usize> = best.covers.iter().copied().filter(|number| open[*number]).collect();
        let common = case.severity.common_depth(&hit).unwrap_or_default();
        for number in hit {
            if case.severity.explains(common, number) {
                told[number].add(best.cause, &case.flows[number], catalogue.weights());
                open[number] = told[number].leaves_open(&case.flows[number]);
            }
        }
        explaining.retain(|candidate| candidate.cause.id != best.cause.id || !candidate.place.is_at(&best.place));
        left.retain(|number| !is_right(best, &case.planted[*number]));
    }
    found
}

fn decision<'c>(
    case: &LearningCase,
    catalogue: &Catalogue,
    explaining: &[&'c Candidate<'c>],
    open: &[bool],
    told: &[ExplainedSigns],
    left: &[usize],
) -> (Example, Option<&'c Candidate<'c>>) {
    let LearningCase { flows, findings, wires, severity, .. } = case;
    let weights = catalogue.weights();
    let mut ground = Ground { flows, open, told, findings, wires, severity, most: 0.0, weights, problem: 0 };
    ground.most = explaining.iter().map(|candidate| ground.gain(candidate)).fold(0.0, f64::max);
    let useful: Vec<&&Candidate<'c>> =
        explaining.iter().filter(|candidate| candidate.covers.iter().any(|number| open[*number])).collect();
    let mut places: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for candidate in &useful {
        *places.entry(way(candidate)).or_default() += candidate.weight;
    }
    let order: BTreeMap<&str, u16> = catalogue.all().iter().map(|cause| cause.id.as_str()).zip(0_u16..).collect();
    let mut options: Vec<(f64, Answer)> = Vec::with_capacity(useful.len());
    let mut best: Option<(f64, &'c Candidate<'c>)> = None;
    for candidate in useful {
        let (speaks, fixed) = speaking(candidate, places[&way(candidate)], &ground);
        let score = speaks.iter().map(|(_, weight)| f64::from(*weight)).sum::<f64>() + fixed;
        let is_right = left.iter().any(|number| is_right(candidate, &case.planted[*number]));
        if is_right && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, candidate));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a weight")]
        let fixed = fixed as f32;
        let cause = order.get(candidate.cause.id.as_str()).copied().unwrap_or_default();
        options.push((score, Answer { cause, speaks, fixed, is_right }));
    }
    // What nothing speaks for does not decide.
    options.sort_by(|a, b| b.1.is_right.cmp(&a.1.is_right).then(b.0.total_cmp(&a.0)));
    options.truncate(MOST_OPTIONS);
    let example =
        Example { options: options.into_iter().map(|(_, option)| option).collect(), is_unknown: best.is_none() };
    (example, best.map(|(_, candidate)| candidate))
}

fn speaking(candidate: &Candidate<'_>, places: f64, ground: &Ground<'_>) -> (Vec<(u16, f32)>, f64) {
    let mut sums = [0.0_f64; Evidence::COUNT];
    let mut fixed = 0.0;
    sums[Evidence::Prior.number()] = prior(candidate, places);
    for part in parts(candidate, ground) {
        match part.says.evidence(part.weight) {
            Some(evidence) => sums[evidence.number()] += part.weight,
            None => fixed += part.weight,
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a weight")]
    let speaks = (0_u16..).zip(sums).filter(|(_, sum)| sum.abs() > 1e-4).map(|(number, sum)| (number, sum as f32));
    (speaks.collect(), fixed)
}

/// Whether a candidate is what was planted. Where nobody knows which way packets took, the cause is all that can be known.
fn is_right(candidate: &Candidate<'_>, planted: &crate::causes::learn::PlantedCause) -> bool {
    let is_path = matches!(candidate.place, FaultLocation::Path { .. });
    candidate.cause.id == planted.cause && (is_path || candidate.place.is_at(&planted.place))
}

/// More problems than this are not asked for.
const MOST: usize = 3;
const MOST_OPTIONS: usize = 90;
