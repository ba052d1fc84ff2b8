//! Rounds are kept with their runs, listed, and found by the beginnings of their names.

use std::time::Duration;

use archive::Archive;
use archive::rounds::RoundError;
use archive::store::ReadError;
use model::played::Finding;
use model::round::{Endpoint, Member, Round, Tested};
use model::run::{Run, RunId};
use tempfile::TempDir;
use units::WallTime;

use crate::runs;

fn empty() -> (TempDir, Archive) {
    let directory = TempDir::new().unwrap();
    let archive = Archive::open(directory.path().join("archive.db")).unwrap();
    (directory, archive)
}

fn tested(finding: Finding, samples: Option<u64>) -> Tested {
    let end = |host: &str| Endpoint { host: host.to_owned(), network: None };
    Tested {
        label: "tcp".to_owned(),
        from: end("a"),
        to: end("b"),
        began: Duration::from_secs(1),
        expected: None,
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding,
        samples: samples.map(|seed| Box::new(runs::samples(seed))),
    }
}

fn flow(run: Run) -> Tested {
    let seed = run.id.to_string().bytes().map(u64::from).sum();
    tested(Finding::Run(Box::new(run)), Some(seed))
}

/// A round of this second with two runs and one test without a result; host b has ceased to take part.
fn round(second: u64) -> Round {
    let started = WallTime::from_unix_nanos((1_767_225_600 + second) * 1_000_000_000);
    let nothing = Finding::Nothing { detail: "b: cannot be reached".to_owned() };
    Round {
        format: Round::FORMAT,
        id: RunId::new(started, u128::from(second)),
        title: "two hosts".to_owned(),
        started,
        elapsed: Duration::from_secs(20),
        members: vec![
            Member::named("a"),
            Member { failure: Some("b: cannot be reached".to_owned()), ..Member::named("b") },
        ],
        segments: Vec::new(),
        tests: vec![flow(runs::at(second + 1)), flow(runs::failed(runs::at(second + 2))), tested(nothing, None)],
    }
}

fn json(round: &Round) -> serde_json::Value {
    serde_json::to_value(round).unwrap()
}

#[test]
fn a_round_comes_back_with_the_samples_of_its_runs_which_are_runs_as_any_other() {
    let (directory, mut archive) = empty();
    let round = round(100);
    archive.keep_round(&round).unwrap();
    drop(archive);
    let mut archive = Archive::open(directory.path().join("archive.db")).unwrap();
    assert_eq!(json(&archive.round(&round.id).unwrap()), json(&round));
    assert_eq!(archive.list(&archive::Filter::default()).unwrap().len(), 2);
    let Finding::Run(first) = &round.tests[0].finding else { panic!() };
    archive.remove(&[first.id]).unwrap();
    let left = archive.round(&round.id).unwrap();
    assert!(left.tests[0].samples.is_none() && left.tests[1].samples.is_some(), "what was removed is missing");
    assert!(matches!(archive.samples(&first.id), Err(ReadError::Unknown { .. })));
}

#[test]
fn runs_that_their_programs_have_kept_already_are_kept_once() {
    let (_directory, mut archive) = empty();
    let round = round(100);
    let (Finding::Run(run), Some(samples)) = (&round.tests[0].finding, &round.tests[0].samples) else { panic!() };
    archive.store(run, samples).unwrap();
    archive.keep_round(&round).unwrap();
    assert_eq!(archive.list(&archive::Filter::default()).unwrap().len(), 2);
}

#[test]
fn rounds_are_listed_newest_first_and_found_by_the_beginnings_of_their_names() {
    let (_directory, mut archive) = empty();
    assert!(matches!(archive.resolve_round("last"), Err(RoundError::Empty { .. })));
    let rounds = [round(100), round(5_000_000), round(200)];
    for round in &rounds {
        archive.keep_round(round).unwrap();
    }
    let listed = archive.rounds(2).unwrap();
    assert_eq!(listed.iter().map(|round| round.id).collect::<Vec<_>>(), [rounds[1].id, rounds[2].id]);
    let first = &listed[0];
    assert_eq!((first.title.as_str(), first.elapsed), ("two hosts", Duration::from_secs(20)));
    assert_eq!((first.hosts, first.hosts_failed, first.tests, first.tests_failed), (2, 1, 3, 2));
    assert_eq!(archive.resolve_round("last").unwrap(), rounds[1].id);
    let name = rounds[0].id.to_string();
    assert_eq!(archive.resolve_round(&name.to_lowercase()).unwrap(), rounds[0].id);
    assert!(matches!(archive.resolve_round(&name[..1]), Err(RoundError::Ambiguous { .. })));
    for unknown in ["", "7ZZZ", "*", "no-such"] {
        assert!(matches!(archive.resolve_round(unknown), Err(RoundError::Unknown { .. })), "{unknown}");
    }
}

#[test]
fn a_round_of_a_newer_program_is_refused() {
    let (_directory, mut archive) = empty();
    let newer = Round { format: Round::FORMAT + 1, ..round(100) };
    archive.keep_round(&newer).unwrap();
    assert!(matches!(archive.round(&newer.id), Err(RoundError::Newer { found, .. }) if found == Round::FORMAT + 1));
}
