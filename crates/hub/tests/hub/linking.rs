//! Links to runs, which people keep in tickets for longer than a list is.

use std::sync::Arc;

use hub::api::order::LeaseName;
use hub::api::record::{Record, RecordKind, RunResult};
use hub::pages::HubSource;
use hub::store::Store;
use hub::store::rows::{Arrival, Delivered};
use hub::store::sqlite::Sqlite;
use hub::store::turn::{Changes, TurnRequest};
use model::played::Finding;
use model::run::{Run, RunId};
use serde_json::json;
use tempfile::TempDir;
use units::WallTime;
use web::source::Source;

const SECOND: u64 = 1_000_000_000;
/// 2026-11-24.
const NOON: u64 = 1_795_521_600 * SECOND;
/// More than a page lists, and than a page is looked for among.
const RUNS: u64 = 4_500;

fn run(number: u64) -> Run {
    let began = WallTime::from_unix_nanos(NOON + number * 60 * SECOND);
    serde_json::from_value(json!({
        "format": 1, "id": RunId::new(began, u128::from(number)), "started_unix_ns": began, "role": "client", "command": [],
        "spec": model::spec::TestSpec::default(), "local": { "name": "a" }, "peer": { "target": "b" },
        "outcome": { "state": "complete" },
    }))
    .unwrap()
}

/// Delivers runs, each a minute after the one before.
fn deliver(store: &Sqlite, numbers: std::ops::Range<u64>) {
    let delivered = numbers.map(|number| {
        let run = run(number);
        let (id, began) = (run.id, run.started);
        let result = RunResult { began, finding: Finding::Run(Box::new(run)) };
        let lease = LeaseName { run: format!("tcp@all/a/b/{number}"), attempt: 1 };
        let content = serde_json::to_vec(&result).unwrap();
        let record = Record::pack(id.to_string(), RecordKind::Result { lease }, &content, None).unwrap();
        let at = WallTime::from_unix_nanos(began.unix_nanos() + 12 * SECOND);
        Delivered { agent: "a".to_owned(), arrivals: vec![Arrival { unpacked: record.unpack().unwrap(), record }], at }
    });
    let changes = Changes { delivered: delivered.collect(), ..Changes::default() };
    store.turn(TurnRequest::default()).unwrap().1.commit(changes).unwrap();
}

#[test]
fn run_is_found_by_its_link_however_many_came_after_it() {
    let place = TempDir::new().unwrap();
    let store = Sqlite::open(&place.path().join("hub.db")).unwrap();
    deliver(&store, 0..RUNS);
    let source = HubSource::new("test".to_owned(), Arc::new(store), None);
    for number in [0, 1, RUNS / 2, RUNS - 1] {
        assert_eq!(source.run(run(number).id).unwrap().run.id, run(number).id, "{number}");
    }
    let unknown = source.run(RunId::new(WallTime::from_unix_nanos(NOON), 7)).unwrap_err();
    assert!(unknown.to_string().contains("that came after it began"), "{unknown}");
}

/// Names that hosts have of themselves may be one for all of them.
#[test]
fn runs_are_listed_by_the_hosts_of_the_plan() {
    let place = TempDir::new().unwrap();
    let store = Sqlite::open(&place.path().join("hub.db")).unwrap();
    deliver(&store, 0..1);
    let source = HubSource::new("test".to_owned(), Arc::new(store), None);
    let listed = source.runs(1).unwrap();
    let hosts = listed[0].hosts.clone().unwrap_or_else(|| panic!("{listed:?}"));
    assert_eq!((hosts.from.as_str(), hosts.to.as_str()), ("a", "b"));
}
