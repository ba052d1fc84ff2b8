//! All that an archive is used for, and what of it was acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use archive::changes::ChangeFilter;
use archive::snapshots::SnapshotFilter;
use archive::{Archive, Filter};
use model::host::change::{ChangeEntry, ChangeSource};
use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Endpoint, Member, Round, Tested};
use model::run::RunId;
use model::series::RunSamples;
use units::WallTime;

use crate::runs;

/// What was acknowledged, which is to be there, and what is to be gone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Acknowledged {
    runs: BTreeMap<RunId, u64>,
    removed: BTreeSet<RunId>,
    rounds: Vec<u64>,
    changes: u64,
    snapshots: usize,
}

/// What is in the archive before the disk falls ill.
pub(crate) fn prepare(archive: &mut Archive) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    for number in 1..=4 {
        archive.store(&runs::at(number), &samples(number)).unwrap();
        acknowledged.runs.insert(runs::at(number).id, number);
    }
    archive.keep_round(&round(100)).unwrap();
    acknowledged.rounds.push(100);
    archive.append_change(&change(1)).unwrap();
    acknowledged.changes = 1;
    acknowledged
}

/// Opens an archive and uses it for everything, whatever fails meanwhile. Returns what was said of failures.
pub(crate) fn whole(path: &Path, acknowledged: &mut Acknowledged) -> Vec<String> {
    let mut said = Vec::new();
    let Some(mut archive) = heard(Archive::open(path), &mut said) else { return said };
    for number in [11, 12] {
        if heard(archive.store(&runs::at(number), &samples(number)), &mut said).is_some() {
            acknowledged.runs.insert(runs::at(number).id, number);
        }
    }
    heard(archive.list(&Filter::default()), &mut said);
    heard(archive.run(&runs::at(2).id), &mut said);
    if heard(archive.keep_round(&round(200)), &mut said).is_some() {
        acknowledged.rounds.push(200);
    }
    if heard(archive.append_change(&change(2)), &mut said).is_some() {
        acknowledged.changes += 1;
    }
    if heard(archive.keep_snapshot(&snapshot(), None), &mut said).is_some() {
        acknowledged.snapshots += 1;
    }
    let gone = runs::at(1).id;
    // Whether it is gone is open from here on, and certain once it was said.
    acknowledged.runs.remove(&gone);
    if heard(archive.remove(&[gone]), &mut said).is_some() {
        acknowledged.removed.insert(gone);
    }
    said
}

impl Acknowledged {
    /// The archive opens, what was acknowledged is in it, and all that is in it is what was stored.
    pub(crate) fn verify(&self, path: &Path, said: &str) {
        let archive = Archive::open(path).unwrap_or_else(|error| panic!("{}: {said}", chain(&error)));
        for (id, number) in &self.runs {
            let run = archive.run(id).unwrap_or_else(|error| panic!("{}: {said}", chain(&error)));
            assert_eq!(run, runs::at(*number), "{said}");
            assert_eq!(archive.samples(id).unwrap(), samples(*number), "{said}");
        }
        let listed = archive.list(&Filter::default()).unwrap();
        assert!(listed.iter().all(|run| !self.removed.contains(&run.id)), "a removed run is back: {said}");
        for second in &self.rounds {
            assert_eq!(archive.round(&round(*second).id).unwrap().tests.len(), 1, "{said}");
        }
        let changes = archive.changes(&ChangeFilter::default()).unwrap().len() as u64;
        assert!(changes >= self.changes, "{changes} of {} changes: {said}", self.changes);
        let snapshots = archive.snapshots(&SnapshotFilter::default()).unwrap().len();
        assert!(snapshots >= self.snapshots, "{said}");
        let checked = archive.check().unwrap();
        assert!(checked.damaged.is_empty() && checked.unsealed == 0, "{checked:?}: {said}");
    }
}

fn heard<T, E: Error>(result: Result<T, E>, said: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| said.push(chain(&error))).ok()
}

/// A few samples: how many there are changes nothing here.
fn samples(number: u64) -> RunSamples {
    let mut samples = runs::samples(number);
    for stream in &mut samples.streams {
        stream.at_us.truncate(ROWS);
        stream.columns.iter_mut().for_each(|column| column.values.truncate(ROWS));
    }
    samples
}

const ROWS: usize = 8;

/// An error as the program prints it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn round(second: u64) -> Round {
    let started = WallTime::from_unix_nanos((1_767_225_600 + second) * 1_000_000_000);
    let end = |host: &str| Endpoint { host: host.to_owned(), network: None };
    let run = runs::at(second + 1);
    let tested = Tested {
        label: "tcp".to_owned(),
        from: end("a"),
        to: end("b"),
        began: Duration::from_secs(1),
        expected: None,
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding: Finding::Run(Box::new(run)),
        samples: Some(Box::new(samples(second))),
    };
    Round {
        format: Round::FORMAT,
        id: RunId::new(started, u128::from(second)),
        title: "two hosts".to_owned(),
        started,
        elapsed: Duration::from_secs(20),
        members: ["a", "b"].map(Member::named).into(),
        segments: Vec::new(),
        tests: vec![tested],
    }
}

fn change(second: u64) -> ChangeEntry {
    let time = WallTime::from_unix_nanos((1_767_225_600 + second) * 1_000_000_000);
    ChangeEntry::new(time, "dtn1", "net.ipv4.tcp_rmem", ChangeSource::Watch)
}

fn snapshot() -> Snapshot {
    serde_json::from_str(include_str!("../../../audit/tests/snapshot.json")).unwrap()
}
