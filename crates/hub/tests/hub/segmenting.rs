//! Samples of runs become segments: each run is in one of them, whatever happens meanwhile, and is found there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use hub::agent::connection::{Call, Connection};
use hub::api::mesh::PlanText;
use hub::api::order::LeaseName;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::pages::HubSource;
use hub::segments::target::SegmentTarget;
use hub::segments::{decode, samples};
use hub::server::counters::Event;
use hub::server::directory::{SegmentSettings, Settings};
use hub::store::rows::{RecordQuery, StoredRecord};
use hub::trust::token::Purpose;
use model::measurement::{End, Heading, Whose};
use model::played::Finding;
use model::run::RunId;
use model::series::field::Field;
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples, packed};
use model::spec::TestSpec;
use serde_json::json;
use tempfile::TempDir;
use units::WallTime;
use web::source::Source as _;

use crate::backing;
use crate::running::{Running, TwoHosts, settings};

const PATIENCE: Duration = Duration::from_secs(90);
const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
const SET_PLAN: Call<'_> = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
/// The start of a day.
const DAY: u64 = 1_798_156_800;
const PLAN: TwoHosts = TwoHosts { times: "light-every = \"1min\"", test: "kind = \"ping\"\nlabel = \"rtt\"" };

/// A hub with segments in this directory, closed as soon as there is a run, with one agent of two hosts.
fn hub(segments: &Path, home: &TempDir) -> Running {
    let close_after = Some(Duration::from_millis(1));
    let to = SegmentSettings::to(segments.to_str().unwrap().to_owned());
    let mut settings = Settings { segments: Some(SegmentSettings { close_after, ..to }), ..settings() };
    backing::prepare(&mut settings);
    let hub = Running::of(&settings);
    hub.join(home.path(), "a", hub.token(Purpose::Join)).unwrap();
    let mut person = hub.person(&hub.token(Purpose::Operate));
    person.call::<serde_json::Value>(&SET_PLAN, &PlanText { text: PLAN.text() }).unwrap();
    hub
}

fn sampled(second: u64) -> RunSamples {
    let values = |factor: u64| (0..20).map(|row| second + row * factor).collect();
    let fields = [(Field::AppBytes, 125_000), (Field::Rtt, 3)];
    let columns = fields.map(|(field, factor)| Column { field, values: values(factor) }).to_vec();
    let at_us: Vec<i64> = (0..20).map(|row| row * 50_000).collect();
    let stream = |end, whose| StreamSamples {
        stream: 1,
        heading: Heading::Outbound,
        end,
        whose,
        at_us: at_us.clone(),
        columns: columns.clone(),
    };
    RunSamples {
        streams: vec![stream(End::Sender, Whose::Local), stream(End::Receiver, Whose::Peer)],
        probes: ProbeSamples { sent_us: vec![-5, 7], rtt_us: vec![Some(100), None], there_us: vec![None, None] },
    }
}

fn result(second: u64) -> Record {
    let began = WallTime::from_unix_nanos(second * 1_000_000_000);
    let run = json!({
        "format": 1, "id": RunId::new(began, 1), "started_unix_ns": began, "role": "client", "command": ["linerate"],
        "spec": TestSpec::default(), "local": { "name": "a" }, "peer": { "target": "b" }, "outcome": { "state": "complete" },
    });
    let finding = Finding::Run(serde_json::from_value(run).unwrap());
    let content = serde_json::to_vec(&RunResult { began, finding }).unwrap();
    let lease = LeaseName { run: format!("rtt@all/a/b/{second}"), attempt: 1 };
    let samples = packed::pack(&sampled(second));
    Record::pack(format!("result-{lease}"), RecordKind::Result { lease }, &content, Some(&samples)).unwrap()
}

fn deliver(agent: &mut Connection, seconds: impl Iterator<Item = u64>) -> Vec<Verdict> {
    let records = seconds.map(result).collect();
    agent.call::<Receipt>(&RECORDS, &Delivery { records }).unwrap().verdicts
}

/// Waits until the samples of so many runs are in segments, and nothing waits.
fn wait(hub: &Running, runs: usize) {
    let until = Instant::now() + PATIENCE;
    let store = hub.hub.store.as_ref();
    let placed = || results(hub).iter().filter(|record| store.segment_of(record.key).unwrap().is_some()).count();
    while placed() < runs {
        assert!(Instant::now() < until, "{} of {runs}\n{}", placed(), hub.log());
        thread::park_timeout(Duration::from_millis(20));
    }
    assert!(store.waiting().unwrap().is_empty() && store.unwritten().unwrap().is_none());
}

fn results(hub: &Running) -> Vec<StoredRecord> {
    hub.hub.store.newest(RecordQuery { kind: "result", agent: None, since: WallTime::default(), most: 1_000 }).unwrap()
}

/// All files of a directory, but for drafts.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Asserts that each run that the hub knows is in one file, with the samples that it had.
fn assert_each_once(hub: &Running, folder: &Path) {
    let mut named = BTreeSet::new();
    let all: Vec<_> = files(folder).into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect();
    for record in results(hub) {
        let own = folder.join(hub.hub.store.segment_of(record.key).unwrap().unwrap());
        for (file, bytes) in &all {
            let found = decode::samples(bytes.clone().into(), record.key).unwrap();
            assert_eq!(found.is_some(), *file == own, "record {} in {}", record.key, file.display());
            if let Some(found) = found {
                let second = record.run.as_ref().unwrap().rsplit('/').next().unwrap().parse().unwrap();
                assert_eq!(found, sampled(second));
            }
        }
        named.insert(own);
    }
    assert_eq!(named.len(), all.len(), "a file that the hub does not know");
}

#[test]
fn each_run_is_in_one_segment_of_its_day_and_its_samples_are_found_there_when_the_database_has_forgotten_them() {
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let running = hub(folder.path(), &home);
    let mut agent = running.agent(home.path());
    // The last ten of one day and the first ten of the next.
    deliver(&mut agent, DAY - 10..DAY + 10);
    wait(&running, 20);
    deliver(&mut agent, DAY + 100..DAY + 103);
    wait(&running, 23);
    assert_each_once(&running, folder.path());
    let days: BTreeSet<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(days, BTreeSet::from(["day=2026-12-24".to_owned(), "day=2026-12-25".to_owned()]));

    let before = files(folder.path());
    let running = Running::open(running.stop());
    let again = deliver(&mut running.agent(home.path()), DAY - 10..DAY + 10);
    assert!(again.iter().all(|verdict| *verdict == Verdict::Duplicate));
    let store = &running.hub.store;
    while store.prune(WallTime::from_unix_nanos(u64::MAX / 2)).unwrap() {}
    let target = SegmentTarget::parse(folder.path().to_str().unwrap()).unwrap();
    for record in results(&running) {
        assert!(record.samples.is_none(), "the database has forgotten them");
        assert!(samples(store.as_ref(), Some(&target), &record).unwrap().is_some());
        let nowhere = samples(store.as_ref(), None, &record).unwrap_err().to_string();
        assert!(nowhere.contains("do not say where segments are"), "{nowhere}");
    }
    let pages = HubSource::new("hub".to_owned(), store.clone(), Some(target.into()));
    let began = WallTime::from_unix_nanos((DAY + 3) * 1_000_000_000);
    assert_eq!(*pages.run(RunId::new(began, 1)).unwrap().samples, sampled(DAY + 3));
    wait(&running, 23);
    assert_eq!(files(folder.path()), before, "nothing is written again");
    assert_each_once(&running, folder.path());
}

#[test]
fn segments_that_cannot_be_written_are_said_once_and_follow_later_while_the_hub_goes_on() {
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    // A file where the directory is to be.
    let place = folder.path().join("segments");
    fs::write(&place, "x").unwrap();
    let running = hub(&place, &home);
    let mut agent = running.agent(home.path());
    deliver(&mut agent, DAY..DAY + 5);
    let until = Instant::now() + PATIENCE;
    while running.hub.counters.get(Event::SegmentFailed) < 2 {
        assert!(Instant::now() < until, "{}", running.log());
        thread::park_timeout(Duration::from_millis(20));
    }
    assert!(deliver(&mut agent, DAY + 5..DAY + 9).iter().all(|verdict| *verdict == Verdict::Stored));
    assert!(results(&running).iter().all(|record| record.samples.is_some()));
    fs::remove_file(&place).unwrap();
    wait(&running, 9);
    assert_each_once(&running, &place);
    let log = running.log();
    assert_eq!(log.matches("Not a directory").count(), 1, "{log}");
    assert!(log.contains("samples stay in the database, and segments follow later"), "{log}");
}

#[test]
fn segment_that_was_closed_and_not_written_by_a_hub_that_died_is_written_once_by_the_next() {
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let place = folder.path().join("segments");
    fs::write(&place, "x").unwrap();
    let running = hub(&place, &home);
    deliver(&mut running.agent(home.path()), DAY..DAY + 5);
    let until = Instant::now() + PATIENCE;
    while running.hub.store.unwritten().unwrap().is_none() {
        assert!(Instant::now() < until, "{}", running.log());
        thread::park_timeout(Duration::from_millis(20));
    }
    let directory = running.stop();
    fs::remove_file(&place).unwrap();
    // It had got so far: whole and not said so, with a draft of another attempt.
    let running = Running::open(directory);
    wait(&running, 5);
    let whole = files(&place);
    let draft = whole[0].with_file_name(".x.parquet.1.draft");
    fs::write(&draft, "half").unwrap();
    deliver(&mut running.agent(home.path()), DAY + 5..DAY + 7);
    wait(&running, 7);
    fs::remove_file(draft).unwrap();
    assert_each_once(&running, &place);
}
