//! One diagnosis against what was planted.

use std::time::Duration;

use model::played::PlantedCause;
use serde::{Deserialize, Serialize};

use super::{Spot, Truth};
use crate::diagnosis::{FaultLocation, Problem, Ranked};

/// How a diagnosis stands beside the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Name of the scenario that was played.
    pub scenario: String,
    /// Where its chance came from.
    pub seed: u64,
    /// What was planted, and whether it was found. Nothing in a healthy network.
    pub planted: Vec<JudgedCause>,
    /// What else was named first: mistakes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub besides: Vec<Named>,
    /// Places that were blamed, and must not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub innocents_blamed: Vec<Spot>,
    /// How many causes each problem does not tell from each other, where it says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<usize>,
    /// Every cause that was given a probability.
    pub claims: Vec<Claim>,
    /// From the first test to the last fact.
    #[serde(rename = "measured_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub measured: Duration,
    /// From there to the diagnosis.
    #[serde(rename = "diagnosed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub diagnosed: Duration,
    /// In which ways the emulation was the limit, also when it was played again. The measurements are doubtful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_by_emulation: Vec<String>,
}

/// A planted cause, and what was made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedCause {
    /// Name in the catalogue of causes.
    pub cause: String,
    /// Where it was planted.
    pub at: Spot,
    /// Its rank in the problem that has it, 1 for the first; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// What that problem names first; absent where there is no problem at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<Named>,
    /// Whether the problem says that its first causes cannot be told from each other, and this is one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alike: bool,
    /// Whether the place named first is where it was planted, whatever the cause.
    pub is_place_right: bool,
    /// The largest part by which a flow's rate changes without it, 0 to 1; absent where it was not played without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_change: Option<f64>,
    /// Whether anything asked of flows is answered otherwise without it; absent where it was not played without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves_trace: Option<bool>,
}

/// A cause that was named first, with its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Name in the catalogue of causes.
    pub cause: String,
    /// Place that the diagnosis ranks first for the cause, in words; empty where it has none.
    pub place: String,
    /// How likely it was said to be.
    pub probability: f64,
}

/// A cause with the probability that it was given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// From 0 to 1, all places of the cause together.
    pub probability: f64,
    /// Whether it was planted.
    pub is_right: bool,
    /// Whether it was the first of its problem.
    pub is_first: bool,
}

impl Verdict {
    /// Whether nothing was planted.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.planted.is_empty()
    }

    /// Whether all that was planted is named, and nothing else.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.besides.is_empty() && self.planted.iter().all(|found| found.rank == Some(1))
    }
}

/// Compares what is said to be wrong with the truth. The name, the seed and what is known of the play are the caller's to fill in.
#[must_use]
pub fn judge(truth: &Truth, problems: &[Problem]) -> Verdict {
    let counted = problems.len().min(truth.causes.len());
    let assigned = assign(&truth.causes, &problems[..counted]);
    let planted = truth.causes.iter().zip(&assigned).map(|(cause, at)| found(cause, *at, problems)).collect();
    let used: Vec<usize> = assigned.iter().flatten().copied().collect();
    let is_mistake = |problem: &Problem| truth.causes.is_empty() || names_a_cause(problem);
    let besides = problems.iter().enumerate().filter(|(number, _)| !used.contains(number));
    let besides = besides.filter(|(_, problem)| is_mistake(problem));
    Verdict {
        scenario: String::new(),
        seed: 0,
        planted,
        besides: besides.filter_map(|(_, problem)| named(problem)).collect(),
        innocents_blamed: truth.innocent.iter().filter(|spot| is_blamed(spot, problems)).cloned().collect(),
        sets: problems.iter().filter_map(|problem| Some(problem.alike.as_ref()?.causes.len())).collect(),
        claims: problems.iter().flat_map(|problem| claims(problem, &truth.causes)).collect(),
        measured: Duration::ZERO,
        diagnosed: Duration::ZERO,
        limited_by_emulation: Vec::new(),
    }
}

/// For each cause the problem that it is looked for in: each problem once, the best fit first.
fn assign(causes: &[PlantedCause], problems: &[Problem]) -> Vec<Option<usize>> {
    let mut fits: Vec<(usize, bool, usize, usize)> = Vec::new();
    for (cause, planted) in causes.iter().enumerate() {
        for (number, problem) in problems.iter().enumerate() {
            let rank = rank(planted, problem).unwrap_or(usize::MAX);
            let elsewhere = problem.ranking.first().is_none_or(|first| !is_at(first, &spot(planted)));
            fits.push((rank, elsewhere, cause, number));
        }
    }
    fits.sort_unstable();
    let mut assigned = vec![None; causes.len()];
    for (_, _, cause, number) in fits {
        if assigned[cause].is_none() && !assigned.contains(&Some(number)) {
            assigned[cause] = Some(number);
        }
    }
    assigned
}

fn found(planted: &PlantedCause, at: Option<usize>, problems: &[Problem]) -> JudgedCause {
    let problem = at.map(|at| &problems[at]);
    let at = spot(planted);
    JudgedCause {
        cause: planted.cause.clone(),
        rank: problem.and_then(|problem| rank(planted, problem)),
        named: problem.and_then(named),
        is_alike: problem
            .and_then(|problem| problem.alike.as_ref())
            .is_some_and(|of| of.causes.contains(&planted.cause)),
        is_place_right: problem.and_then(|problem| problem.ranking.first()).is_some_and(|first| is_at(first, &at)),
        at,
        rate_change: None,
        leaves_trace: None,
    }
}

fn rank(planted: &PlantedCause, problem: &Problem) -> Option<usize> {
    problem.ranking.iter().position(|ranked| ranked.cause == planted.cause).map(|at| at + 1)
}

/// What a problem says: its first cause, or that it is something else.
fn named(problem: &Problem) -> Option<Named> {
    let first = problem.ranking.first()?;
    Some(Named {
        cause: first.cause.clone(),
        place: first.places.first().map(|likely| likely.place.to_string()).unwrap_or_default(),
        probability: first.probability,
    })
}

/// Whether a problem says what it is: not one of which something else is likelier than any cause. A healthy network has no problem at
/// all, whatever it says.
fn names_a_cause(problem: &Problem) -> bool {
    problem.ranking.first().is_some_and(|first| first.probability > problem.unknown)
}

fn spot(planted: &PlantedCause) -> Spot {
    Spot { place: planted.place.clone(), towards: planted.towards.clone() }
}

/// Whether the place that is named first is this one. Who plants in both directions is found in either.
fn is_at(ranked: &Ranked, spot: &Spot) -> bool {
    ranked.places.first().is_some_and(|likely| match &likely.place {
        FaultLocation::Host { name } => *name == spot.place,
        FaultLocation::Segment { name, towards } => {
            *name == spot.place && (spot.towards.is_none() || *towards == spot.towards)
        }
        FaultLocation::Path { .. } | FaultLocation::Balancer => false,
    })
}

/// Whether one of the problems is said to be there, more likely than not.
fn is_blamed(spot: &Spot, problems: &[Problem]) -> bool {
    let firsts = problems.iter().filter_map(|problem| problem.ranking.first());
    firsts.into_iter().any(|first| first.probability > 0.5 && is_at(first, spot))
}

fn claims<'a>(problem: &'a Problem, causes: &'a [PlantedCause]) -> impl Iterator<Item = Claim> + 'a {
    problem.ranking.iter().enumerate().map(|(number, ranked)| Claim {
        probability: ranked.probability,
        is_right: causes.iter().any(|planted| planted.cause == ranked.cause),
        is_first: number == 0,
    })
}
