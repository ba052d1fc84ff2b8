//! What holds for every chain.

use path::reason::Drop;
use path::{Chain, Change, Ecn, ElementSpec, FlowHash, PacketKind, PathElement, Presence, Seed, Span, Train};
use proptest::prelude::*;
use units::MonoTime;

use crate::support::{at, chain, drive, segments, stages};

#[test]
fn packets_take_the_time_of_their_bits_and_of_the_way() {
    let mut chain = chain(r#"chain = [{ port = { rate = "1Gbit/s" } }, { delay = { time = "50ms" } }]"#, 1);
    let log = drive(&mut chain, [(at(10), segments(0, 1, 1_250)), (at(10), segments(1, 1, 1_250))]);
    let arrivals: Vec<MonoTime> = log.delivered.iter().map(|(at, _)| *at).collect();
    assert_eq!(arrivals, [at(50_020), at(50_030)]);
}

#[test]
fn a_chain_cut_before_its_last_delays_lets_the_same_out_earlier_by_those() {
    let port = r#"{ port = { rate = "1Gbit/s", queue = { bytes = "20kB" } } }"#;
    let loss = "{ loss = { every-nth = 7 } }";
    for before in [port.to_owned(), format!("{port}, {loss}"), format!("{loss}, {port}"), loss.to_owned()] {
        let text =
            format!(r#"chain = [{before}, {{ delay = {{ time = "5ms" }} }}, {{ delay = {{ time = "20us" }} }}]"#);
        let trains = || (0..500).map(|n| (at(u64::from(n) * 37), segments(n, n % 9 + 1, 1_250)));
        let whole = drive(&mut chain(&text, 1), trains());
        let (mut cut, time) = Chain::cut(&stages(&text), Seed(1), at(0)).unwrap();
        let earlier = drive(&mut cut, trains());
        assert_eq!(time.as_micros(), 5_020);
        let later: Vec<(MonoTime, Train)> = earlier.delivered.iter().map(|(at, train)| (*at + time, *train)).collect();
        assert_eq!(later.len(), whole.delivered.len());
        let of = |log: &[(MonoTime, Train)]| -> Vec<(MonoTime, u32, u32, u32)> {
            log.iter().map(|(at, train)| (*at, train.frame.0, train.first, train.count.get())).collect()
        };
        assert_eq!(of(&later), of(&whole.delivered), "{text}");
        assert_eq!(earlier.dropped.len(), whole.dropped.len());
        assert!(!whole.dropped.is_empty());
    }
}

#[test]
fn what_may_do_something_is_not_cut_off() {
    for last in [r#"{ delay = { time = "5ms", jitter = "1ms" } }"#, r#"{ mtu = { bytes = 1500 } }"#] {
        let (cut, time) = Chain::cut(&stages(&format!("chain = [{last}]")), Seed(1), at(0)).unwrap();
        assert!(time.is_zero() && !cut.is_empty(), "{last}");
    }
    let mut there_for_a_time = stages(r#"chain = [{ delay = { time = "1ms" } }]"#);
    there_for_a_time[0].during = Some(Span { from: at(100), until: None });
    assert!(Chain::cut(&there_for_a_time, Seed(1), at(0)).unwrap().1.is_zero());
}

#[test]
fn queue_takes_exactly_what_it_has_room_for() {
    let text = r#"chain = [{ port = { rate = "1Gbit/s", queue = { bytes = "10kB" } } }]"#;
    let log = drive(&mut chain(text, 1), [(at(0), segments(0, 1, 1_000)), (at(0), segments(1, 40, 1_000))]);
    assert_eq!(log.delivered_packets(), 11, "one is being sent, ten wait");
    assert_eq!(log.dropped_packets(Drop::QueueFull), 30);
}

#[test]
fn element_is_there_only_in_its_time_and_changes_when_it_should() {
    let mut stages = stages(r#"chain = [{ loss = { every-nth = 1 } }, { delay = { time = "1ms" } }]"#);
    stages[0].during = Some(Span { from: at(100), until: Some(at(200)) });
    let slower: ElementSpec = toml::from_str(r#"delay = { time = "3ms" }"#).unwrap();
    stages[1].changes.push(Change { at: at(1_000), spec: slower });
    let mut chain = Chain::new(&stages, Seed(1), at(0)).unwrap();
    let trains = [0, 99, 100, 199, 200, 999, 1_000].map(|us| (at(us), segments(0, 1, 100)));
    let log = drive(&mut chain, trains);
    let arrivals: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_nanos() / 1_000).collect();
    assert_eq!(arrivals, [1_000, 1_099, 1_200, 1_999, 4_000]);
    assert_eq!(log.dropped_packets(Drop::Periodic), 2);
}

#[test]
fn element_comes_goes_and_changes_when_it_is_told_to() {
    let mut chain =
        Chain::new(&stages(r#"chain = [{ loss = { every-nth = 1 } }, { delay = { time = "1ms" } }]"#), Seed(1), at(0))
            .unwrap();
    let mut log = crate::support::Log::default();
    let slower: ElementSpec = toml::from_str(r#"delay = { time = "3ms" }"#).unwrap();
    chain.offer(at(0), segments(0, 1, 100), &mut log);
    chain.put(at(10), 0, Presence::Away, &mut log);
    chain.offer(at(20), segments(1, 1, 100), &mut log);
    chain.set(at(30), 1, &slower, &mut log).unwrap();
    chain.offer(at(40), segments(2, 1, 100), &mut log);
    chain.put(at(50), 0, Presence::There, &mut log);
    chain.offer(at(60), segments(3, 1, 100), &mut log);
    chain.advance(at(10_000), &mut log);
    let arrivals: Vec<u64> = log.delivered.iter().map(|(at, _)| at.as_nanos() / 1_000).collect();
    assert_eq!(arrivals, [1_020, 3_040]);
    assert_eq!(log.dropped_packets(Drop::Periodic), 2);
    let wrong: ElementSpec = toml::from_str("loss = { random = 2.0 }").unwrap();
    assert!(chain.set(at(20_000), 0, &wrong, &mut log).is_err(), "no element can have it");
}

#[test]
fn element_cannot_become_another() {
    let mut stages = stages(r#"chain = [{ delay = { time = "1ms" } }]"#);
    let other: ElementSpec = toml::from_str("loss = { random = 0.1 }").unwrap();
    stages[0].changes.push(Change { at: at(0), spec: other });
    let error = Chain::new(&stages, Seed(1), at(0)).unwrap_err();
    assert_eq!(error.to_string(), "a `delay` cannot become a `loss`; a change has settings for the same element");
}

#[test]
fn cross_traffic_takes_its_share_of_the_link() {
    // Nine tenths of the link are taken for 10 ms, so 100 packets of 1,250 bytes that come at once take ten times as
    // long as they would alone, once the queue has filled with both.
    let text = r#"chain = [{ port = { rate = "1Gbit/s", cross = {
        bursts = [{ rate = "900Mbit/s", length = "10ms" }] } } }]"#;
    let trains = (0..100).map(|n| (at(100 * n), segments(u32::try_from(n).unwrap(), 1, 1_250)));
    let mut chain = chain(text, 1);
    let log = drive(&mut chain, trains);
    assert_eq!(log.delivered_packets(), 100);
    let last = log.delivered.last().unwrap().0;
    // 100 packets of 10 us and 9 ms of cross traffic are 10 ms of work for a link that never rests.
    assert!((at(9_900)..at(10_150)).contains(&last), "{last:?}");
}

fn any_stages() -> impl Strategy<Value = Vec<PathElement>> {
    let during = prop::option::of((0_u64..15_000, prop::option::of(1_u64..10_000)));
    let change = (0_u64..15_000, prop::sample::select(ELEMENTS));
    let stage = (prop::sample::select(ELEMENTS), during, prop::collection::vec(change, 0..3));
    let stage = stage.prop_map(|(element, during, changes)| any_stage(element, during, changes));
    prop::collection::vec(stage, 0..6)
}

/// A stage that is there for a time, and becomes those of the other elements that it can become.
fn any_stage(element: &str, during: Option<(u64, Option<u64>)>, changes: Vec<(u64, &str)>) -> PathElement {
    let spec = |text: &str| stages(&format!("chain = [{text}]")).remove(0).spec;
    let kind = spec(element).kind();
    let during = during.map(|(from, length)| Span { from: at(from), until: length.map(|length| at(from + length)) });
    let changes = changes.into_iter().map(|(us, other)| Change { at: at(us), spec: spec(other) });
    PathElement { spec: spec(element), during, changes: changes.filter(|change| change.spec.kind() == kind).collect() }
}

/// Every kind of element, made so that much happens in it.
const ELEMENTS: &[&str] = &[
    r#"{ delay = { time = "3ms", jitter = "2ms", order = "free" } }"#,
    r#"{ delay = { time = "1ms", jitter = "1ms" } }"#,
    r#"{ loss = { random = 0.2 } }"#,
    r#"{ loss = { every-nth = 3 } }"#,
    r#"{ loss = { bursty = { to-bad = 0.1, to-good = 0.3 } } }"#,
    r#"{ loss = { large = { above = 1514, probability = 0.5 } } }"#,
    r#"{ loss = { member = { of = 2, bad = 1, probability = 0.5 } } }"#,
    r#"{ port = { rate = "100Mbit/s", queue = { bytes = "20kB" } } }"#,
    r#"{ port = { rate = "1Gbit/s", queue = { packets = 7, mark-above = "3kB" }, cross = {
        bursts = [{ rate = "2Gbit/s", length = "1ms", period = "3ms", jitter = "1ms" }] } } }"#,
    r#"{ port = { rate = "1Gbit/s", queue = { bytes = "1MB", red = { min = "3kB", max = "30kB", weight = 0.1, ecn = true,
        gentle = true } }, cross = { bursts = [{ rate = "900Mbit/s" }] } } }"#,
    r#"{ port = { rate = "500Mbit/s", queue = { codel = { target = "100us", interval = "1ms", ecn = true } },
        cross = { bursts = [{ rate = "400Mbit/s", start = "1ms" }] } } }"#,
    r#"{ classes = { rate = "500Mbit/s", expedited = { queue = { bytes = "30kB" } }, best-effort = { weight = 3, queue = {
        codel = { target = "100us", interval = "1ms" } } }, scavenger = { weight = 1 },
        cross = [{ dscp = 8, bursts = [{ rate = "200Mbit/s" }] }, { dscp = 46, bursts = [{ rate = "100Mbit/s" }] }] } }"#,
    r#"{ shaper = { rate = "300Mbit/s", burst = "5kB", queue = { bytes = "100kB" } } }"#,
    r#"{ policer = { rate = "300Mbit/s", burst = "9kB" } }"#,
    r#"{ policer = { rate = "300Mbit/s", burst = "9kB", remark = 8 } }"#,
    r#"{ reorder = { probability = 0.2, time = "500us" } }"#,
    r#"{ reorder = { every-nth = 3, time = "500us" } }"#,
    r#"{ duplicate = { probability = 0.2 } }"#,
    r#"{ corrupt = { probability = 0.2 } }"#,
    r#"{ mtu = { bytes = 1500, report = "silent" } }"#,
    r#"{ mtu = { bytes = 3000, report = "icmp" } }"#,
    r#"{ firewall = { packets-per-second = 30000, queue = { packets = 10 }, inspects = "tcp", strips-window-scale = true } }"#,
    r#"{ conntrack = { forgets-after = "3ms", flows = 2 } }"#,
    r#"{ ecn = "bleach" }"#,
    r#"{ ecn = "mark-all" }"#,
    r#"{ ecn = "drop-capable" }"#,
    r#"{ merger = { window = "300us" } }"#,
    r#"{ merger = { window = "300us", tunnelled-only = true, mtu = 9000 } }"#,
];

fn any_trains() -> impl Strategy<Value = Vec<(MonoTime, Train)>> {
    let kind = prop::sample::select(vec![
        PacketKind::TcpSyn,
        PacketKind::TcpData,
        PacketKind::TcpData,
        PacketKind::TcpControl,
        PacketKind::Udp,
        PacketKind::TunnelledTcpData,
        PacketKind::Link,
    ]);
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable0, Ecn::Marked]);
    let header = (kind, ecn, prop::sample::select(vec![0_u8, 8, 46]), 0_u32..4, any::<bool>());
    let step = (0_u64..500, 1_u32..40, 60_u32..9_000, 0_u32..60, header);
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let mut now = 0;
        let trains = steps.into_iter().zip(0..).map(|((pause, count, size, shorter, header), frame)| {
            now += pause;
            let (kind, ecn, dscp, flow, whole) = header;
            let last_size = size - shorter;
            (at(now), Train { kind, ecn, dscp, flow: FlowHash(flow), whole, last_size, ..segments(frame, count, size) })
        });
        trains.collect()
    })
}

proptest! {
    #[test]
    fn every_packet_ends_once_and_no_clock_runs_backwards(
        stages in any_stages(), trains in any_trains(), seed in any::<u64>(),
    ) {
        let mut chain = Chain::new(&stages, Seed(seed), at(0)).unwrap();
        let log = drive(&mut chain, trains.clone());
        let offered: u64 = trains.iter().map(|(_, train)| u64::from(train.count.get())).sum();
        let dropped: u64 = log.dropped.iter().map(|(.., train)| u64::from(train.count.get())).sum();
        let duplicated: u64 = log.duplicated.iter().map(|(.., train)| u64::from(train.count.get())).sum();
        prop_assert_eq!(offered + duplicated, log.delivered_packets() + dropped);
        prop_assert!(log.delivered.is_sorted_by_key(|(at, _)| *at));
        let mut ends = log.ends();
        for (_, train) in &trains {
            for packet in 0..train.count.get() {
                prop_assert!(ends.remove(&(train.frame.0, packet)), "packet {} of {:?} ends", packet, train.frame);
            }
        }
        prop_assert!(ends.is_empty());
    }

    #[test]
    fn counters_of_neighbours_agree(mut stages in any_stages(), trains in any_trains(), seed in any::<u64>()) {
        // All are there all the time, so that nothing goes past one.
        stages.iter_mut().for_each(|stage| stage.during = None);
        let mut chain = Chain::new(&stages, Seed(seed), at(0)).unwrap();
        let log = drive(&mut chain, trains.clone());
        let mut comes: u64 = trains.iter().map(|(_, train)| train.bytes().get()).sum();
        for tally in chain.tallies() {
            prop_assert_eq!(tally.offered_amount().bytes.get(), comes);
            let dropped: u64 = tally.drops().map(|(_, amount)| amount.bytes.get()).sum();
            prop_assert_eq!(comes, tally.passed_amount().bytes.get() + dropped);
            comes = tally.passed_amount().bytes.get() + tally.duplicated_amount().bytes.get();
        }
        let delivered: u64 = log.delivered.iter().map(|(_, train)| train.bytes().get()).sum();
        prop_assert_eq!(delivered, comes);
    }

    #[test]
    fn same_seed_gives_the_same_run_however_late_the_driver_is(
        stages in any_stages(), trains in any_trains(), seed in any::<u64>(),
    ) {
        let build = || Chain::new(&stages, Seed(seed), at(0)).unwrap();
        let prompt = drive(&mut build(), trains.clone());
        let (mut late, mut chain) = (crate::support::Log::default(), build());
        for (when, train) in trains {
            chain.offer(when, train, &mut late);
        }
        chain.advance(at(100_000_000), &mut late);
        prop_assert_eq!(prompt, late);
    }
}
