//! Diagnoses and truths made for the purpose.

use std::time::Duration;

use diagnose::diagnosis::{Diagnosis, FaultLocation, LikelyPlace, Problem, Ranked};
use diagnose::score::Truth;
use model::played::PlantedCause;

pub(crate) fn host(name: &str) -> FaultLocation {
    FaultLocation::Host { name: name.to_owned() }
}

pub(crate) fn segment(name: &str, towards: Option<&str>) -> FaultLocation {
    FaultLocation::Segment { name: name.to_owned(), towards: towards.map(str::to_owned) }
}

/// A problem whose ranking is this: causes with places and probabilities.
pub(crate) fn problem(ranking: &[(&str, FaultLocation, f64)]) -> Problem {
    let ranked = |(cause, place, probability): &(&str, FaultLocation, f64)| Ranked {
        cause: (*cause).to_owned(),
        title: String::new(),
        places: vec![LikelyPlace { place: place.clone(), probability: 1.0 }],
        probability: *probability,
        speaks_for: Vec::new(),
        speaks_against: Vec::new(),
        test: String::new(),
        fix: Vec::new(),
        remedy: String::new(),
        verify: String::new(),
    };
    Problem { explains: Vec::new(), ranking: ranking.iter().map(ranked).collect(), unknown: 0.01, alike: None }
}

pub(crate) fn diagnosis(problems: Vec<Problem>) -> Diagnosis {
    Diagnosis {
        verdict: String::new(),
        symptoms: Vec::new(),
        located: Vec::new(),
        judged: 0,
        not_judged: Vec::new(),
        problems,
        notes: Vec::new(),
    }
}

pub(crate) fn planted(cause: &str, place: &str, towards: Option<&str>) -> PlantedCause {
    PlantedCause {
        cause: cause.to_owned(),
        place: place.to_owned(),
        towards: towards.map(str::to_owned),
        since: Duration::ZERO,
    }
}

pub(crate) fn truth(causes: Vec<PlantedCause>) -> Truth {
    Truth { causes, innocent: Vec::new() }
}
