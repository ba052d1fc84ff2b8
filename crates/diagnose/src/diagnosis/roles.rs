//! Causes that a host has in either role, as sender and as receiver: those are one cause of the host.

use super::alike::alike;
use super::place::FaultLocation;
use super::problem::{Problem, Ranked, Standing};
use crate::causes::{Catalogue, Cause};
use crate::signs::{Flow, SignState};

/// Names what a host has in both roles, where its affected flows show the stops of both.
pub(super) fn unite(problems: &mut Vec<Standing<'_>>, flows: &[Flow], catalogue: &Catalogue) {
    for cause in catalogue.all().iter().filter(|cause| !cause.both_roles.is_empty()) {
        let mut number = 0;
        while number < problems.len() {
            if let Some(host) = host_of(&problems[number].problem, cause) {
                take_others(problems, number, &host, cause);
                if stops_in_both_roles(&problems[number].suffering, &host, flows) {
                    rename(&mut problems[number].problem, cause);
                }
            }
            number += 1;
        }
    }
}

/// The host of a problem whose likeliest cause is one of those.
fn host_of(problem: &Problem, cause: &Cause) -> Option<String> {
    let first = problem.ranking.first().filter(|first| cause.both_roles.contains(&first.cause))?;
    match &first.places.first()?.place {
        FaultLocation::Host { name } => Some(name.clone()),
        _ => None,
    }
}

/// A host that has them in two problems has one problem.
fn take_others(problems: &mut Vec<Standing<'_>>, number: usize, host: &str, cause: &Cause) {
    let is_its = |other: &mut Standing<'_>| host_of(&other.problem, cause).as_deref() == Some(host);
    let others: Vec<Standing<'_>> = problems.extract_if(number + 1.., is_its).collect();
    others.into_iter().for_each(|other| problems[number].take_in(other));
}

fn stops_in_both_roles(suffering: &[usize], host: &str, flows: &[Flow]) -> bool {
    let shows = |flow: &Flow, sign: &str| {
        let stops = SignState::named(sign, "with-stops");
        flow.observations.iter().any(|seen| Some(seen.seen) == stops)
    };
    let flows = || suffering.iter().map(|number| &flows[*number]);
    flows().any(|flow| flow.sender.host == host && shows(flow, "sender-runs"))
        && flows().any(|flow| flow.receiver.host == host && shows(flow, "receiver-runs"))
}

/// It is as likely as they are together.
fn rename(problem: &mut Problem, cause: &Cause) {
    let is_one = |ranked: &Ranked| ranked.cause == cause.id || cause.both_roles.contains(&ranked.cause);
    let probability: f64 =
        problem.ranking.iter().filter(|ranked| is_one(ranked)).map(|ranked| ranked.probability).sum();
    let Some(first) = problem.ranking.first().cloned() else { return };
    problem.ranking.retain(|ranked| !is_one(ranked));
    let named = Ranked {
        cause: cause.id.clone(),
        title: cause.title.clone(),
        probability: probability.min(1.0),
        test: cause.test.clone(),
        fix: cause.fix.clone(),
        remedy: cause.remedy.clone(),
        verify: cause.verify.clone(),
        ..first
    };
    problem.ranking.insert(0, named);
    problem.alike = alike(&problem.ranking);
}
