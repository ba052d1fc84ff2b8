//! What speaks for and against a cause at a gateway, or at the balancer.

use super::evidence::{Evidence, Observation};
use crate::causes::{Catalogue, Cause, PlaceKind};
use crate::diagnosis::{FaultLocation, LikelyPlace, Problem, Ranked};

/// A cause at a place, weighed.
struct Candidate<'e> {
    cause: &'e Cause,
    /// [`None`] is the balancer.
    gateway: Option<&'e str>,
    score: f64,
    parts: Vec<(f64, &'e Observation)>,
}

/// The problems that explain all symptoms that a cause of the catalogue can explain, the one that explains most first.
pub(super) fn problems(evidence: &Evidence, catalogue: &Catalogue) -> Vec<Problem> {
    let mut open: Vec<&Observation> = evidence.symptoms().collect();
    let mut problems = Vec::new();
    while !open.is_empty() && problems.len() < MOST_PROBLEMS {
        let mut candidates = candidates(evidence, catalogue, &open);
        candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
        let best = candidates.first().map_or_else(|| open.clone(), |best| explained(best, &open));
        // What explains other symptoms may be there as well, and does not compete.
        candidates.retain(|one| explained(one, &open).iter().any(|symptom| best.contains(symptom)));
        let most = candidates.first().map_or(UNKNOWN, |first| first.score.max(UNKNOWN));
        let odds = |score: f64| (score - most).exp();
        let all = candidates.iter().map(|one| odds(one.score)).sum::<f64>() + odds(UNKNOWN);
        let unknown = odds(UNKNOWN) / all;
        problems.push(Problem {
            explains: best.iter().map(|one| one.label()).collect(),
            ranking: ranking(&candidates, |score| odds(score) / all),
            unknown,
            alike: None,
        });
        open.retain(|one| !best.contains(one));
    }
    // What no cause explains comes last, however much of it there is.
    problems.sort_by_key(|problem| (is_open(problem), std::cmp::Reverse(problem.explains.len())));
    problems
}

fn is_open(problem: &Problem) -> bool {
    problem.ranking.first().is_none_or(|best| best.probability < problem.unknown)
}

/// Each cause where a symptom is that it shows.
fn candidates<'e>(evidence: &'e Evidence, catalogue: &'e Catalogue, open: &[&'e Observation]) -> Vec<Candidate<'e>> {
    let mut gateways: Vec<&str> = open.iter().filter_map(|one| one.gateway.as_deref()).collect();
    gateways.sort_unstable();
    gateways.dedup();
    let mut found = Vec::new();
    for cause in catalogue.all() {
        match cause.place {
            PlaceKind::Gateway => {
                found.extend(gateways.iter().map(|gateway| weighed(cause, Some(*gateway), evidence, open)));
            }
            PlaceKind::Balancer => found.push(weighed(cause, None, evidence, open)),
            _ => {}
        }
    }
    found.retain(|one| !explained(one, open).is_empty() && has_required(one));
    found
}

/// Whether its place shows what the cause cannot do without. Of flows much is not known for want of counters; here it is what a
/// cause is called by, so that without it nothing is named.
fn has_required(candidate: &Candidate<'_>) -> bool {
    let requires = &candidate.cause.requires;
    requires.is_empty() || candidate.parts.iter().any(|(_, one)| requires.contains(&one.seen))
}

/// The observations of its place, the symptoms among them as far as they are open. Places are not weighed against each other before
/// anything is seen: a gateway that shows no symptom is no candidate.
fn weighed<'e>(
    cause: &'e Cause,
    gateway: Option<&'e str>,
    evidence: &'e Evidence,
    open: &[&'e Observation],
) -> Candidate<'e> {
    let is_here = |one: &&Observation| one.gateway.as_deref() == gateway && (!one.is_symptom || open.contains(one));
    let weight = |one: &'e Observation| {
        let likelihood = cause.likelihood(one.seen);
        (SHARPNESS * (likelihood / one.seen.state().usual).ln().clamp(-MOST_WEIGHT, MOST_WEIGHT), one)
    };
    let mut parts: Vec<(f64, &Observation)> = evidence.observations.iter().filter(is_here).map(weight).collect();
    if gateway.is_none() {
        parts.extend(elsewhere(cause, open).into_iter().map(weight));
    }
    let score = cause.prior.ln() + parts.iter().map(|(weight, _)| weight).sum::<f64>();
    Candidate { cause, gateway, score, parts }
}

/// Symptoms of gateways that the balancer brings about: one of each kind, since the same fault shows at many.
fn elsewhere<'e>(cause: &Cause, open: &[&'e Observation]) -> Vec<&'e Observation> {
    let mut found: Vec<&Observation> = Vec::new();
    for one in open.iter().filter(|one| one.gateway.is_some() && cause.shows.contains_key(&one.seen)) {
        if found.iter().all(|other| other.seen != one.seen) {
            found.push(one);
        }
    }
    found
}

/// The open symptoms that a cause brings about at its place; the balancer brings them about at any gateway.
fn explained<'e>(candidate: &Candidate<'e>, open: &[&'e Observation]) -> Vec<&'e Observation> {
    let shows = |one: &&&Observation| {
        let is_here = candidate.gateway.is_none() || candidate.gateway == one.gateway.as_deref();
        is_here && candidate.cause.shows.get(&one.seen).is_some_and(|part| *part > one.seen.state().usual / 2.0)
    };
    open.iter().filter(shows).copied().collect()
}

/// By cause, each at its likeliest places.
fn ranking(candidates: &[Candidate<'_>], part: impl Fn(f64) -> f64) -> Vec<Ranked> {
    let mut causes: Vec<Vec<&Candidate<'_>>> = Vec::new();
    for candidate in candidates {
        match causes.iter_mut().find(|of| of[0].cause.id == candidate.cause.id) {
            Some(of) => of.push(candidate),
            None => causes.push(vec![candidate]),
        }
    }
    let mut ranking: Vec<Ranked> = causes.iter().map(|of| ranked(of, &part)).collect();
    ranking.sort_by(|one, other| other.probability.total_cmp(&one.probability));
    ranking.truncate(MOST_RANKED);
    ranking
}

/// A cause at its places, the likeliest first.
fn ranked(of: &[&Candidate<'_>], part: impl Fn(f64) -> f64) -> Ranked {
    let probability: f64 = of.iter().map(|one| part(one.score)).sum();
    let place = |one: &&Candidate<'_>| LikelyPlace {
        place: one.gateway.map_or(FaultLocation::Balancer, |name| FaultLocation::Host { name: name.to_owned() }),
        probability: part(one.score) / probability.max(f64::MIN_POSITIVE),
    };
    let (best, cause) = (of[0], of[0].cause);
    let mut parts: Vec<&(f64, &Observation)> = best.parts.iter().collect();
    parts.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    let told = |is_wanted: fn(f64) -> bool| {
        let wanted = parts.iter().filter(|(weight, _)| is_wanted(*weight)).take(MOST_TOLD);
        wanted.map(|(_, one)| one.says.clone()).collect()
    };
    Ranked {
        cause: cause.id.clone(),
        title: cause.title.clone(),
        places: of.iter().take(MOST_PLACES).map(place).collect(),
        probability,
        speaks_for: told(|weight| weight > TELLING),
        speaks_against: told(|weight| weight < -TELLING),
        test: cause.test.clone(),
        fix: cause.fix.clone(),
        remedy: cause.remedy.clone(),
        verify: cause.verify.clone(),
    }
}

/// The logarithm of what "something else" weighs: a cause that shows nothing unusual is no better.
const UNKNOWN: f64 = 0.0;
/// Observations of one gateway hang together: as much as signs of one flow before anything was learnt of those.
const SHARPNESS: f64 = 0.85;
const MOST_WEIGHT: f64 = 3.5;
/// A part below this weight is not told.
const TELLING: f64 = 0.25;
const MOST_PROBLEMS: usize = 8;
const MOST_PLACES: usize = 5;
const MOST_RANKED: usize = 5;
const MOST_TOLD: usize = 5;
