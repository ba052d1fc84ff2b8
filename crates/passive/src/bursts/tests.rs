//! Claims about bursts, on buckets of known content.

use std::time::Duration;

use model::bursts::DirectionBursts;
use model::measurement::Heading;
use units::{DataRate, Percent, WallTime};

use super::finder::{BurstFinder, LooksIntoPackets, RetransmissionsKnown, Search};
use super::flows::{FlowEnds, SampledPacket};
use super::tick::{Tick, flows};

const FIRST: u64 = 5_000;

/// At 1 Gbit/s a bucket of a millisecond holds 125,000 bytes.
fn search() -> Search {
    Search {
        bucket: Duration::from_millis(1),
        line_rate: Some(DataRate::from_bps(1_000_000_000)),
        threshold: Percent::new(50).unwrap(),
        drain: None,
        first: FIRST,
        start: WallTime::from_unix_nanos(1_000_000_000_000),
        looks_into_packets: LooksIntoPackets::Yes,
        retransmissions: RetransmissionsKnown::Yes,
    }
}

/// Packets of 1,514 bytes.
fn tick(millisecond: u64, packets: u64) -> Tick {
    let flow = 1_u128 << (millisecond % 128);
    let (epoch, marked) = (FIRST + millisecond, packets / 10);
    Tick { epoch, bytes: packets * 1_514, packets, marked, flows: flow, retransmissions: 0 }
}

fn found(search: Search, ticks: &[Tick], length: Duration) -> DirectionBursts {
    let mut finder = BurstFinder::new(search);
    ticks.iter().for_each(|tick| finder.push(tick));
    finder.report(Heading::Inbound, length)
}

#[test]
fn a_run_of_full_buckets_is_one_burst_with_its_length_and_volume() {
    let mut ticks: Vec<Tick> = (10..15).map(|millisecond| tick(millisecond, 60)).collect();
    ticks.push(tick(15, 5));
    ticks.extend((100..102).map(|millisecond| tick(millisecond, 80)));
    let found = found(search(), &ticks, Duration::from_millis(200));
    assert_eq!((found.bursts, found.in_bursts.get()), (2, (5 * 60 + 2 * 80) * 1_514));
    let [first, second] = &found.largest[..] else { panic!("two: {:?}", found.largest) };
    assert_eq!((first.length, first.bytes.get(), first.packets.get()), (Duration::from_millis(5), 300 * 1_514, 300));
    assert_eq!(first.start.unix_nanos(), 1_000_010_000_000);
    assert_eq!((first.marked.get(), first.flows), (30, Some(5)));
    assert_eq!(second.length, Duration::from_millis(2));
    assert_eq!(second.peak.bps(), 80 * (1_514 + 24) * 8 * 1_000);
    assert_eq!(found.by_length, [0, 1, 1], "one of two buckets, one of four to seven");
}

#[test]
fn half_the_line_rate_is_no_burst_yet_and_a_gap_ends_one() {
    // 40 packets are 61,520 bytes on the physical layer, 41 are 63,058, half the line is 62,500.
    let below = found(search(), &[tick(1, 40), tick(2, 40)], Duration::from_millis(10));
    assert_eq!(below.bursts, 0);
    let above = found(search(), &[tick(1, 41), tick(3, 41)], Duration::from_millis(10));
    assert_eq!(above.bursts, 2);
}

#[test]
fn the_finer_the_look_the_higher_the_rate() {
    let ticks: Vec<Tick> = (0..2_000).filter(|millisecond| millisecond % 100 < 5).map(|each| tick(each, 75)).collect();
    let found = found(search(), &ticks, Duration::from_secs(2));
    assert_eq!(found.bursts, 20);
    let (second, bucket) = (found.busiest_second.bps(), found.busiest_bucket.bps());
    assert!(second * 19 < bucket && bucket < second * 21, "{second} {bucket}");
    assert_eq!(found.mean, found.busiest_second);
}

#[test]
fn no_mean_is_above_the_busiest_second() {
    // 3 seconds of buckets, of which the watcher's own clock saw 2.9 s.
    let ticks: Vec<Tick> = (0..3_000).map(|millisecond| tick(millisecond, 10)).collect();
    let found = found(search(), &ticks, Duration::from_millis(2_900));
    assert!(found.mean <= found.busiest_second, "{} {}", found.mean, found.busiest_second);
}

#[test]
fn the_queue_before_a_slower_link_is_what_it_cannot_pass() {
    let search = Search { drain: Some(DataRate::from_bps(500_000_000)), ..search() };
    let ticks: Vec<Tick> = (0..10).map(|millisecond| tick(millisecond, 81)).collect();
    let need = found(search, &ticks, Duration::from_millis(10)).queue.unwrap();
    // Each bucket brings 124,578 bytes and half of the line takes 62,500 away: nine times before the last comes.
    assert_eq!(need.most.get(), 10 * 124_578 - 9 * 62_500);
}

#[test]
fn without_a_line_rate_there_are_rates_and_no_bursts() {
    let found = found(Search { line_rate: None, ..search() }, &[tick(1, 500)], Duration::from_millis(10));
    assert_eq!((found.bursts, found.largest.len()), (0, 0));
    assert!(found.busiest_bucket.bps() > 0);
}

#[test]
fn a_long_watch_is_shown_in_a_bounded_number_of_steps_that_keep_the_busiest_bucket() {
    let ticks: Vec<Tick> = (0..100_000).map(|each| tick(each, if each == 77_777 { 90 } else { 1 })).collect();
    let steps = found(search(), &ticks, Duration::from_secs(100)).steps;
    assert!(steps.mean.len() <= 2_000 && steps.mean.len() > 900, "{}", steps.mean.len());
    assert_eq!(steps.busiest.iter().max().unwrap().bps(), 90 * (1_514 + 24) * 8 * 1_000);
    assert_eq!(steps.step, Duration::from_millis(64));
}

#[test]
fn the_sketch_counts_some_flows_and_says_no_more_when_it_is_full() {
    assert_eq!((flows(0), flows(1), flows(u128::MAX)), (0, 1, 622));
    assert_eq!(flows(u128::from(u64::MAX)), 89, "half of the bits: 128 ln 2");
}

/// The beginning of a datagram from this port, of IPv4 behind Ethernet.
fn head(port: u16) -> Vec<u8> {
    let mut head = vec![0; 12];
    head.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    head.extend(port.to_be_bytes());
    head.extend([0x14, 0x51, 0, 20, 0, 0]);
    head
}

#[test]
fn a_burst_has_the_flows_of_its_own_buckets_in_parts_of_its_bytes() {
    let mut finder = BurstFinder::new(search());
    let sample = |millisecond: u64, port: Option<u16>, bytes: u64| {
        let flow = port.and_then(|port| FlowEnds::of(&head(port)));
        SampledPacket { epoch: FIRST + millisecond, bytes, flow }
    };
    // Before the burst, in it, and behind it; a packet that is no datagram has a part as well.
    finder.sample(sample(9, Some(9), 90_000));
    for (port, bytes) in [(Some(1), 60_000), (Some(2), 20_000), (None, 20_000)] {
        finder.sample(sample(10, port, bytes));
    }
    finder.sample(sample(11, Some(2), 100_000));
    finder.sample(sample(12, Some(9), 90_000));
    (9..13).for_each(|each| finder.push(&tick(each, if (10..12).contains(&each) { 60 } else { 5 })));
    let found = finder.report(Heading::Inbound, Duration::from_millis(20));
    let [burst] = &found.largest[..] else { panic!("one: {:?}", found.largest) };
    let flows: Vec<(u16, u64)> = burst.busiest.iter().map(|flow| (flow.source.port(), flow.bytes.get())).collect();
    let bytes = 2 * 60 * 1_514;
    assert_eq!(flows, [(2, bytes * 120 / 200), (1, bytes * 60 / 200)]);
    assert!(burst.busiest.iter().all(|flow| flow.protocol == 17 && flow.destination.port() == 5_201));
}

#[test]
fn a_beginning_that_is_cut_anywhere_has_a_flow_or_none() {
    let whole = head(7);
    assert!(FlowEnds::of(&whole).is_some());
    (0..whole.len()).for_each(|length| assert_eq!(FlowEnds::of(&whole[..length]), None, "{length}"));
}
