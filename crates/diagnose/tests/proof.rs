//! Whether something is fixed, told from a round before and one after.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::time::Duration;

use diagnose::proof::{Proof, Verdict, slow_tests};
use model::measurement::{DirectionTotal, Heading, Measurement, SteadyState};
use model::played::Finding;
use model::round::{Endpoint, Round, Tested};
use model::run::Run;
use model::spec::TestSpec;
use units::{DataRate, WallTime};

const MBIT: u64 = 1_000_000;

/// A test from one host to another that measured so many kbit/s, of 200 Mbit/s that it should.
fn tested(from: &str, to: &str, kbit: u64) -> Tested {
    let total = DirectionTotal {
        heading: Heading::Outbound,
        sent: None,
        received: None,
        elapsed: Duration::from_secs(2),
        goodput: DataRate::from_bps(kbit * 1_000),
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    let run = serde_json::json!({
        "format": Run::FORMAT,
        "id": "00000000000000000000000000",
        "started_unix_ns": 0,
        "role": "client",
        "command": [],
        "spec": TestSpec::default(),
        "local": {},
        "peer": { "target": "peer" },
        "outcome": { "state": "complete" },
    });
    let measurement = Measurement { totals: vec![total], ..Measurement::default() };
    let run = Run { measurement: Some(measurement), ..serde_json::from_value(run).unwrap() };
    let end = |host: &str| Endpoint { host: host.to_owned(), network: None };
    Tested {
        label: format!("{from} to {to}"),
        from: end(from),
        to: end(to),
        began: Duration::ZERO,
        expected: Some(DataRate::from_bps(200 * MBIT)),
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding: Finding::Run(Box::new(run)),
        samples: None,
    }
}

fn round(tests: Vec<Tested>) -> Round {
    Round {
        format: Round::FORMAT,
        id: "00000000000000000000000000".parse().unwrap(),
        title: "made".to_owned(),
        started: WallTime::from_unix_nanos(0),
        elapsed: Duration::from_secs(1),
        members: Vec::new(),
        segments: Vec::new(),
        tests,
    }
}

/// Three hosts that send to `x` so fast, and to `y` as they should.
fn mesh(towards_x: [u64; 4], towards_y: u64) -> Round {
    let senders = ["a", "b", "c", "d"].into_iter().zip(towards_x);
    let tests = senders.flat_map(|(from, kbit)| [tested(from, "x", kbit), tested(from, "y", towards_y + kbit % 97)]);
    round(tests.collect())
}

#[test]
fn what_was_slow_and_is_fast_is_mended() {
    let before = mesh([300, 200, 5, 250], 180_000);
    let after = mesh([170_000, 181_000, 176_000, 179_000], 180_000);
    let proof = Proof::of(&before, &after, 0.95);
    assert!(proof.is_fixed(), "{proof:?}");
    let suffered: Vec<String> = proof.those(true).map(|pair| format!("{} to {}", pair.from, pair.to)).collect();
    assert_eq!(suffered, ["a to x", "b to x", "c to x", "d to x"]);
    assert_eq!(proof.those(false).count(), 4);
    let change = proof.suffered.unwrap();
    assert!(change.before < 0.002 && change.after > 0.8, "{change:?}");
    assert!((change.p_two_sided - 2.0 / 70.0).abs() < 1e-12, "four before and four after: 2 of C(8, 4) orders");
}

#[test]
fn nothing_is_mended_by_noise_nor_at_the_cost_of_others() {
    let before = mesh([300, 200, 5, 250], 180_000);
    let same = Proof::of(&before, &mesh([280, 210, 260, 190], 180_000), 0.95);
    assert_eq!(same.suffered.unwrap().verdict, Verdict::Noise);
    let dearly = Proof::of(&before, &mesh([170_000, 181_000, 176_000, 179_000], 20_000), 0.95);
    assert_eq!((dearly.suffered.unwrap().verdict, dearly.spared.unwrap().verdict), (Verdict::Gain, Verdict::Loss));
    assert!(!same.is_fixed() && !dearly.is_fixed());
}

#[test]
fn what_only_one_round_has_tested_takes_no_part() {
    let before = round(vec![tested("a", "x", 300), tested("b", "x", 200)]);
    let after = round(vec![tested("b", "x", 180_000), tested("c", "x", 180_000)]);
    let proof = Proof::of(&before, &after, 0.95);
    assert_eq!(proof.pairs.len(), 1);
    assert_eq!(proof.pairs[0].medians(), Some((DataRate::from_bps(200_000), DataRate::from_bps(180 * MBIT))));
    assert_eq!(proof.suffered.unwrap().verdict, Verdict::Noise, "one test tells nothing");
    assert!(proof.spared.is_none());
    assert!(Proof::of(&after, &round(Vec::new()), 0.95).pairs.is_empty());
}

#[test]
fn slow_tests_are_those_of_slow_pairs() {
    assert_eq!(slow_tests(&mesh([300, 199_000, 5, 250], 180_000)), [0, 4, 6]);
}
