//! What echoes of two sizes say of the slowest link.

use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::diagnose;
use diagnose::signs::flows;
use model::measurement::{Latency, PacketTimes};
use model::played::Finding;
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec};
use model::round::Tested;
use model::run::Outcome;
use model::series::field::Field;
use units::Mtu;

use crate::world::{Tcp, echoes, round, tcp};

/// What is said of a flow of 50 Mbit/s where 500 are expected, over three links, if large echoes take so much longer than small ones.
fn packet_time(longer: Duration) -> Option<&'static str> {
    let base = Duration::from_millis(50);
    let tests = vec![
        tcp("a", "c", 0, Tcp { mbps: 50, ..Tcp::GOOD }),
        echoes("a", "c", 1, 56, base),
        echoes("a", "c", 2, 1_400, base + longer),
    ];
    flows(&round(tests)).first()?.state("packet-time")
}

#[test]
fn a_link_that_is_as_slow_as_the_flow_takes_its_time_for_large_packets() {
    // 1,344 bytes at 50 Mbit/s: 215 us; at 500 Mbit/s: 21.5 us, over five other links and directions.
    assert_eq!(packet_time(Duration::from_micros(215 + 5 * 21)), Some("as-slow"));
    assert_eq!(packet_time(Duration::from_micros(2 * 215 + 4 * 21)), Some("as-slow"));
}

#[test]
fn packets_that_cross_fast_say_that_the_link_is_shared_or_policed() {
    assert_eq!(packet_time(Duration::from_micros(6 * 21)), Some("faster"));
    assert_eq!(packet_time(Duration::ZERO), Some("faster"));
}

#[test]
fn what_both_would_explain_is_not_said() {
    assert_eq!(packet_time(Duration::from_micros(225)), None);
}

#[test]
fn packets_that_take_longer_than_the_flow_allows_waited_for_others() {
    // A link that needs 900 us for 1,344 bytes has 12 Mbit/s, and the flow had 50.
    assert_eq!(packet_time(Duration::from_micros(900)), None);
}

/// The same of a test whose own packets of two sizes went ahead of it: over three links in one direction.
fn packet_time_of_test(there: Duration) -> Option<&'static str> {
    let mut test = tcp("a", "c", 0, Tcp { mbps: 50, ..Tcp::GOOD });
    let Finding::Run(run) = &mut test.finding else { panic!("{:?}", test.finding) };
    let times = PacketTimes {
        more_bytes: 1_356,
        there_ns: Some(units::duration::nanos(there)),
        // What comes back crosses a fast path, whatever the other direction does.
        back_ns: Some(0),
    };
    run.measurement.as_mut().unwrap().latency = Some(Latency { packet_times: Some(times), ..Latency::default() });
    flows(&round(vec![test])).first()?.state("packet-time")
}

#[test]
fn a_test_sends_packets_of_two_sizes_ahead() {
    assert_eq!(packet_time_of_test(Duration::from_micros(217 + 2 * 22)), Some("as-slow"));
    assert_eq!(packet_time_of_test(Duration::from_micros(3 * 22)), Some("faster"));
}

/// A test of TCP towards `c` whose full segments have `mss` bytes.
fn tcp_of_segments(from: &str, number: u64, mss: u64, what: Tcp) -> Tested {
    let mut test = tcp(from, "c", number, what);
    for column in &mut test.samples.as_mut().unwrap().streams[0].columns {
        if matches!(column.field, Field::SndMss | Field::Advmss) {
            column.values.fill(mss);
        }
    }
    test
}

/// A search towards `c` for the largest packet: 1,500 bytes arrive, and larger ones vanish.
fn searched(from: &str, number: u64) -> Tested {
    let mut test = echoes(from, "c", number, 56, Duration::from_millis(50));
    let Finding::Echo(series) = &test.finding else { panic!("{:?}", test.finding) };
    test.finding = Finding::PathMtu(PathMtu {
        subject: series.subject.clone(),
        spec: PathMtuSpec::default(),
        outcome: Outcome::Complete,
        access: None,
        interface_mtu: Mtu::new(9_000).ok(),
        path_mtu: Mtu::new(1_500).ok(),
        limit: Some(MtuLimit::Silent),
        sizes: Vec::new(),
    });
    test
}

/// What a test with segments of `mss` bytes says of one of 50 Mbit/s with full ones, where it attains `mbps`.
fn small_packets(mss: u64, mbps: u64) -> Option<&'static str> {
    let slow = Tcp { mbps: 50, ..Tcp::GOOD };
    let tests = vec![tcp_of_segments("a", 0, 1448, slow), tcp_of_segments("a", 1, mss, Tcp { mbps, ..slow })];
    flows(&round(tests)).first()?.state("small-packets")
}

#[test]
fn as_many_segments_a_second_are_worse_however_small_they_are() {
    assert_eq!(small_packets(536, 19), Some("worse"));
    // 0.7 of the rate is all that is lost by segments of 0.7 of the size.
    assert_eq!(small_packets(1_000, 35), Some("worse"));
}

#[test]
fn as_much_data_is_not_worse() {
    assert_eq!(small_packets(536, 47), Some("not"));
    assert_eq!(small_packets(1_000, 48), Some("not"));
    // More headers for the same data.
    assert_eq!(small_packets(100, 33), Some("not"));
}

#[test]
fn where_large_packets_vanish_small_ones_are_slow_for_another_reason() {
    let nothing = Tcp { mbps: 0, again: 1, cwnd: 1, ..Tcp::GOOD };
    // 1 MiB in 50 ms.
    let window = Tcp { mbps: 160, window: 1 << 20, window_limited: 0.97, ..Tcp::GOOD };
    let tests = vec![
        searched("a", 0),
        searched("b", 1),
        tcp_of_segments("a", 2, 8_948, nothing),
        tcp_of_segments("b", 3, 8_948, nothing),
        tcp_of_segments("a", 4, 1_448, window),
    ];
    let diagnosis = diagnose(&round(tests), Catalogue::built_in(), &Rules::built_in());
    let named: Vec<(&str, &[String])> = diagnosis
        .problems
        .iter()
        .map(|problem| (problem.ranking[0].cause.as_str(), problem.explains.as_slice()))
        .collect();
    let causes = |flow: &str| -> Vec<&str> {
        let of = named.iter().filter(|(_, explains)| explains.iter().any(|label| label.starts_with(flow)));
        of.map(|(cause, _)| *cause).collect()
    };
    assert!(causes("2: a to c").iter().any(|cause| cause.starts_with("mtu-")), "{named:?}");
    assert!(causes("4: a to c").iter().any(|cause| !cause.starts_with("mtu-")), "{named:?}");
}
