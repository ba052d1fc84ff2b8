//! Our choices against those of a real cmsd.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use gateways::cmsd::recorded::{Difference, Event, Recording};

fn recordings() -> Vec<(String, Recording)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/gateways");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let recorded = files.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    recorded
        .map(|path| (path.display().to_string(), Recording::read(&std::fs::read_to_string(path).unwrap()).unwrap()))
        .collect()
}

#[test]
fn every_recorded_open_goes_where_cmsd_sent_it() {
    let recordings = recordings();
    assert!(recordings.len() >= 4, "fuzz 10, 15, 20 with maxload, and round robin");
    for (name, recording) in recordings {
        let opens = recording.events.iter().filter(|event| matches!(event, Event::Open(_))).count();
        assert!(opens >= 300, "{name} has {opens} opens");
        assert_eq!(recording.differences(), [], "{name}");
    }
}

#[test]
fn another_fuzz_than_the_recorded_one_is_noticed() {
    let (_, mut recording) = recordings().into_iter().find(|(_, one)| one.selection.fuzz == 10).unwrap();
    recording.selection.fuzz = 15;
    let differences = recording.differences();
    assert!(differences.iter().any(|one| matches!(one, Difference::Choice { .. })), "{differences:?}");
}
