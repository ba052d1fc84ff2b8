//! What is said of logs as people paste them. The logs are made up, each as small as what it shows.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests.

mod beside;
mod contrasts;
mod figures;
mod hosts;
mod settings;
mod tools;
mod watches;

use std::time::Duration;

use diagnose::statements::{HostCounters, Statement, with_facts};
use import::round::{Source, UserFacts, of_files};
use model::round::Round;
use model::run::RunId;
use units::WallTime;

/// All that is said of a log.
fn statements(text: &str) -> Vec<Statement> {
    let import = import::read(text.as_bytes());
    let source = Source { name: "log".to_owned(), import, written: WallTime::from_unix_nanos(1 << 60), digest: 7 };
    let together = of_files(&[source], &UserFacts::default());
    let counters: Vec<HostCounters> =
        together.counters.into_iter().map(|(host, readings)| HostCounters { host, readings }).collect();
    let nothing = Round {
        format: Round::FORMAT,
        id: RunId::new(WallTime::from_unix_nanos(0), 0),
        title: String::new(),
        started: WallTime::from_unix_nanos(0),
        elapsed: Duration::ZERO,
        members: Vec::new(),
        segments: Vec::new(),
        tests: Vec::new(),
    };
    with_facts(&together.round.unwrap_or(nothing), &counters, &together.facts)
}

/// The faults among them.
fn faults(text: &str) -> Vec<String> {
    statements(text).into_iter().filter(|one| one.kind.is_fault()).map(|one| one.says).collect()
}

#[track_caller]
fn assert_fault(text: &str, parts: &[&str]) {
    let all = faults(text);
    let has = |says: &String| parts.iter().all(|part| says.contains(part));
    assert!(all.iter().any(has), "{parts:?}: {all:#?}");
}
