//! What one test by itself says, of a path of which nobody knows the segments.

use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, FaultLocation, diagnose};
use diagnose::waterfall::{
    self,
    line::{LineRate, LineRateSource},
};
use model::host::Device;
use model::measurement::{Flow as MeasuredFlow, Heading, Interval, Latency, RttSummary};
use model::played::Finding;
use model::round::Tested;
use model::run::Run;
use model::series::ProbeSamples;
use model::series::field::Field;
use model::spec::Direction;
use units::{ByteCount, DataRate, PacketCount};

use crate::world::{Tcp, round, tcp};

/// The diagnosis of one test, over segments that nobody knows.
fn alone(mut test: Tested) -> Diagnosis {
    test.way.clear();
    test.way_back.clear();
    diagnose(&round(vec![test]), Catalogue::built_in(), &Rules::built_in())
}

fn first(said: &Diagnosis) -> (&str, f64, &FaultLocation) {
    let problem = said.problems.first().unwrap_or_else(|| panic!("{said:?}"));
    let first = &problem.ranking[0];
    (&first.cause, first.probability, &first.places[0].place)
}

fn run_of(test: &mut Tested) -> &mut Run {
    match &mut test.finding {
        Finding::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

/// A flow of 140 Mbit/s where 500 are expected, whose probes took so much longer on each way while it went on.
fn with_queue(there_us: i32, back_us: u32) -> Tested {
    let mut test = tcp("a", "c", 0, Tcp { mbps: 140, window: 64 << 20, ..Tcp::GOOD });
    let idle = 10;
    let loaded = |number: usize| number >= idle;
    let samples = test.samples.as_mut().unwrap();
    let longer_us = u32::try_from(there_us).unwrap() + back_us;
    samples.probes = ProbeSamples {
        sent_us: (-10..80).map(|number| number * 100_000).collect(),
        rtt_us: (0..90).map(|number| Some(50_000 + if loaded(number) { longer_us } else { 0 })).collect(),
        there_us: (0..90).map(|number| Some(25_000 + if loaded(number) { there_us } else { 0 })).collect(),
    };
    let rtt = |median_us| RttSummary {
        sent: PacketCount::new(40),
        min_us: Some(median_us),
        median_us: Some(median_us),
        ..RttSummary::default()
    };
    let latency =
        Latency { idle: Some(rtt(50_000)), loaded: Some(rtt(50_000 + u64::from(longer_us))), packet_times: None };
    run_of(&mut test).measurement.as_mut().unwrap().latency = Some(latency);
    test
}

#[test]
fn acknowledgments_that_wait_are_told_with_the_path_that_they_take() {
    let said = alone(with_queue(0, 120_000));
    let (cause, probability, place) = first(&said);
    assert_eq!(cause, "reverse-path-full", "{said:?}");
    assert!(probability > 0.5, "{probability}");
    assert_eq!(*place, FaultLocation::Path { from: "c".to_owned(), to: "a".to_owned() });
    assert!(said.problems[0].ranking[0].speaks_for[0].contains("on the reverse path"), "{said:?}");
    // The same queue among the data is no reason to name it, nor is a way that nobody looked at.
    for other in [with_queue(120_000, 0), tcp("a", "c", 0, Tcp { mbps: 140, ..Tcp::GOOD })] {
        let said = alone(other);
        let all = said.problems.iter().flat_map(|problem| &problem.ranking);
        assert!(all.into_iter().all(|ranked| ranked.cause != "reverse-path-full"), "{said:?}");
    }
}

#[test]
fn a_reverse_path_is_named_by_its_segment_where_that_is_known() {
    let said = diagnose(&round(vec![with_queue(0, 120_000)]), Catalogue::built_in(), &Rules::built_in());
    let (cause, _, place) = first(&said);
    assert_eq!(cause, "reverse-path-full", "{said:?}");
    let FaultLocation::Segment { towards: Some(towards), .. } = place else { panic!("{place:?}") };
    assert!(["there", "here", "a"].contains(&towards.as_str()), "acknowledgments go from c to a: {towards}");
}

/// A flow of which nothing but an opening of 37 bytes got through, and whose probes came back, or not.
fn swallowed(answered: u64) -> Tested {
    let mut test = tcp("a", "c", 0, Tcp { mbps: 0, again: 1, cwnd: 1, ..Tcp::GOOD });
    let run = run_of(&mut test);
    let measurement = run.measurement.as_mut().unwrap();
    let total = &mut measurement.totals[0];
    (total.sent, total.received) = (Some(ByteCount::new(47_784)), None);
    total.goodput = DataRate::from_bps(40);
    let total_sent = total.sent;
    let interval = |second: u64| Interval {
        start: Duration::from_secs(second),
        end: Duration::from_secs(second + 1),
        heading: Heading::Outbound,
        bytes: ByteCount::new(if second == 0 { 37 } else { 0 }),
        rate: DataRate::from_bps(if second == 0 { 296 } else { 0 }),
        retransmits: Some(PacketCount::new(1)),
        rtt: None,
        cwnd: Some(ByteCount::new(1_448)),
        lost: None,
        datagrams: None,
    };
    measurement.intervals = (0..8).map(interval).collect();
    measurement.flows = vec![MeasuredFlow {
        stream: 1,
        heading: Heading::Outbound,
        local_address: "192.0.2.1:40000".to_owned(),
        peer_address: "192.0.2.2:5201".to_owned(),
        mss: Some(1_448),
        congestion_control: None,
        sent_by: None,
        copy_fallback: None,
        received_by: None,
        sent: total_sent,
        received: None,
        retransmits: None,
        datagrams: None,
    }];
    let probes = |lost: u64| RttSummary {
        sent: PacketCount::new(80),
        lost: PacketCount::new(lost),
        min_us: Some(50_000),
        median_us: Some(50_000),
        ..RttSummary::default()
    };
    measurement.latency =
        Some(Latency { idle: Some(probes(0)), loaded: Some(probes(80 - answered)), packet_times: None });
    test
}

#[test]
fn full_segments_that_all_vanish_beside_small_packets_are_a_black_hole() {
    let said = alone(swallowed(80));
    assert_eq!(first(&said).0, "mtu-black-hole", "no Ethernet takes less than 1500 bytes: {said:?}");
    let told = &said.problems[0].ranking[0].speaks_for[0];
    assert!(
        told.contains("not one full segment of 1448 bytes was acknowledged, while 80 of 80 small probes"),
        "{told}"
    );
    let all = said.problems.iter().flat_map(|problem| &problem.ranking);
    assert!(all.into_iter().all(|ranked| ranked.cause != "outage"), "it never moved: {said:?}");
}

#[test]
fn where_small_packets_vanish_as_well_nothing_is_said_of_their_size() {
    let said = alone(swallowed(2));
    let all = said.problems.iter().flat_map(|problem| &problem.ranking);
    let told = all.flat_map(|ranked| &ranked.speaks_for);
    assert!(told.into_iter().all(|says| !says.contains("full segment")), "{said:?}");
}

#[test]
fn what_is_typed_next_looks_where_the_run_points() {
    let next = |mut test: Tested| {
        let samples = test.samples.take().unwrap();
        let line = LineRate { rate: DataRate::from_bps(500_000_000), source: LineRateSource::Declared };
        let falls = waterfall::explain(run_of(&mut test), &samples, line);
        let steps = falls.into_iter().flat_map(|fall| fall.facts).filter_map(|fact| fact.next);
        steps.map(|step| step.command).collect::<Vec<_>>()
    };
    assert!(next(swallowed(80)).contains(&"linerate probe mtu peer".to_owned()), "{:?}", next(swallowed(80)));
    assert!(!next(swallowed(2)).iter().any(|command| command.contains("probe mtu")));
}

/// A flow of 40 Mbit/s of which nobody knows how fast it should be, and whose receiver's window was full for a part of the time, with
/// round trips under load that are so much longer.
fn window_limited(part: f64, longer_us: u64, window: u64) -> Diagnosis {
    let mut test = tcp("a", "c", 0, Tcp { mbps: 40, window, window_limited: part, ..Tcp::GOOD });
    test.expected = None;
    let rtt = |median_us| RttSummary { min_us: Some(median_us), median_us: Some(median_us), ..RttSummary::default() };
    let latency = Latency { idle: Some(rtt(50_000)), loaded: Some(rtt(50_000 + longer_us)), packet_times: None };
    run_of(&mut test).measurement.as_mut().unwrap().latency = Some(latency);
    alone(test)
}

#[test]
fn a_window_that_is_full_on_a_path_without_a_queue_is_told_where_no_rate_is_known() {
    let said = window_limited(0.9, 200, 250_000);
    assert_eq!(first(&said).0, "receive-window-small", "{said:?}");
    assert!(said.problems[0].ranking[0].speaks_for[0].contains("no queue grew"), "{said:?}");
    // A path that fills its queue has no room for more, and a window that is full now and then holds nobody.
    for other in [window_limited(0.9, 30_000, 250_000), window_limited(0.2, 200, 64 << 20)] {
        assert!(other.is_healthy() && other.judged == 0, "{other:?}");
    }
}

#[test]
fn a_peer_of_which_nothing_arrives_but_small_packets_sends_into_a_black_hole() {
    let inbound = |answered| {
        let mut test = swallowed(answered);
        run_of(&mut test).spec.direction = Direction::Reverse;
        let measurement = run_of(&mut test).measurement.as_mut().unwrap();
        let total = &mut measurement.totals[0];
        (total.heading, total.sent, total.retransmits) = (Heading::Inbound, None, None);
        total.received = Some(ByteCount::new(0));
        measurement.flows.iter_mut().for_each(|flow| flow.heading = Heading::Inbound);
        for interval in &mut measurement.intervals {
            (interval.heading, interval.bytes, interval.retransmits) = (Heading::Inbound, ByteCount::new(0), None);
        }
        test.samples = None;
        alone(test)
    };
    let said = inbound(80);
    assert_eq!(first(&said).0, "mtu-black-hole", "{said:?}");
    let told = &said.problems[0].ranking[0].speaks_for[0];
    assert!(told.contains("not one byte arrived, in segments of 1448 bytes, while 80 of 80 small probes"), "{told}");
    let silent = inbound(2);
    let all = silent.problems.iter().flat_map(|problem| &problem.ranking);
    assert!(all.flat_map(|ranked| &ranked.speaks_for).all(|says| !says.contains("not one byte")), "{silent:?}");
}

#[test]
fn a_flow_that_stood_still_at_first_is_judged_by_all_of_its_time() {
    let mut test = tcp("a", "c", 0, Tcp::GOOD);
    let measurement = run_of(&mut test).measurement.as_mut().unwrap();
    measurement.totals[0].goodput = DataRate::from_bps(180_000_000);
    let interval = |second: u64| Interval {
        start: Duration::from_secs(second),
        end: Duration::from_secs(second + 1),
        heading: Heading::Outbound,
        bytes: ByteCount::new(if second < 5 { 0 } else { 58_750_000 }),
        rate: DataRate::from_bps(if second < 5 { 0 } else { 470_000_000 }),
        retransmits: Some(PacketCount::new(0)),
        rtt: None,
        cwnd: None,
        lost: None,
        datagrams: None,
    };
    measurement.intervals = (0..8).map(interval).collect();
    let said = alone(test);
    assert!(!said.is_healthy(), "36 % of what it should have: {said:?}");
}

#[test]
fn a_host_whose_tests_leave_by_no_card_has_no_ring() {
    let lossy = |driver: &str| {
        let mut test = tcp("a", "c", 0, Tcp { mbps: 140, again: 300, ..Tcp::GOOD });
        let device = Device { name: "eth0".to_owned(), driver: Some(driver.to_owned()), speed: None, mtu: None };
        run_of(&mut test).peer.host.device = Some(device);
        let said = alone(test);
        let all = said.problems.into_iter().flat_map(|problem| problem.ranking);
        all.filter(|ranked| ranked.cause == "ring-small").map(|ranked| ranked.probability).sum::<f64>()
    };
    assert!(lossy("veth") < lossy("mlx5_core") / 3.0, "{} {}", lossy("veth"), lossy("mlx5_core"));
}

/// A flow that its window holds, and of which nothing gets through for three of its eight seconds.
fn held_and_cut_off() -> Tested {
    let mut test = tcp("a", "c", 0, Tcp { mbps: 160, window: 1 << 20, window_limited: 0.97, ..Tcp::GOOD });
    let stops = |step: usize| (30..60).contains(&step);
    for column in &mut test.samples.as_mut().unwrap().streams[0].columns {
        match column.field {
            Field::BytesAcked | Field::BytesSent | Field::Delivered | Field::RwndLimited => {
                let (before, lost) = (column.values[30], column.values[60] - column.values[30]);
                for (step, value) in column.values.iter_mut().enumerate().skip(30) {
                    *value = if stops(step) { before } else { *value - lost };
                }
            }
            Field::TotalRetrans => (31..81).for_each(|step| column.values[step] = 4),
            Field::SndCwnd => (30..60).for_each(|step| column.values[step] = 1),
            _ => {}
        }
    }
    let measurement = run_of(&mut test).measurement.as_mut().unwrap();
    let interval = |second: u64| Interval {
        start: Duration::from_secs(second),
        end: Duration::from_secs(second + 1),
        heading: Heading::Outbound,
        bytes: ByteCount::new(if (3..6).contains(&second) { 0 } else { 20_000_000 }),
        rate: DataRate::from_bps(if (3..6).contains(&second) { 0 } else { 160_000_000 }),
        retransmits: Some(PacketCount::new(u64::from((3..6).contains(&second)))),
        rtt: None,
        cwnd: None,
        lost: None,
        datagrams: None,
    };
    measurement.intervals = (0..8).map(interval).collect();
    let total = &mut measurement.totals[0];
    (total.sent, total.received) = (Some(ByteCount::new(100_000_000)), Some(ByteCount::new(100_000_000)));
    total.goodput = DataRate::from_bps(100_000_000);
    test
}

#[test]
fn what_a_second_fault_took_of_the_rate_is_told_beside_the_first() {
    let said = alone(held_and_cut_off());
    let named: Vec<&str> = said.problems.iter().map(|problem| problem.ranking[0].cause.as_str()).collect();
    assert_eq!(named, ["outage", "receive-window-small"], "{said:?}");
    let told = &said.problems[1].ranking[0].speaks_for[0];
    assert!(told.contains("receive window took 39 %"), "{told}");
}
