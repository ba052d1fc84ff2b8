//! No conclusion may contradict a line of its own text: over the library's plays, which have faults of nearly all causes, and over the
//! round that is kept.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::path::Path;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, FaultLocation, Problem, conclude, weigh};
use diagnose::signs::Flow;
use model::round::Round;
use path::Seed;
use scenario::library;

/// Scenarios that are played in a second or two, one for each kind of evidence.
const PLAYED: [&str; 10] = [
    "amlight-quiet",
    "duplex-mismatch",
    "healthy-lan",
    "mtu-black-hole",
    "policer",
    "random-loss-1e-3",
    "receiver-slow",
    "reordering",
    "sender-cpu",
    "udp-sender-drops",
];

#[test]
fn no_conclusion_contradicts_its_own_text() {
    for name in PLAYED {
        holds(name, &twin::play(&library::load(name).unwrap(), Seed(1)).round);
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rounds/nrao-overlay.json");
    holds("nrao-overlay", &serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap());
}

fn holds(name: &str, round: &Round) {
    let (catalogue, rules) = (Catalogue::built_in(), Rules::built_in());
    let weighing = weigh(round, catalogue, &rules);
    let flows = weighing.flows.clone();
    let diagnosis = conclude(round, weighing);
    of_verdict(name, &diagnosis);
    for problem in &diagnosis.problems {
        of_probabilities(name, problem);
        let explained: Vec<&Flow> =
            flows.iter().filter(|flow| flow.is_bad() && problem.explains.contains(&flow.label)).collect();
        of_observations(name, problem, &explained, catalogue);
        of_place(name, problem, &explained);
    }
}

/// "No problem found" stands beside no symptom, and what is named in the first sentence is what the list has first.
fn of_verdict(name: &str, diagnosis: &Diagnosis) {
    let says_well = diagnosis.verdict.starts_with("No problem found");
    assert!(!says_well || diagnosis.symptoms.is_empty(), "{name}: {}", diagnosis.verdict);
    assert!(!(says_well && diagnosis.judged == 0), "{name}: nothing was judged: {}", diagnosis.verdict);
    let Some(first) = diagnosis.problems.first().and_then(|problem| problem.ranking.first()) else { return };
    if first.probability >= 0.5 {
        assert!(diagnosis.verdict.contains(&first.cause), "{name}: {} is not in {}", first.cause, diagnosis.verdict);
    }
    assert!(!diagnosis.verdict.contains("(0 %"), "{name}: {}", diagnosis.verdict);
}

/// Probabilities fall, add up to no more than 1, and a set that is not told apart is the head of the list.
fn of_probabilities(name: &str, problem: &Problem) {
    let all: Vec<f64> = problem.ranking.iter().map(|ranked| ranked.probability).collect();
    assert!(all.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9), "{name}: {all:?}");
    assert!(all.iter().sum::<f64>() + problem.unknown <= 1.0 + 1e-6, "{name}: {all:?} and {}", problem.unknown);
    if let Some(alike) = &problem.alike {
        let head: Vec<&String> = problem.ranking.iter().take(alike.causes.len()).map(|ranked| &ranked.cause).collect();
        assert_eq!(head, alike.causes.iter().collect::<Vec<_>>(), "{name}");
        assert!((2..=3).contains(&alike.causes.len()), "{name}: {alike:?}");
        assert!(problem.ranking[0].probability < 0.75, "{name}: {alike:?}");
    }
}

/// A cause that is said with more than one half has what it requires among the observations, where that was looked at, and its windows and
/// buffers are not blamed where losses explain the rate, nor losses where there were none.
fn of_observations(name: &str, problem: &Problem, explained: &[&Flow], catalogue: &Catalogue) {
    let Some(first) = problem.ranking.first().filter(|first| first.probability > 0.5) else { return };
    let cause = catalogue.get(&first.cause).unwrap();
    if let Some(required) = cause.requires.first() {
        let seen = || explained.iter().flat_map(|flow| &flow.observations).map(|observation| observation.seen);
        let is_asked = seen().any(|seen| seen.sign == required.sign);
        let is_met = seen().any(|seen| cause.requires.contains(&seen));
        assert!(!is_asked || is_met, "{name}: {} without what it requires", first.cause);
    }
    let state = |sign: &str, state: &str| explained.iter().filter(|flow| flow.state(sign) == Some(state)).count();
    let sampled = explained.iter().filter(|flow| flow.state("limit").is_some()).count();
    if matches!(first.cause.as_str(), "receive-window-small" | "send-buffer-small") && sampled > 0 {
        assert!(state("limit", "loss") < sampled, "{name}: {} where losses were the limit of all", first.cause);
    }
    if matches!(first.cause.as_str(), "random-loss" | "loss-on-segment" | "dirty-fibre") {
        let lossless = state("loss", "none") == explained.len() && !explained.is_empty();
        assert!(!lossless, "{name}: {} where nothing was lost", first.cause);
    }
}

/// What is explained by a place passes it, where the path is known.
fn of_place(name: &str, problem: &Problem, explained: &[&Flow]) {
    let place = problem.ranking.first().and_then(|first| first.places.first()).map(|likely| &likely.place);
    let Some(FaultLocation::Segment { name: segment, .. }) = place else { return };
    let known: Vec<&&Flow> = explained.iter().filter(|flow| !flow.way.is_empty()).collect();
    let passes = |flow: &&&Flow| flow.way.iter().any(|passage| passage.segment == *segment);
    assert!(known.is_empty() || known.iter().any(passes), "{name}: nothing explained passes {segment}");
}
