//! What pages ask the database for: runs under way, results since a moment, histories of all series.

use std::time::Duration;

use hub::api::order::LeaseName;
use hub::api::record::{Record, RecordKind, RunResult};
use hub::server::directory::Directory;
use hub::store::Store;
use hub::store::open::open;
use hub::store::rows::{Arrival, Delivered, Judgement, JudgingClaim, Point, PointQuality, SeriesHistory};
use hub::store::turn::{Changes, TurnRequest};
use mesh::board::Rows;
use mesh::incident::{Metric, Series};
use mesh::run::{Priority, RequestNumber, RunId, RunRow, RunState};
use model::played::Finding;
use plan::task::Weight;
use tempfile::TempDir;
use units::WallTime;

use crate::backing;
use crate::running::settings;

/// A database of its own, as a hub has it.
fn store() -> (TempDir, Box<dyn Store>) {
    let place = TempDir::new().unwrap();
    let mut settings = settings();
    backing::prepare(&mut settings);
    let directory = Directory::at(place.path());
    directory.init(&settings, None).unwrap();
    let store = open(&directory, &settings).unwrap();
    (place, store)
}

const fn at(seconds: u64) -> WallTime {
    WallTime::from_unix_nanos((1_795_521_600 + seconds) * 1_000_000_000)
}

fn run(name: &str, due_s: u64, state: RunState) -> RunRow {
    RunRow {
        id: RunId(name.to_owned()),
        test: "tcp".to_owned(),
        group: "all".to_owned(),
        from: "a".to_owned(),
        // A name that looks like the state of another run is a name.
        to: "{\"is\":\"waiting\"}".to_owned(),
        agent: "a".to_owned(),
        priority: Priority::Periodic,
        weight: Weight::Heavy,
        not_before: at(due_s),
        deadline: at(due_s + 60),
        keep: Duration::from_secs(1),
        needs: Vec::new(),
        passes: Vec::new(),
        bytes: None,
        attempts: 0,
        state,
    }
}

#[test]
fn open_runs_are_those_that_agents_have_then_those_that_are_due_next_and_all_are_counted() {
    let (_place, store) = store();
    let request = RequestNumber { boots: 1, number: 7 };
    let mut runs: Vec<RunRow> = (0..40).map(|n| run(&format!("w{n}"), 1_000 - n, RunState::Waiting)).collect();
    runs.push(run("leased", 5_000, RunState::Leased { request, renewals: 0 }));
    runs.push(run("missing", 4_000, RunState::Missing { request }));
    runs.push(run("done", 1, RunState::Closed { reason: mesh::run::CloseReason::Cancelled }));
    let changes = Changes { rows: Rows { runs, ..Rows::default() }, ..Changes::default() };
    store.turn(TurnRequest::default()).unwrap().1.commit(changes).unwrap();
    let open = store.open_runs(5).unwrap();
    let names: Vec<&str> = open.rows.iter().map(|row| row.id.0.as_str()).collect();
    assert_eq!(names, ["missing", "leased", "w39", "w38", "w37"]);
    assert_eq!(open.all, 42, "what is over is not open");
    assert_eq!(store.open_runs(0).unwrap().rows, []);
}

fn result(number: u64) -> Arrival {
    let finding = Finding::Nothing { detail: number.to_string() };
    let content = serde_json::to_vec(&RunResult { began: at(number), finding }).unwrap();
    let lease = LeaseName { run: format!("tcp@all/a/b/{number}"), attempt: 1 };
    let record = Record::pack(format!("r{number}"), RecordKind::Result { lease }, &content, None).unwrap();
    let unpacked = record.unpack().unwrap();
    Arrival { record, unpacked }
}

#[test]
fn results_since_a_moment_come_in_their_order_and_no_more_than_asked_for() {
    let (_place, store) = store();
    for number in 0..6 {
        let snapshot = Record::pack(format!("s{number}"), RecordKind::Snapshot, b"{}", None).unwrap();
        let unpacked = snapshot.unpack().unwrap();
        let arrivals = vec![Arrival { record: snapshot, unpacked }, result(number)];
        let delivered = vec![Delivered { agent: "a".to_owned(), arrivals, at: at(100 * number) }];
        store.turn(TurnRequest::default()).unwrap().1.commit(Changes { delivered, ..Changes::default() }).unwrap();
    }
    let names = |since: u64, most: usize| -> Vec<String> {
        store.results_since(at(since), most).unwrap().into_iter().map(|record| record.run.unwrap()).collect()
    };
    assert_eq!(names(200, 2), ["tcp@all/a/b/2", "tcp@all/a/b/3"]);
    assert_eq!(names(401, 9), ["tcp@all/a/b/5"]);
    assert_eq!(names(9_000, 9), [""; 0]);
}

fn histories(store: &dyn Store, since: u64) -> Vec<SeriesHistory> {
    let mut found = Vec::new();
    store.histories(at(since), &mut |history| found.push(history)).unwrap();
    found
}

#[test]
fn histories_have_each_series_once_in_order_of_time_from_a_moment_on() {
    let (_place, store) = store();
    let series = |from: &str, metric: Metric| Series {
        from: from.to_owned(),
        to: "b".to_owned(),
        test: "tcp".to_owned(),
        family: None,
        metric,
    };
    let all = [series("a", Metric::Goodput), series("a", Metric::RttMin), series("c", Metric::Goodput)];
    let mut points = Vec::new();
    for second in [30_u64, 10, 20, 5] {
        for (place, series) in (0_u64..).zip(&all) {
            let good = if second == 20 { PointQuality::Poor } else { PointQuality::Good };
            let point = Point {
                series: series.clone(),
                at: at(second),
                value: second as f64,
                settled: None,
                good,
                record: 10 * second + place,
            };
            points.push(point);
        }
    }
    // Of hubs that share a database one judges.
    store.judging(JudgingClaim::TakeOver).unwrap();
    store.judged(Judgement { points, ..Judgement::default() }).unwrap();
    let mut found = histories(store.as_ref(), 10);
    found.sort_by(|one, other| one.series.cmp(&other.series));
    assert_eq!(found.iter().map(|one| one.series.as_ref().clone()).collect::<Vec<_>>(), all);
    for (place, history) in (0_u64..).zip(&found) {
        let results: Vec<_> = history.results.iter().map(|one| (one.at, one.value, one.good, one.record)).collect();
        let expected = [(10, PointQuality::Good), (20, PointQuality::Poor), (30, PointQuality::Good)];
        assert_eq!(results, expected.map(|(second, good)| (at(second), second as f64, good, 10 * second + place)));
    }
    assert_eq!(histories(store.as_ref(), 31), []);
}
