//! From scored sets of elements to an answer.

use std::collections::BTreeSet;

use model::round::Endpoint;

use super::Topology;
use super::candidate::Candidate;
use super::cell::{Layer, Pair};
use super::element::{Element, FaultLocation};
use super::evidence::Evidence;
use super::explanation::{Ambiguity, Blamed, Explanation, Located};
use super::search::{Search, Solution};
use super::separate::{self, Hypothesis};
use super::shape::{Ground, Part};

/// All that is known while an answer is made.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) layer: &'a Layer,
    pub(super) topology: Topology<'a>,
    pub(super) evidence: &'a Evidence,
    pub(super) ground: &'a Ground,
    pub(super) candidates: &'a [Candidate],
}

pub(super) fn explain(case: &Case<'_>, solutions: &[Solution]) -> Located {
    let chosen = chosen(case, solutions);
    // Scores of hundreds of bad cells leave the range of doubles, so all are taken relative to the best.
    let best = chosen.first().map_or(0.0, |solution| solution.score).max(0.0);
    let all: f64 = solutions.iter().map(|solution| (solution.score - best).exp()).sum::<f64>() + (-best).exp();
    let probability = |solution: &Solution| (solution.score - best).exp() / all;
    let explanations: Vec<Explanation> =
        chosen.iter().map(|solution| explanation(case, solution, probability(solution))).collect();
    let covered = explanations.first().map(|first| first.explained.as_slice()).unwrap_or_default();
    let bad = pairs(case, |cell| case.evidence.bad[cell]);
    Located {
        symptom: case.layer.symptom,
        known: case.evidence.len(),
        bad: bad.len(),
        unknown: case.layer.cells.len() - case.evidence.len(),
        ambiguity: ambiguity(case, &chosen, &probability),
        unexplained: bad.into_iter().filter(|pair| !covered.contains(pair)).collect(),
        explanations,
        notes: notes(case),
    }
}

/// The best set, and those others that a reader should know of.
fn chosen<'s>(case: &Case<'_>, solutions: &'s [Solution]) -> Vec<&'s Solution> {
    let Some(mut best) = solutions.first().filter(|best| best.score >= TELLING) else { return Vec::new() };
    // Votes by hops decide among sets that are equally good (007: the link with most votes is blamed first).
    let equals = solutions.iter().take_while(|other| best.score - other.score < EQUAL);
    if let Some(voted) = equals.max_by(|a, b| {
        let votes = |solution: &Solution| votes(case, solution).unwrap_or(0.0);
        votes(a).total_cmp(&votes(b)).then(a.score.total_cmp(&b.score))
    }) && votes(case, best).is_some()
    {
        best = voted;
    }
    let mut search = Search::new(case.evidence, case.candidates, case.ground);
    let mut necessary = |solution: &Solution| {
        solution.of.len() == 1
            || solution.of.iter().all(|out| {
                let rest = solution.of.iter().copied().filter(|candidate| candidate != out).collect();
                solution.fit - search.score(rest).fit > NEEDED
            })
    };
    let others = solutions.iter().filter(|other| {
        !best.of.iter().all(|candidate| other.of.contains(candidate))
            && (best.score - other.score < LIKELY || is_rival(case, best, other))
            && necessary(other)
    });
    std::iter::once(best).chain(others.take(MOST_EXPLANATIONS - 1)).collect()
}

/// Whether a set explains the cells as well as the best, with at most one element more.
///
/// A slow receiver is always as well explained by each kind of sender being slow towards it. That is worth a word where the
/// kinds are hosts or machines, which break one by one, and not where they are versions of something.
fn is_rival(case: &Case<'_>, best: &Solution, other: &Solution) -> bool {
    let breaks = |group| case.ground.group(group).is_some_and(|group| group.is_one_host() || group.is_machine());
    let splits_hairs = || {
        let shapes = other.of.iter().filter_map(|candidate| case.candidates[*candidate].shapes.first());
        shapes.map(|shape| shape.part).any(|part| match part {
            Part::Between { from, to } => !breaks(from) || !breaks(to),
            Part::Side { group, .. } => !breaks(group),
            _ => false,
        })
    };
    let (ours, theirs) = (best.of.len(), other.of.len());
    other.fit > best.fit - SAME_FIT && (theirs <= ours || theirs == ours + 1 && !splits_hairs())
}

fn explanation(case: &Case<'_>, solution: &Solution, probability: f64) -> Explanation {
    let mut covered = vec![false; case.evidence.len()];
    for cell in solution.of.iter().flat_map(|candidate| &case.candidates[*candidate].cells) {
        covered[*cell as usize] = true;
    }
    let mut blamed: Vec<(f64, Blamed)> = solution
        .of
        .iter()
        .zip(&solution.depth)
        .map(|(candidate, depth)| (*depth, blamed(case, &case.candidates[*candidate], *depth)))
        .collect();
    blamed.sort_by(|a, b| b.0.total_cmp(&a.0));
    Explanation {
        blamed: blamed.into_iter().map(|(_, blamed)| blamed).collect(),
        probability,
        explained: pairs(case, |cell| covered[cell] && case.evidence.bad[cell]),
        contradicting: pairs(case, |cell| covered[cell] && !case.evidence.bad[cell]),
        votes: votes(case, solution),
    }
}

fn blamed(case: &Case<'_>, candidate: &Candidate, depth: f64) -> Blamed {
    let mut names = candidate.shapes.iter().map(|shape| case.ground.name(*shape));
    let element = names.next().flatten().unwrap_or(Element { place: FaultLocation::Everything, network: None });
    let or = names.flatten().take(MOST_ALTERNATIVES).collect();
    let alias = candidate.shapes.first().map(|shape| case.ground.aliases(*shape)).unwrap_or_default();
    Blamed { element, passes: (-depth).exp(), alias, or }
}

/// The votes for the segments of a set: each bad cell gives each of the h segments on its way 1/h of a vote.
#[expect(clippy::cast_precision_loss, reason = "ways have few segments")]
fn votes(case: &Case<'_>, solution: &Solution) -> Option<f64> {
    let segments = solution.of.iter().map(|candidate| &case.candidates[*candidate]).filter(|candidate| {
        matches!(candidate.shapes.first().map(|shape| shape.part), Some(Part::Passage(_) | Part::Segment(_)))
    });
    let cells: BTreeSet<usize> = segments.flat_map(|segment| &segment.cells).map(|cell| *cell as usize).collect();
    let vote = |cell: usize| match case.layer.cells[case.evidence.cell[cell]].way.len() {
        0 => 0.0,
        hops => 1.0 / hops as f64,
    };
    let bad = cells.iter().filter(|cell| case.evidence.bad[**cell]);
    (!cells.is_empty()).then(|| bad.map(|cell| vote(*cell)).sum())
}

/// What the cells cannot tell from the best set: other elements on the way of the same cells, and other sets that explain
/// them as well.
fn ambiguity(case: &Case<'_>, chosen: &[&Solution], probability: &impl Fn(&Solution) -> f64) -> Option<Ambiguity> {
    let best = chosen.first()?;
    let first = |solution: &Solution| {
        let shapes = solution.of.iter().filter_map(|candidate| case.candidates[*candidate].shapes.first().copied());
        shapes.zip(solution.depth.iter().copied()).collect::<Vec<_>>()
    };
    let mut hypotheses = vec![Hypothesis { elements: first(best), probability: probability(best) }];
    for (at, candidate) in best.of.iter().enumerate() {
        for shape in case.candidates[*candidate].shapes.iter().skip(1).take(MOST_ALTERNATIVES) {
            let mut elements = first(best);
            elements[at].0 = *shape;
            hypotheses.push(Hypothesis { elements, probability: probability(best) });
        }
    }
    let rivals = chosen.iter().skip(1).filter(|other| is_rival(case, best, other));
    hypotheses.extend(rivals.map(|other| Hypothesis { elements: first(other), probability: probability(other) }));
    (hypotheses.len() > 1).then(|| Ambiguity {
        between: hypotheses.iter().map(|hypothesis| hypothesis.names(case.ground)).collect(),
        test: separate::best_test(case, &hypotheses),
    })
}

/// The known cells for which `keep` holds.
fn pairs(case: &Case<'_>, keep: impl Fn(usize) -> bool) -> Vec<Pair> {
    let end = Endpoint::clone;
    (0..case.evidence.len())
        .filter(|cell| keep(*cell))
        .map(|cell| &case.layer.cells[case.evidence.cell[cell]])
        .map(|cell| Pair { from: end(&cell.from), to: end(&cell.to) })
        .collect()
}

fn notes(case: &Case<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let without_way = case.layer.cells.iter().filter(|cell| cell.way.is_empty()).count();
    if !case.ground.passages.is_empty() && without_way > 0 {
        notes.push(format!("the way of {without_way} cells is not known, so no segment explains these"));
    }
    if case.ground.groups.left_out > 0 {
        let left_out = case.ground.groups.left_out;
        notes.push(format!("{left_out} values of attributes were left out, there are too many"));
    }
    if case.evidence.len() * 2 < case.layer.cells.len() {
        notes.push("less than half of the cells are known".to_owned());
    }
    notes
}

/// ln of the odds against a healthy network from which on something is blamed: 20 to 1.
const TELLING: f64 = 3.0;

/// Differences of scores that mean nothing.
const EQUAL: f64 = 0.1;

/// A set a hundred times less likely than the best is not told unless it explains the cells as well.
const LIKELY: f64 = 4.6;

/// How much less likely than under the best set the cells may be under one that "explains them as well".
const SAME_FIT: f64 = 2.0;

/// What each element of a set must add.
const NEEDED: f64 = 3.0;

const MOST_EXPLANATIONS: usize = 5;
const MOST_ALTERNATIVES: usize = 4;
