//! Problems in both directions of one link: as a rule they are one, with one cause.

use super::{FaultLocation, Problem, Ranked, Standing};
use crate::causes::Catalogue;
use crate::signs::{Flow, SignState};

/// Makes one problem of two that are in both directions of a link, where they have the same cause, or one that a link has in both
/// directions as a rule is about as likely in each.
pub(super) fn merge(problems: &mut Vec<Standing<'_>>, flows: &[Flow], catalogue: &Catalogue) {
    let mut number = 0;
    while number < problems.len() {
        let found = (number + 1..problems.len())
            .find_map(|later| Some((later, common(&problems[number].problem, &problems[later].problem, catalogue)?)));
        if let Some((later, cause)) = found {
            let other = problems.remove(later);
            join(&mut problems[number], other, &cause, flows);
        } else {
            number += 1;
        }
    }
}

/// The one cause that explains both, by its name.
fn common(one: &Problem, other: &Problem, catalogue: &Catalogue) -> Option<String> {
    let (first, second) = (one.ranking.first()?, other.ranking.first()?);
    let (link, towards) = direction(first)?;
    let is_back = |ranked: &Ranked| direction(ranked).is_some_and(|(other, back)| other == link && back != towards);
    if !is_back(second) {
        return None;
    }
    if first.cause == second.cause {
        return Some(first.cause.clone());
    }
    // Two causes need two faults at one link; one that it has both ways needs one.
    let apart = first.probability * second.probability;
    let together = one.ranking.iter().filter_map(|of_one| {
        let of_other = other.ranking.iter().find(|of_other| of_other.cause == of_one.cause)?;
        let is_here = direction(of_one) == Some((link, towards)) && is_back(of_other);
        let is_usual = catalogue.get(&of_one.cause).is_some_and(|cause| cause.often_both_ways);
        (is_here && is_usual).then(|| (ONE_FAULT * of_one.probability * of_other.probability, &of_one.cause))
    });
    let (weight, cause) = together.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (weight > apart).then(|| cause.clone())
}

fn direction(ranked: &Ranked) -> Option<(&str, &str)> {
    match &ranked.places.first()?.place {
        FaultLocation::Segment { name, towards: Some(towards) } => Some((name, towards)),
        _ => None,
    }
}

/// What names the cause first, or more surely, stands for both.
fn join<'c>(problem: &mut Standing<'c>, mut other: Standing<'c>, cause: &str, flows: &[Flow]) {
    let names = |standing: &Standing<'_>| {
        let first = standing.problem.ranking.first().filter(|first| first.cause == cause);
        first.map_or(0.0, |first| first.probability)
    };
    // What a device strips from a connection is missing in both directions of its data: that says nothing of the device's own.
    let is_of_connections =
        |standing: &Standing<'_>| standing.suffering.iter().all(|number| lacks_window_scale(&flows[*number]));
    let keeps_direction = is_of_connections(problem) || is_of_connections(&other);
    if names(&other) > names(problem) && !keeps_direction {
        std::mem::swap(problem, &mut other);
    }
    problem.take_in(other);
    let first = problem.problem.ranking.first_mut().and_then(|first| first.places.first_mut());
    if let Some(FaultLocation::Segment { towards, .. }) = first.map(|likely| &mut likely.place)
        && !keeps_direction
    {
        *towards = None;
    }
}

fn lacks_window_scale(flow: &Flow) -> bool {
    let missing = SignState::named("window-scale", "missing");
    flow.observations.iter().any(|seen| Some(seen.seen) == missing)
}

/// How much likelier one fault is that a link has both ways than one in each direction.
const ONE_FAULT: f64 = 10.0;
