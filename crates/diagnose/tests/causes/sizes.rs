//! What echoes of two sizes say of the slowest link.

use std::time::Duration;

use diagnose::signs::flows;
use model::measurement::{Latency, PacketTimes};
use model::played::Finding;

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
