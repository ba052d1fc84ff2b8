//! What lost datagrams and lost echoes say: of the rate, of chance, of the packets they are made of.

use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, diagnose};
use diagnose::signs::flows;
use diagnose::statements::statements;
use model::measurement::{DatagramCounts, Heading, Interval};
use model::played::Finding;
use model::round::{Round, Tested};
use units::{ByteCount, DataRate, PacketCount};

use crate::world::{echoes, round, udp};

/// Datagrams of a size that were offered at a rate for five seconds, of which so many arrived a second. Nothing else is known.
fn offered(number: u64, size: u64, sent_mbps: u64, came_mbps: u64) -> Tested {
    let mut test = udp("a", "c", number, sent_mbps, None);
    test.expected = None;
    let Finding::Run(run) = &mut test.finding else { panic!("{:?}", test.finding) };
    run.spec.rate = None;
    let total = &mut run.measurement.as_mut().unwrap().totals[0];
    let bytes = |mbps: u64| (total.elapsed.as_secs_f64() * (mbps * 125_000) as f64) as u64;
    let (sent, came) = (bytes(sent_mbps) / size, bytes(came_mbps) / size);
    total.sent = Some(ByteCount::new(sent * size));
    total.received = Some(ByteCount::new(came * size));
    total.goodput = DataRate::from_bps(came_mbps * 1_000_000);
    total.datagrams = Some(DatagramCounts {
        sent: PacketCount::new(sent),
        received: PacketCount::new(came),
        lost: PacketCount::new(sent - came),
        ..DatagramCounts::default()
    });
    test
}

fn diagnosed(round: &Round) -> Diagnosis {
    diagnose(round, Catalogue::built_in(), &Rules::built_in())
}

fn grows(tests: Vec<Tested>) -> Option<&'static str> {
    flows(&round(tests)).first()?.state("datagram-loss")
}

#[test]
fn the_same_part_at_rates_far_apart_is_no_limit_of_rate() {
    let tests = || vec![offered(0, 1_400, 100, 66), offered(1, 1_400, 50, 33), offered(2, 1_400, 10, 7)];
    assert_eq!(grows(tests()), Some("same-at-any-rate"));
    let said = statements(&round(tests()), &[]);
    let together = said.iter().find(|statement| statement.says.contains("would spare the slower"));
    assert!(together.is_some(), "{said:#?}");
    assert!(!said.iter().any(|statement| statement.says.contains("bottleneck carries")), "{said:#?}");
    let diagnosis = diagnosed(&round(tests()));
    let first = &diagnosis.problems[0].ranking[0].cause;
    assert!(!["policer", "slow-segment", "bufferbloat"].contains(&first.as_str()), "{first}");
}

#[test]
fn a_limit_lets_through_the_same_rate_whatever_is_offered() {
    let tests = || vec![offered(0, 1_400, 100, 3), offered(1, 1_400, 45, 3)];
    assert_eq!(grows(tests()), Some("grows"), "97 and 93 % are lost, and 3 Mbit/s come through of both");
    assert!(!statements(&round(tests()), &[]).iter().any(|statement| statement.says.contains("spare the slower")));
}

#[test]
fn a_single_lost_datagram_is_no_fault() {
    let mut test = offered(0, 1_400, 1, 1);
    let Finding::Run(run) = &mut test.finding else { panic!("{:?}", test.finding) };
    let total = &mut run.measurement.as_mut().unwrap().totals[0];
    let counts = total.datagrams.as_mut().unwrap();
    (counts.lost, counts.received) = (PacketCount::new(1), PacketCount::new(counts.sent.get() - 1));
    total.received = Some(ByteCount::new(total.sent.unwrap().get() - 1_400));
    let diagnosis = diagnosed(&round(vec![test]));
    assert!(diagnosis.is_healthy(), "{}", diagnosis.verdict);
}

#[test]
fn datagrams_of_several_packets_are_lost_with_any_of_them() {
    let said = statements(&round(vec![offered(0, 8_192, 100, 66)]), &[]);
    let of_packets = said.iter().find(|statement| statement.says.contains("travels as 6 fragments"));
    // 1 - 0.66^(1/6)
    assert!(of_packets.is_some_and(|statement| statement.says.contains("6.7 %")), "{said:#?}");
    let small = statements(&round(vec![offered(0, 1_400, 100, 66)]), &[]);
    assert!(!small.iter().any(|statement| statement.says.contains("fragments")), "{small:#?}");
}

#[test]
fn echoes_over_an_idle_path_are_lost_to_nothing_that_needs_a_load() {
    let mut test = echoes("a", "c", 0, 56, Duration::from_millis(20));
    let Finding::Echo(series) = &mut test.finding else { panic!("{:?}", test.finding) };
    series.summary.rtt.lost = PacketCount::new(9);
    let diagnosis = diagnosed(&round(vec![test]));
    let ranked = &diagnosis.problems[0].ranking;
    assert!(!ranked.is_empty());
    for cause in ["receiver-slow", "ring-small", "policer", "shallow-queue", "slow-segment", "receive-window-small"] {
        assert!(!ranked.iter().any(|candidate| candidate.cause == cause), "{cause}: {ranked:#?}");
    }
}

#[test]
fn the_rate_of_datagrams_is_that_at_which_they_arrive() {
    let mut test = offered(0, 1_400, 940, 280);
    let Finding::Run(run) = &mut test.finding else { panic!("{:?}", test.finding) };
    // The client of iperf3 prints what it sends.
    let interval = |second: u64| Interval {
        start: Duration::from_secs(second),
        end: Duration::from_secs(second + 1),
        heading: Heading::Outbound,
        bytes: ByteCount::new(117_500_000),
        rate: DataRate::from_bps(940_000_000),
        retransmits: None,
        rtt: None,
        cwnd: None,
        datagrams: None,
        lost: None,
    };
    run.measurement.as_mut().unwrap().intervals = (0..8).map(interval).collect();
    let arrived = flows(&round(vec![test]))[0].goodput.bps();
    assert!((270_000_000..290_000_000).contains(&arrived), "{arrived}");
}
