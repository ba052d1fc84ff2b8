//! Problems at one place that one cause explains: one fault is likelier than two at the same host or link.

use super::place::FaultLocation;
use super::problem::{Problem, Ranked, Standing};
use crate::causes::{Catalogue, PlaceKind};
use crate::signs::{Flow, SignState};

/// Makes one problem of two at the same host, or in both directions of a link, where a cause that both may have is likelier than
/// two causes.
pub(super) fn merge(problems: &mut Vec<Standing<'_>>, flows: &[Flow], catalogue: &Catalogue) {
    let mut number = 0;
    while number < problems.len() {
        let found = (number + 1..problems.len())
            .find_map(|later| Some((later, common(&problems[number].problem, &problems[later].problem, catalogue)?)));
        let Some((later, common)) = found else {
            number += 1;
            continue;
        };
        let other = problems.remove(later);
        join(&mut problems[number], other, common, flows);
    }
}

/// What two problems have in common.
struct Common {
    /// The likeliest cause of both, first in the order of what is likely.
    ranking: Vec<Ranked>,
    unknown: f64,
}

/// The causes that explain both, if the likeliest of them is likelier than a cause for each.
fn common(one: &Problem, other: &Problem, catalogue: &Catalogue) -> Option<Common> {
    let (first, second) = (one.ranking.first()?, other.ranking.first()?);
    let place = Place::of(first)?;
    if !place.is_beside(&Place::of(second)?) {
        return None;
    }
    let shared = one.ranking.iter().filter_map(|of_one| {
        let of_other = other.ranking.iter().find(|of_other| of_other.cause == of_one.cause)?;
        let is_there = Place::of(of_one)? == place && place.is_beside(&Place::of(of_other)?);
        let is_whole =
            catalogue.get(&of_one.cause).is_some_and(|cause| cause.often_both_ways || cause.place == PlaceKind::Host);
        let is_one = is_whole || of_one.cause == first.cause && of_one.cause == second.cause;
        let surer = if of_other.probability > of_one.probability { of_other } else { of_one };
        (is_there && is_one).then_some((of_one.probability * of_other.probability, surer))
    });
    let mut shared: Vec<(f64, &Ranked)> = shared.collect();
    shared.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (likeliest, _) = shared.first()?;
    let is_same = first.cause == second.cause;
    if !is_same && ONE_FAULT * likeliest <= first.probability * second.probability {
        return None;
    }
    // Beside each cause that both have stand all pairs of different ones.
    let in_both: f64 = shared.iter().map(|(both, _)| both).sum();
    let unknown = one.unknown * other.unknown;
    let all = ONE_FAULT * (in_both + unknown) + (1.0 - in_both - unknown).max(0.0);
    let ranking = shared.iter().map(|(both, surer)| {
        let probability = ONE_FAULT * both / all;
        Ranked {
            probability: if is_same { surer.probability.max(probability) } else { probability },
            ..(*surer).clone()
        }
    });
    let ranking: Vec<Ranked> = ranking.collect();
    let unknown = (1.0 - ranking.iter().map(|ranked| ranked.probability).sum::<f64>()).max(0.0);
    Some(Common { ranking, unknown })
}

/// Where a cause is, as far as two may be one there.
#[derive(PartialEq)]
enum Place<'a> {
    Host(&'a str),
    Direction { link: &'a str, towards: &'a str },
}

impl<'a> Place<'a> {
    fn of(ranked: &'a Ranked) -> Option<Self> {
        match &ranked.places.first()?.place {
            FaultLocation::Host { name } => Some(Self::Host(name)),
            FaultLocation::Segment { name, towards: Some(towards) } => Some(Self::Direction { link: name, towards }),
            _ => None,
        }
    }

    /// Whether it is the same host, or the other direction of the same link.
    fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(host), Self::Host(other)) => host == other,
            (Self::Direction { link, towards }, Self::Direction { link: other, towards: back }) => {
                link == other && towards != back
            }
            _ => false,
        }
    }
}

fn join<'c>(problem: &mut Standing<'c>, other: Standing<'c>, common: Common, flows: &[Flow]) {
    // What a device strips from a connection is missing in both directions of its data: that says nothing of the device's own.
    let is_of_connections =
        |standing: &Standing<'_>| standing.suffering.iter().all(|number| lacks_window_scale(&flows[*number]));
    let keeps_direction = is_of_connections(problem) || is_of_connections(&other);
    problem.take_in(other);
    problem.problem.alike = super::alike::alike(&common.ranking);
    problem.problem.ranking = common.ranking;
    problem.problem.unknown = common.unknown;
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

/// How much likelier one fault at a place is than two that differ.
const ONE_FAULT: f64 = 10.0;
