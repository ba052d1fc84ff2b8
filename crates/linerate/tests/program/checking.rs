//! `linerate check`: what a monitoring system reads and counts.

use crate::actors::linerate::{ArchiveFile, linerate};

#[test]
fn an_archive_without_results_is_unknown_and_never_ok() {
    let archive = ArchiveFile::new();
    archive.make();
    let ended = linerate(&["check", archive.arg()]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stdout.starts_with("LINERATE UNKNOWN - no results yet | incidents=0"), "{ended:?}");
}

#[test]
fn a_hub_that_does_not_answer_is_unknown_in_one_line() {
    let place = tempfile::TempDir::new().unwrap();
    let directory = place.path().join("hub");
    let directory = directory.to_str().unwrap();
    let made = linerate(&["hub", "init", directory, "--name", "127.0.0.1", "--listen", "127.0.0.1:1"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let ended = linerate(&["check", directory]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stdout.starts_with("LINERATE UNKNOWN - the hub does not answer"), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
}
