//! The change log: entries, notes, and what a watcher knows, together or not at all.

use archive::Archive;
use archive::changes::watched::{LockError, WatchedChanges, WatchedHost, WatchedKey};
use archive::changes::{ChangeError, ChangeFilter};
use model::host::change::{ActingProcess, Actor, ChangeEntry, ChangeNote, ChangeSource};
use tempfile::TempDir;
use units::WallTime;

fn archive() -> (TempDir, Archive) {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(folder.path().join("archive.db")).unwrap();
    (folder, archive)
}

fn entry(time: u64, host: &str, subject: Option<&str>, fact: &str) -> ChangeEntry {
    let mut entry = ChangeEntry::new(WallTime::from_unix_nanos(time), host, fact, ChangeSource::Watch);
    entry.subject = subject.map(str::to_owned);
    entry
}

fn note(text: &str) -> ChangeNote {
    let ticket = Some("NET-12".to_owned());
    ChangeNote { time: WallTime::from_unix_nanos(9), user: Some("ann".to_owned()), text: text.to_owned(), ticket }
}

#[test]
fn entries_keep_the_order_in_which_they_were_entered_whatever_the_clock_did() {
    let (_folder, mut archive) = archive();
    let mut first = entry(500, "dtn1", Some("eth0"), "feature.rx-gro-hw");
    first.actor =
        Actor::Process(ActingProcess { pid: 7, program: Some("/bin/x".to_owned()), ..ActingProcess::default() });
    first.notes.push(note("as agreed"));
    let second = entry(100, "dtn1", None, "net.ipv4.tcp_rmem");
    assert_eq!((archive.append_change(&first).unwrap(), archive.append_change(&second).unwrap()), (1, 2));
    archive.note_change(1, &note("and looked after")).unwrap();
    let all = archive.changes(&ChangeFilter::default()).unwrap();
    assert_eq!(all.iter().map(|logged| logged.number).collect::<Vec<_>>(), [1, 2]);
    first.notes.push(note("and looked after"));
    assert_eq!((&all[0].entry, &all[1].entry), (&first, &second));
    assert_eq!(archive.change(1).unwrap().entry, first);
    assert!(matches!(archive.note_change(3, &note("x")), Err(ChangeError::Unknown { number: 3, .. })));
}

#[test]
fn lists_are_filtered_by_host_time_and_name() {
    let (_folder, mut archive) = archive();
    let entries = [
        entry(1, "dtn1", Some("eth0"), "feature.rx-gro-hw"),
        entry(2, "dtn2", Some("eth0"), "feature.rx-gro"),
        entry(3, "dtn1", None, "net.ipv4.tcp_rmem"),
        entry(4, "dtn1", None, "odd[name]"),
    ];
    for entry in &entries {
        archive.append_change(entry).unwrap();
    }
    let numbers = |filter: ChangeFilter| -> Vec<u64> {
        archive.changes(&filter).unwrap().iter().map(|logged| logged.number).collect()
    };
    let fact = |text: &str| ChangeFilter { fact: Some(text.to_owned()), ..ChangeFilter::default() };
    assert_eq!(numbers(fact("GRO")), [1, 2]);
    assert_eq!(numbers(fact("*gro")), [2]);
    assert_eq!(numbers(fact("eth0")), [1, 2]);
    assert_eq!(numbers(fact("[name]")), [4]);
    assert_eq!(numbers(ChangeFilter { host: Some("dtn2".to_owned()), ..ChangeFilter::default() }), [2]);
    let since = Some(WallTime::from_unix_nanos(3));
    assert_eq!(numbers(ChangeFilter { since, ..ChangeFilter::default() }), [3, 4]);
    assert_eq!(numbers(ChangeFilter { until: since, limit: Some(2), ..ChangeFilter::default() }), [2, 3]);
}

fn key(name: &str) -> WatchedKey {
    WatchedKey { name: name.to_owned(), ..WatchedKey::default() }
}

#[test]
fn entries_and_what_is_known_are_kept_together() {
    let (folder, mut archive) = archive();
    let host = WatchedHost { name: "dtn1".to_owned(), boot: Some("b1".to_owned()) };
    assert_eq!(archive.watched("dtn1").unwrap(), None);
    let settings = vec![(key("a"), Some("1".to_owned())), (key("b"), Some("2".to_owned()))];
    let first = WatchedChanges { settings, checked: Some(WallTime::from_unix_nanos(5)), ..WatchedChanges::default() };
    archive.append_found(&host, &first).unwrap();
    let settings = vec![(key("a"), Some("3".to_owned())), (key("b"), None)];
    let second = WatchedChanges { entries: vec![entry(6, "dtn1", None, "a")], settings, checked: None };
    assert_eq!(archive.append_found(&host, &second).unwrap(), [1]);
    drop(archive);
    let archive = Archive::open(folder.path().join("archive.db")).unwrap();
    let watched = archive.watched("dtn1").unwrap().unwrap();
    assert_eq!(watched.settings, [(key("a"), "3".to_owned())].into());
    assert_eq!((watched.checked, watched.boot), (WallTime::from_unix_nanos(5), Some("b1".to_owned())));
    assert_eq!(archive.watched("dtn2").unwrap(), None);
}

#[test]
fn one_watcher_a_host_and_archive() {
    let (folder, archive) = archive();
    let lock = archive.lock_watch("dtn1").unwrap();
    let again = Archive::open(folder.path().join("archive.db")).unwrap();
    let error = again.lock_watch("dtn1").unwrap_err();
    assert!(matches!(&error, LockError::Taken { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    again.lock_watch("dtn2").unwrap();
    drop(lock);
    again.lock_watch("dtn1").unwrap();
}
