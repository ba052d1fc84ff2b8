//! What is stored comes back; lists and names find it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use archive::list::Ended;
use archive::resolve::ResolveError;
use archive::store::{ReadError, StoreError};
use archive::{Archive, Filter};
use model::run::{Role, Run, RunId};
use model::series::RunSamples;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::runs;

fn empty() -> (TempDir, Archive) {
    let directory = TempDir::new().unwrap();
    let archive = Archive::open(directory.path().join("state/linerate/archive.db")).unwrap();
    (directory, archive)
}

#[test]
fn a_run_and_its_samples_come_back_after_reopening() {
    let (_directory, mut archive) = empty();
    let (run, samples) = (runs::at(1), runs::samples(1));
    archive.store(&run, &samples).unwrap();
    let path = archive.path().to_owned();
    drop(archive);
    let archive = Archive::open(path).unwrap();
    assert_eq!(archive.run(&run.id).unwrap(), run);
    assert_eq!(archive.samples(&run.id).unwrap(), samples);
}

#[test]
fn the_archive_is_private() {
    let (directory, mut archive) = empty();
    archive.store(&runs::at(1), &runs::samples(1)).unwrap();
    let mode = |path: &str| directory.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state"), 0o700);
    assert_eq!(mode("state/linerate"), 0o700);
    assert_eq!(mode("state/linerate/archive.db"), 0o600);
    assert_eq!(mode("state/linerate/archive.db-wal"), 0o600);
}

#[test]
fn a_run_is_stored_once() {
    let (_directory, mut archive) = empty();
    archive.store(&runs::at(1), &runs::samples(1)).unwrap();
    let again = archive.store(&runs::failed(runs::at(1)), &runs::samples(2)).unwrap_err();
    assert!(matches!(again, StoreError::AlreadyStored { id, .. } if id == runs::at(1).id), "{again:?}");
    assert_eq!(archive.run(&runs::at(1).id).unwrap(), runs::at(1));
    assert_eq!(archive.samples(&runs::at(1).id).unwrap(), runs::samples(1));
}

#[test]
fn lists_are_newest_first_and_filtered() {
    let (_directory, mut archive) = empty();
    let other_peer = {
        let mut run = runs::at(3);
        run.peer.target = "dtn3".to_owned();
        run
    };
    for run in [runs::at(2), runs::failed(runs::at(1)), other_peer, Run { role: Role::Server, ..runs::at(4) }] {
        archive.store(&run, &RunSamples::default()).unwrap();
    }
    let ids = |filter: Filter| archive.list(&filter).unwrap().iter().map(|run| run.id).collect::<Vec<_>>();
    let expected = |seconds: &[u64]| seconds.iter().map(|s| runs::at(*s).id).collect::<Vec<_>>();
    let all = Filter::default;
    assert_eq!(ids(all()), expected(&[4, 3, 2, 1]));
    assert_eq!(ids(Filter { limit: Some(2), ..all() }), expected(&[4, 3]));
    assert_eq!(ids(Filter { peer: Some("dtn3".to_owned()), ..all() }), expected(&[3]));
    assert_eq!(ids(Filter { since: Some(runs::at(3).started), ..all() }), expected(&[4, 3]));
    assert_eq!(ids(Filter { role: Some(Role::Server), ..all() }), expected(&[4]));
    assert_eq!(ids(Filter { ended: Some(Ended::Failed), ..all() }), expected(&[1]));
    assert_eq!(ids(Filter { ended: Some(Ended::Complete), ..all() }), expected(&[4, 3, 2]));
}

#[test]
fn a_summary_says_what_the_run_says() {
    let (_directory, mut archive) = empty();
    archive.store(&runs::at(1), &RunSamples::default()).unwrap();
    archive.store(&runs::failed(runs::at(2)), &RunSamples::default()).unwrap();
    let list = archive.list(&Filter::default()).unwrap();
    let (failed, complete) = (&list[0], &list[1]);
    assert_eq!(complete.goodput.unwrap().bps(), 9_410_000_000);
    assert_eq!((complete.started, complete.peer.as_str()), (runs::at(1).started, "dtn2"));
    assert_eq!(complete.outcome, runs::at(1).outcome);
    assert_eq!(failed.outcome, runs::failed(runs::at(2)).outcome);
    assert_eq!((failed.goodput, failed.retransmits), (None, None));
}

#[test]
fn a_prefix_names_a_run_if_it_is_the_only_one() {
    let (_directory, mut archive) = empty();
    assert!(matches!(archive.resolve("last"), Err(ResolveError::Empty { .. })));
    for seconds in [1, 100_000] {
        archive.store(&runs::at(seconds), &RunSamples::default()).unwrap();
    }
    let (first, second) = (runs::at(1).id, runs::at(100_000).id);
    let name = first.to_string();
    let shared = name.chars().zip(second.to_string().chars()).take_while(|(a, b)| a == b).count();
    assert_eq!(archive.resolve(&name).unwrap(), first);
    assert_eq!(archive.resolve(&name[..=shared].to_ascii_lowercase()).unwrap(), first);
    match archive.resolve(&name[..shared]) {
        Err(ResolveError::Ambiguous { candidates, .. }) => assert_eq!(candidates, [second, first]),
        other => panic!("{other:?}"),
    }
    for unknown in ["7ZZZ", "", "*", "01%", "0?"] {
        assert!(matches!(archive.resolve(unknown), Err(ResolveError::Unknown { .. })), "{unknown}");
    }
}

#[test]
fn the_last_run_is_the_newest_that_this_host_started() {
    let (_directory, mut archive) = empty();
    archive.store(&Run { role: Role::Server, ..runs::at(7) }, &RunSamples::default()).unwrap();
    assert_eq!(archive.resolve("last").unwrap(), runs::at(7).id);
    archive.store(&runs::at(5), &RunSamples::default()).unwrap();
    archive.store(&runs::at(6), &RunSamples::default()).unwrap();
    assert_eq!(archive.resolve("last").unwrap(), runs::at(6).id);
}

#[test]
fn removed_runs_are_gone_with_their_samples() {
    let (_directory, mut archive) = empty();
    for seconds in 0..3 {
        archive.store(&runs::at(seconds), &runs::samples(seconds)).unwrap();
    }
    let ids = [0, 2, 9].map(|seconds| runs::at(seconds).id);
    assert_eq!(archive.remove(&ids).unwrap(), 2);
    assert!(matches!(archive.run(&ids[0]), Err(ReadError::Unknown { .. })));
    assert!(matches!(archive.samples(&ids[0]), Err(ReadError::Unknown { .. })));
    assert_eq!(archive.samples(&runs::at(1).id).unwrap(), runs::samples(1));
}

#[test]
fn two_processes_may_write_in_turn() {
    let (_directory, mut one) = empty();
    let mut other = Archive::open(one.path()).unwrap();
    for seconds in 0..10 {
        let archive = if seconds % 2 == 0 { &mut one } else { &mut other };
        archive.store(&runs::at(seconds), &runs::samples(seconds)).unwrap();
    }
    assert_eq!(one.list(&Filter::default()).unwrap(), other.list(&Filter::default()).unwrap());
    assert_eq!(one.list(&Filter::default()).unwrap().len(), 10);
}

#[test]
fn many_may_open_a_new_archive_and_write_at_once() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive.db");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let mut archive = Archive::open(path).unwrap();
                for run in 0..5 {
                    archive.store(&runs::at(writer * 100 + run), &runs::samples(run)).unwrap();
                }
            });
        }
    });
    assert_eq!(Archive::open(&path).unwrap().list(&Filter::default()).unwrap().len(), 40);
}

/// What can happen to an archive.
#[derive(Debug, Clone)]
enum Action {
    Store(u64),
    Remove(Vec<u64>),
    Reopen,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (0_u64..12).prop_map(Action::Store),
        2 => prop::collection::vec(0_u64..12, 0..4).prop_map(Action::Remove),
        1 => Just(Action::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn an_archive_is_a_map(actions in prop::collection::vec(action(), 1..30)) {
        let (_directory, mut archive) = empty();
        let mut map: BTreeMap<RunId, u64> = BTreeMap::new();
        for action in actions {
            match action {
                Action::Store(seconds) => {
                    let stored = archive.store(&runs::at(seconds), &runs::samples(seconds)).is_ok();
                    prop_assert_eq!(stored, map.insert(runs::at(seconds).id, seconds).is_none());
                }
                Action::Remove(seconds) => {
                    let ids: Vec<_> = seconds.iter().map(|seconds| runs::at(*seconds).id).collect();
                    let removed = ids.iter().filter(|id| map.remove(id).is_some()).count();
                    prop_assert_eq!(archive.remove(&ids).unwrap(), removed);
                }
                Action::Reopen => archive = Archive::open(archive.path()).unwrap(),
            }
            let listed: Vec<_> = archive.list(&Filter::default()).unwrap().iter().map(|run| run.id).collect();
            prop_assert_eq!(listed, map.keys().rev().copied().collect::<Vec<_>>());
        }
        for (id, seconds) in &map {
            prop_assert_eq!(archive.run(id).unwrap(), runs::at(*seconds));
            prop_assert_eq!(archive.samples(id).unwrap(), runs::samples(*seconds));
        }
    }

    #[test]
    fn any_run_comes_back(run in runs::any_run(), samples in runs::any_samples()) {
        let (_directory, mut archive) = empty();
        archive.store(&run, &samples).unwrap();
        let id = run.id;
        prop_assert_eq!(archive.run(&id).unwrap(), run);
        prop_assert_eq!(archive.samples(&id).unwrap(), samples);
    }
}
