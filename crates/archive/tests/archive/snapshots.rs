//! Snapshots are kept, found by host and time, and blessed.

use archive::Archive;
use archive::snapshots::find::Wanted;
use archive::snapshots::{SnapshotError, SnapshotFilter, SnapshotId};
use model::host::fact::{Fact, Missing, Source};
use model::host::snapshot::Snapshot;
use tempfile::TempDir;
use units::WallTime;

fn empty() -> (TempDir, Archive) {
    let directory = TempDir::new().unwrap();
    let archive = Archive::open(directory.path().join("archive.db")).unwrap();
    (directory, archive)
}

/// A real snapshot of a virtual machine, as if of this host at this second.
fn of(host: &str, second: u64) -> Snapshot {
    let text = include_str!("../../../audit/tests/snapshot.json");
    let mut snapshot: Snapshot = serde_json::from_str(text).unwrap();
    snapshot.machine.name = Fact::known(host.to_owned(), Source::file("test"));
    snapshot.taken = at(second);
    snapshot
}

fn at(second: u64) -> WallTime {
    WallTime::from_unix_nanos(second * 1_000_000_000)
}

fn host(name: &str) -> String {
    name.to_owned()
}

#[test]
fn a_snapshot_comes_back_as_it_was_and_is_kept_once() {
    let (directory, mut archive) = empty();
    let snapshot = of("dtn1", 5);
    let kept = archive.keep_snapshot(&snapshot, Some("before the upgrade")).unwrap();
    assert!(!kept.was_there);
    drop(archive);
    let mut archive = Archive::open(directory.path().join("archive.db")).unwrap();
    assert_eq!(archive.snapshot(kept.id).unwrap(), snapshot);
    let again = archive.keep_snapshot(&snapshot, None).unwrap();
    assert_eq!((again.id, again.was_there), (kept.id, true));
    let listed = archive.snapshots(&SnapshotFilter::default()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].host.as_str(), listed[0].label.as_deref()), ("dtn1", Some("before the upgrade")));
    assert_eq!(listed[0].kernel.as_deref(), Some("6.18.44-fc-v595"));
}

#[test]
fn a_snapshot_is_found_by_host_and_time() {
    let (_directory, mut archive) = empty();
    for (name, second) in [("dtn1", 10), ("dtn1", 30), ("dtn1", 20), ("dtn2", 40)] {
        archive.keep_snapshot(&of(name, second), None).unwrap();
    }
    let taken = |wanted: &Wanted| archive.find_snapshot(wanted).map(|summary| summary.taken);
    assert_eq!(taken(&Wanted::Latest { host: host("dtn1") }).unwrap(), at(30));
    assert_eq!(taken(&Wanted::At { host: host("dtn1"), time: at(29) }).unwrap(), at(20));
    assert_eq!(taken(&Wanted::At { host: host("dtn1"), time: at(20) }).unwrap(), at(20));
    assert_eq!(taken(&Wanted::Number(SnapshotId(4))).unwrap(), at(40));
    let nothing = taken(&Wanted::At { host: host("dtn1"), time: at(9) }).unwrap_err();
    assert!(nothing.to_string().starts_with("no snapshot that early of dtn1 in the archive "), "{nothing}");
    assert!(matches!(taken(&Wanted::Latest { host: host("dtn3") }), Err(SnapshotError::None { .. })));
    assert!(matches!(taken(&Wanted::Number(SnapshotId(9))), Err(SnapshotError::Unknown { .. })));
}

#[test]
fn one_snapshot_of_a_host_is_blessed_at_a_time() {
    let (_directory, mut archive) = empty();
    let [old, new, other] = [("dtn1", 10), ("dtn1", 20), ("dtn2", 5)]
        .map(|(name, second)| archive.keep_snapshot(&of(name, second), None).unwrap().id);
    let baseline = |archive: &Archive, name: &str| archive.find_snapshot(&Wanted::Baseline { host: host(name) });
    assert!(matches!(baseline(&archive, "dtn1"), Err(SnapshotError::None { what: "blessed snapshot", .. })));
    archive.bless(other, None, at(50)).unwrap();
    archive.bless(old, Some("commissioned"), at(50)).unwrap();
    assert_eq!(baseline(&archive, "dtn1").unwrap().label.as_deref(), Some("commissioned"));
    archive.bless(new, None, at(60)).unwrap();
    let found = baseline(&archive, "dtn1").unwrap();
    assert_eq!((found.id, found.blessed), (new, Some(at(60))));
    assert_eq!(baseline(&archive, "dtn2").unwrap().id, other);
    assert!(archive.unbless("dtn1").unwrap() && !archive.unbless("dtn1").unwrap());
    assert!(baseline(&archive, "dtn1").is_err());
    let unknown = archive.bless(SnapshotId(99), None, at(60)).unwrap_err();
    assert!(matches!(unknown, SnapshotError::Unknown { id: SnapshotId(99), .. }), "{unknown:?}");
}

#[test]
fn pruning_leaves_the_newest_of_each_host_and_what_is_blessed() {
    let (_directory, mut archive) = empty();
    for second in 1..=5 {
        archive.keep_snapshot(&of("dtn1", second), None).unwrap();
    }
    archive.keep_snapshot(&of("dtn2", 1), None).unwrap();
    archive.bless(SnapshotId(2), None, at(9)).unwrap();
    assert_eq!(archive.prune_snapshots(2).unwrap(), 2);
    let listed = archive.snapshots(&SnapshotFilter { host: Some(host("dtn1")), ..SnapshotFilter::default() }).unwrap();
    assert_eq!(listed.iter().map(|summary| summary.taken).collect::<Vec<_>>(), [at(5), at(4), at(2)]);
    assert_eq!(archive.snapshots(&SnapshotFilter { limit: Some(2), ..SnapshotFilter::default() }).unwrap().len(), 2);
    // Its number is not given out again.
    assert_eq!(archive.keep_snapshot(&of("dtn3", 1), None).unwrap().id, SnapshotId(7));
}

#[test]
fn a_snapshot_without_a_host_or_of_a_newer_format_is_refused() {
    let (_directory, mut archive) = empty();
    let mut nameless = of("x", 1);
    nameless.machine.name = Fact::missing(Missing::Absent, Source::file("test"));
    assert!(matches!(archive.keep_snapshot(&nameless, None), Err(SnapshotError::Nameless)));
    let mut newer = of("dtn1", 1);
    newer.format = Snapshot::FORMAT + 1;
    let id = archive.keep_snapshot(&newer, None).unwrap().id;
    let refused = archive.snapshot(id).unwrap_err();
    assert!(matches!(refused, SnapshotError::Newer { found, .. } if found == Snapshot::FORMAT + 1), "{refused:?}");
}
