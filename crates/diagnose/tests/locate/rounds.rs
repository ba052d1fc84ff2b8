//! From the tests of a round to cells.

use std::time::Duration;

use diagnose::locate::cell::{Cell, Layer, Quality, Symptom};
use diagnose::locate::element::FaultLocation;
use diagnose::locate::hops::{self, Drop};
use diagnose::locate::round::{layers, towards_hops};
use diagnose::locate::{Topology, locate};
use model::measurement::{DatagramCounts, DirectionTotal, Heading, Measurement, SteadyState};
use model::played::Finding;
use model::round::{Passage, Round, Segment, Tested};
use model::run::{Failure, FailureKind, Outcome, Run};
use model::spec::{Protocol, TestSpec};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use crate::world::{end, member};

const MBIT: u64 = 1_000_000;

fn total(heading: Heading, mbit: u64) -> DirectionTotal {
    DirectionTotal {
        heading,
        sent: None,
        received: None,
        elapsed: Duration::from_secs(10),
        goodput: DataRate::from_bps(mbit * MBIT),
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotReached,
    }
}

fn run(spec: &TestSpec, totals: Vec<DirectionTotal>) -> Run {
    let run = serde_json::json!({
        "format": Run::FORMAT,
        "id": "00000000000000000000000000",
        "started_unix_ns": 0,
        "role": "client",
        "command": [],
        "spec": spec,
        "local": {},
        "peer": { "target": "peer" },
        "outcome": { "state": "complete" },
    });
    let measurement = Measurement { totals, ..Measurement::default() };
    Run { measurement: Some(measurement), ..serde_json::from_value(run).unwrap() }
}

fn tcp(totals: Vec<DirectionTotal>) -> Finding {
    Finding::Run(Box::new(run(&TestSpec::default(), totals)))
}

fn tested(from: &str, to: &str, way: &[(&str, &str)], finding: Finding) -> Tested {
    let passage =
        |(segment, towards): &(&str, &str)| Passage { segment: (*segment).into(), towards: (*towards).into() };
    Tested {
        label: format!("{from} {to}"),
        from: end(from, None),
        to: end(to, None),
        began: Duration::ZERO,
        expected: Some(DataRate::from_bps(1000 * MBIT)),
        way: way.iter().map(passage).collect(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        samples: None,
        finding,
    }
}

fn round(tests: Vec<Tested>) -> Round {
    let segment = |name: &str, a: &str, b: &str| Segment {
        name: name.into(),
        between: [a.into(), b.into()],
        rate: None,
        interfaces: None,
    };
    Round {
        format: Round::FORMAT,
        id: "00000000000000000000000000".parse().unwrap(),
        title: "made".to_owned(),
        started: WallTime::from_unix_nanos(0),
        elapsed: Duration::from_secs(1),
        members: ["a", "r", "s", "b"].map(|name| member(name, &[])).into(),
        segments: vec![segment("left", "a", "r"), segment("middle", "r", "s"), segment("right", "s", "b")],
        tests,
    }
}

const WAY: [(&str, &str); 3] = [("left", "r"), ("middle", "s"), ("right", "b")];

fn layer(round: &Round, symptom: Symptom) -> Layer {
    layers(round).into_iter().find(|layer| layer.symptom == symptom).unwrap()
}

fn part(cell: &Cell) -> f64 {
    match cell.quality {
        Quality::Known { part, .. } => part,
        Quality::Unknown { ref reason } => panic!("{reason}"),
    }
}

/// Of a declared rate headers count as well: 1538 of 1448 bytes of a frame.
fn rounded(part: f64) -> f64 {
    (part * 1e3).round() / 1e3
}

#[test]
fn cells_go_by_who_sent_and_the_way_back_is_turned_round() {
    let both = tcp(vec![total(Heading::Outbound, 900), total(Heading::Inbound, 40)]);
    let layer = layer(&round(vec![tested("a", "b", &WAY, both)]), Symptom::Goodput);
    let [there, back] = layer.cells.as_slice() else { panic!("{layer:?}") };
    assert_eq!((there.from.host.as_str(), rounded(part(there))), ("a", 0.956));
    assert_eq!((back.from.host.as_str(), rounded(part(back))), ("b", 0.042));
    let way: Vec<String> = back.way.iter().map(ToString::to_string).collect();
    assert_eq!(way, ["right towards s", "middle towards r", "left towards a"]);
}

#[test]
fn a_way_back_that_is_known_is_taken() {
    let mut asked = tested("a", "b", &WAY, tcp(vec![total(Heading::Inbound, 40)]));
    let other = |(segment, towards): (&str, &str)| Passage { segment: segment.to_owned(), towards: towards.to_owned() };
    asked.way_back = [("right", "s"), ("detour", "r"), ("left", "a")].map(other).into();
    let layer = layer(&round(vec![asked]), Symptom::Goodput);
    let way: Vec<String> = layer.cells[0].way.iter().map(ToString::to_string).collect();
    assert_eq!(way, ["right towards s", "detour towards r", "left towards a"]);
}

#[test]
fn a_run_that_failed_is_unknown_with_its_reason() {
    let mut failed = run(&TestSpec::default(), Vec::new());
    failed.outcome = Outcome::Failed(Failure { kind: FailureKind::Unreachable, detail: "no route to host".to_owned() });
    let nothing = Finding::Nothing { detail: "linerate is not there".to_owned() };
    let tests = vec![tested("a", "b", &WAY, Finding::Run(Box::new(failed))), tested("b", "a", &[], nothing)];
    let layer = layer(&round(tests), Symptom::Goodput);
    let unknown = |reason: &str| Quality::Unknown { reason: reason.to_owned() };
    assert_eq!(layer.cells[0].quality, unknown("no route to host"));
    assert_eq!(layer.cells[1].quality, unknown("linerate is not there"));
}

#[test]
fn several_tests_of_a_pair_are_one_cell_of_their_median() {
    let tests = [900, 880, 90].map(|mbit| tested("a", "b", &WAY, tcp(vec![total(Heading::Outbound, mbit)])));
    let layer = layer(&round(tests.into()), Symptom::Goodput);
    assert_eq!(layer.cells.len(), 1);
    assert_eq!(rounded(part(&layer.cells[0])), 0.935);
}

#[test]
fn without_an_expectation_other_pairs_are_the_measure() {
    let rates = [("a", "b", 940), ("b", "a", 900), ("a", "r", 950), ("r", "a", 95), ("b", "r", 930)];
    let tests = rates.map(|(from, to, mbit)| Tested {
        expected: None,
        ..tested(from, to, &[], tcp(vec![total(Heading::Outbound, mbit)]))
    });
    let layer = layer(&round(tests.into()), Symptom::Goodput);
    let slow = layer.cells.iter().find(|cell| cell.from.host == "r").unwrap();
    // The same pair in the other direction shows most of what is possible.
    assert!((part(slow) - 95.0 / 950.0).abs() < 1e-9);
}

#[test]
fn a_rate_that_was_asked_for_is_what_a_test_should_do() {
    let spec = TestSpec { rate: Some(DataRate::from_bps(100 * MBIT)), ..TestSpec::default() };
    let run = run(&spec, vec![total(Heading::Outbound, 99)]);
    let layer = layer(&round(vec![tested("a", "b", &WAY, Finding::Run(Box::new(run)))]), Symptom::Goodput);
    assert_eq!(part(&layer.cells[0]), 0.99);
}

#[test]
fn lost_datagrams_are_a_layer_of_their_own_and_one_lost_of_many_is_harmless() {
    let udp = |lost: u64| {
        let spec = TestSpec { protocol: Protocol::Udp, ..TestSpec::default() };
        let counts = DatagramCounts {
            sent: PacketCount::new(10_000),
            received: PacketCount::new(10_000 - lost),
            lost: PacketCount::new(lost),
            lost_at_tail: PacketCount::ZERO,
            reordered: PacketCount::ZERO,
            duplicated: PacketCount::ZERO,
            dropped_at_socket: None,
            jitter: Duration::ZERO,
        };
        let total =
            DirectionTotal { sent: Some(ByteCount::new(1)), datagrams: Some(counts), ..total(Heading::Outbound, 100) };
        Finding::Run(Box::new(run(&spec, vec![total])))
    };
    let layer = layer(&round(vec![tested("a", "b", &WAY, udp(1)), tested("b", "a", &[], udp(700))]), Symptom::Loss);
    assert_eq!(part(&layer.cells[0]), 1.0);
    // Of 700 lost 674 are surely lost: the root of 1e-4 over 0.0674.
    assert!((part(&layer.cells[1]) - 0.0385).abs() < 1e-3);
}

#[test]
fn tests_towards_each_hop_say_between_which_two_the_rate_drops() {
    let rates = [("r", 1, 950), ("s", 2, 100), ("b", 3, 98)];
    let tests = rates.map(|(to, hops, mbit)| tested("a", to, &WAY[..hops], tcp(vec![total(Heading::Outbound, mbit)])));
    let round = round(tests.into());
    let layer = layer(&round, Symptom::Goodput);
    let verdict = hops::locate(&towards_hops(&round, &layer, &end("a", None), &end("b", None)));
    let Drop::Between { last_good, first_bad, .. } = &verdict.drop else { panic!("{verdict:?}") };
    assert_eq!((last_good.as_deref(), first_bad.as_str()), (Some("r"), "s"));
    // The locator of cells says the same of the same tests.
    let located = locate(&layer, Topology { members: &round.members, segments: &round.segments });
    println!("{located}");
    let middle = Passage { segment: "middle".to_owned(), towards: "s".to_owned() };
    assert_eq!(located.explanations[0].blamed[0].element.place, FaultLocation::Passage(middle));
}
