//! Results of perfSONAR, as its HTTP archiver posts them.

use std::time::Duration;

use hub::agent::connection::{Call, CallError, Connection};
use hub::api::Nothing;
use hub::api::archive::ArchiveReceipt;
use hub::api::mesh::{Pairs, PlanInfo, PlanText};
use hub::api::record::Verdict;
use hub::trust::token::Purpose;
use mesh::incident::Metric;
use serde_json::{Value, json};

use crate::running::Running;

const PATIENCE: Duration = Duration::from_secs(60);
const ARCHIVE: Call<'_> = Call { method: "POST", path: "/api/v1/perfsonar", patience: PATIENCE };
const PAIRS: Call<'_> = Call { method: "GET", path: "/api/v1/pairs", patience: PATIENCE };
/// How often a hub is asked for what it judges a moment later.
const MOST_ASKED: usize = 60_000;
/// As `linerate round convert` makes it of their template: nobody runs an agent there.
const PLAN: &str = r#"
title = "two toolkits"
[hosts.west]
address = "ps-west.example.org"
[hosts.east]
address = "2001:db8::2"
machine = "ps-east.example.org"
[groups.all]
mesh = ["west", "east"]
[[tests]]
kind = "tcp"
label = "throughput"
time = "10s"
[[tests]]
kind = "ping"
label = "rtt"
"#;

/// What a pScheduler posts, begun an hour ago.
fn posted(file: &str, hub: &Running) -> Value {
    let began = hub.hub.now().unix_seconds() - 3_600;
    let text = std::fs::read_to_string(format!(
        "{}/../../fuzz/corpus/perfsonar_result/{file}.json",
        env!("CARGO_MANIFEST_DIR")
    ));
    let mut document: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let began = jiff::Timestamp::from_second(i64::try_from(began).unwrap()).unwrap();
    document["run"]["start-time"] = json!(began.to_string());
    document
}

fn with_plan(hub: &Running) {
    let set = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
    let plan = PlanText { text: PLAN.to_owned() };
    let _: PlanInfo = hub.person(&hub.token(Purpose::Operate)).call(&set, &plan).unwrap();
}

/// The last values of all series, once there are so many.
fn series(person: &mut Connection, count: usize) -> Pairs {
    // A request takes a millisecond or more.
    for _ in 0..MOST_ASKED {
        let pairs: Pairs = person.call(&PAIRS, &Nothing {}).unwrap();
        if pairs.series.len() >= count {
            return pairs;
        }
    }
    panic!("there are no {count} series");
}

#[test]
fn results_of_an_existing_mesh_are_those_of_the_plan_and_each_is_stored_once() {
    let hub = Running::start();
    with_plan(&hub);
    let mut archiver = hub.person(&hub.token(Purpose::Archive));
    let throughput = posted("throughput", &hub);
    let receipt: ArchiveReceipt = archiver.call(&ARCHIVE, &throughput).unwrap();
    assert_eq!(receipt.verdict, Verdict::Stored);
    assert!(receipt.run.is_some_and(|run| run.starts_with("throughput@all/west/east/")));
    let again: ArchiveReceipt = archiver.call(&ARCHIVE, &throughput).unwrap();
    assert_eq!(again.verdict, Verdict::Duplicate);
    let receipt: ArchiveReceipt = archiver.call(&ARCHIVE, &posted("rtt", &hub)).unwrap();
    assert_eq!(receipt.verdict, Verdict::Stored);

    let pairs = series(&mut hub.person(&hub.token(Purpose::View)), 4);
    let last = |metric| {
        let found = pairs.series.iter().find(|info| info.series.metric == metric).unwrap();
        assert_eq!((found.series.from.as_str(), found.series.to.as_str()), ("west", "east"));
        found.last.as_ref().unwrap().value
    };
    // What the receiver counted, and not what the sender handed over.
    assert_eq!((last(Metric::Goodput), last(Metric::RttMin), last(Metric::Loss)), (9_292_000_000.0, 60_812.0, 0.2));
}

#[test]
fn what_the_plan_does_not_have_is_not_wanted_and_said_in_the_log() {
    let hub = Running::start();
    with_plan(&hub);
    let mut archiver = hub.person(&hub.token(Purpose::Archive));
    for file in ["mtu", "udp"] {
        let receipt: ArchiveReceipt = archiver.call(&ARCHIVE, &posted(file, &hub)).unwrap();
        assert_eq!(receipt, ArchiveReceipt { verdict: Verdict::Unwanted, run: None }, "{file}");
    }
    assert!(hub.log().contains("no test of kind mtu from ps-west.example.org"), "{}", hub.log());
    let mut early = posted("rtt", &hub);
    early["run"]["start-time"] = json!("2199-01-01T00:00:00Z");
    let refused = archiver.call::<ArchiveReceipt>(&ARCHIVE, &early);
    assert!(matches!(&refused, Err(CallError::Refused { .. })), "{refused:?}");
}

#[test]
fn token_to_archive_opens_nothing_else_and_no_other_opens_that() {
    let hub = Running::start();
    with_plan(&hub);
    let mut archiver = hub.person(&hub.token(Purpose::Archive));
    assert!(archiver.call::<Pairs>(&PAIRS, &Nothing {}).is_err());
    let document = posted("rtt", &hub);
    for purpose in [Purpose::View, Purpose::Operate, Purpose::Join] {
        assert!(hub.person(&hub.token(purpose)).call::<ArchiveReceipt>(&ARCHIVE, &document).is_err(), "{purpose:?}");
    }
    assert!(archiver.call::<ArchiveReceipt>(&ARCHIVE, &document).is_ok());
}
