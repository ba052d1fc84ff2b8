//! What flows of a round are judged against.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use model::measurement::Heading;
use model::round::Round;
use model::target::TargetSource;
use predict::target::{Baselines, Targets};
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;

struct Test<'a> {
    from: &'a str,
    to: &'a str,
    mbps: u64,
    more: Value,
}

fn test<'a>(from: &'a str, to: &'a str, mbps: u64) -> Test<'a> {
    Test { from, to, mbps, more: json!({}) }
}

/// A round of these tests; `more` is laid over the run of each.
fn round(tests: &[Test<'_>]) -> Round {
    let tests: Vec<Value> = tests
        .iter()
        .map(|test| {
            let mut run = json!({
                "format": 1, "id": "00000000000000000000000000", "started_unix_ns": 0, "role": "client", "command": [],
                "spec": model::spec::TestSpec::default(), "local": { "name": test.from },
                "peer": { "target": test.to, "name": test.to }, "outcome": { "state": "complete" },
                "measurement": { "totals": [{
                    "heading": "outbound", "sent_bytes": 1, "received_bytes": 1, "elapsed_us": 10_000_000,
                    "goodput_bps": test.mbps * MBIT, "steady": { "state": "not_reached" } }],
                    "flows": [], "intervals": [], "telemetry": [] },
            });
            lay(&mut run, &test.more);
            json!({ "label": format!("{} to {}", test.from, test.to), "from": { "host": test.from },
                "to": { "host": test.to }, "began_us": 0, "finding": { "kind": "run", "result": run } })
        })
        .collect();
    serde_json::from_value(json!({
        "format": 1, "id": "00000000000000000000000000", "title": "made", "started_unix_ns": 0, "elapsed_us": 1,
        "members": [], "tests": tests,
    }))
    .unwrap()
}

fn lay(on: &mut Value, more: &Value) {
    match (on, more) {
        (Value::Object(on), Value::Object(more)) => {
            more.iter().for_each(|(key, value)| lay(on.entry(key.clone()).or_insert(Value::Null), value));
        }
        (on, more) => *on = more.clone(),
    }
}

fn target(round: &Round, test: usize) -> Result<(TargetSource, u64), String> {
    let targets = Targets::of(round);
    let target = targets.get(test, Heading::Outbound).map_err(|why| why.reason)?;
    Ok((target.source, target.rate.bps() / MBIT))
}

#[test]
fn a_pair_alone_is_not_judged_and_says_what_would_help() {
    let why = target(&round(&[test("a", "b", 900)]), 0).unwrap_err();
    assert!(why.contains("none is declared") && why.contains("--expect RATE"), "{why}");
    // Two directions that are equally fast say nothing for each other.
    assert!(target(&round(&[test("a", "b", 900), test("b", "a", 890)]), 0).is_err());
}

#[test]
fn a_direction_is_judged_by_the_other_one_that_is_far_faster() {
    let round = round(&[test("a", "b", 90), test("b", "a", 900)]);
    assert_eq!(target(&round, 0), Ok((TargetSource::SamePair, 900)));
    assert!(target(&round, 1).is_err());
}

#[test]
fn one_port_at_a_tenth_of_three_hosts_is_seen_in_both_directions() {
    let round = round(&[
        test("a", "b", 940),
        test("b", "a", 935),
        test("a", "c", 94),
        test("c", "a", 93),
        test("b", "c", 94),
        test("c", "b", 92),
    ]);
    for slow in 2..6 {
        let (source, mbps) = target(&round, slow).unwrap();
        assert_eq!((source, mbps > 900), (TargetSource::ComparablePairs, true), "{slow}: {mbps}");
    }
    assert!(target(&round, 0).unwrap().1 < 1000);
}

#[test]
fn a_path_over_a_long_distance_is_not_held_against_a_short_one() {
    let rtt =
        |micros: u64| json!({ "measurement": { "latency": { "idle": { "sent": 5, "lost": 0, "min_us": micros } } } });
    let local = |from, to| Test { more: rtt(200), ..test(from, to, 9_000) };
    let far = |from, to, mbps| Test { more: rtt(190_000), ..test(from, to, mbps) };
    let round = round(&[
        local("a", "b"),
        local("b", "a"),
        local("c", "d"),
        local("d", "c"),
        far("a", "c", 800),
        far("b", "d", 790),
        far("a", "d", 40),
        far("b", "c", 810),
    ]);
    assert_eq!(target(&round, 6).map(|(_, mbps)| mbps), Ok(810));
    assert_eq!(target(&round, 4).map(|(_, mbps)| mbps), Ok(810));
}

#[test]
fn what_is_declared_goes_before_all_and_a_request_for_less_before_that() {
    let declared = json!({ "declared_line_rate_bps": 500 * MBIT });
    let asked = json!({ "declared_line_rate_bps": 500 * MBIT, "spec": { "rate_bps": 100 * MBIT } });
    let round = round(&[
        Test { more: declared, ..test("a", "b", 100) },
        Test { more: asked, ..test("a", "b", 100) },
        test("b", "a", 900),
    ]);
    assert_eq!(target(&round, 0), Ok((TargetSource::Declared, 500)));
    assert_eq!(target(&round, 1), Ok((TargetSource::Requested, 100)));
}

#[test]
fn a_speed_that_a_driver_makes_up_is_none() {
    let of = |driver: &str| {
        let device = json!({ "name": "eth0", "driver": driver, "speed_bps": 10_000 * MBIT });
        let more = json!({ "local": { "device": device }, "peer": { "device": device } });
        target(&round(&[Test { more, ..test("a", "b", 900) }]), 0)
    };
    assert_eq!(of("mlx5_core"), Ok((TargetSource::LinkSpeed, 10_000)));
    for driver in ["veth", "virtio_net"] {
        assert!(of(driver).unwrap_err().contains("eth0 of a reports no link speed"));
    }
}

#[test]
fn a_baseline_goes_before_other_pairs() {
    let round = round(&[test("a", "b", 90), test("b", "a", 900)]);
    let (from, to) = (round.tests[0].from.clone(), round.tests[0].to.clone());
    let baselines = Baselines::from([((from, to), units::DataRate::from_bps(100 * MBIT))]);
    let targets = Targets::with(&round, &baselines);
    assert_eq!(targets.get(0, Heading::Outbound).unwrap().source, TargetSource::Baseline);
}
