//! What holds for every chain.

mod support;

use path::reason::Drop;
use path::{Chain, Change, ElementSpec, Seed, Span, Stage, Train};
use proptest::prelude::*;
use support::{at, chain, drive, segments, stages};
use units::MonoTime;

#[test]
fn packets_take_the_time_of_their_bits_and_of_the_way() {
    let mut chain = chain(r#"chain = [{ port = { rate = "1Gbit/s" } }, { delay = { time = "50ms" } }]"#, 1);
    let log = drive(&mut chain, [(at(10), segments(0, 1, 1_250)), (at(10), segments(1, 1, 1_250))]);
    let arrivals: Vec<MonoTime> = log.delivered.iter().map(|(at, _)| *at).collect();
    assert_eq!(arrivals, [at(50_020), at(50_030)]);
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

fn any_stages() -> impl Strategy<Value = Vec<Stage>> {
    let element = prop_oneof![
        Just(r#"{ delay = { time = "3ms", jitter = "2ms", order = "free" } }"#),
        Just(r#"{ delay = { time = "1ms", jitter = "1ms" } }"#),
        Just(r#"{ loss = { random = 0.2 } }"#),
        Just(r#"{ loss = { every-nth = 3 } }"#),
        Just(r#"{ loss = { bursty = { to-bad = 0.1, to-good = 0.3 } } }"#),
        Just(r#"{ port = { rate = "100Mbit/s", queue = { bytes = "20kB" } } }"#),
        Just(
            r#"{ port = { rate = "1Gbit/s", queue = { packets = 7 }, cross = {
            bursts = [{ rate = "2Gbit/s", length = "1ms", period = "3ms", jitter = "1ms" }] } } }"#
        ),
    ];
    prop::collection::vec(element, 0..6).prop_map(|elements| stages(&format!("chain = [{}]", elements.join(", "))))
}

fn any_trains() -> impl Strategy<Value = Vec<(MonoTime, Train)>> {
    prop::collection::vec((0_u64..500, 1_u32..40, 60_u32..9_000), 1..60).prop_map(|steps| {
        let mut now = 0;
        let trains = steps.into_iter().zip(0..).map(|((pause, count, size), frame)| {
            now += pause;
            (at(now), segments(frame, count, size))
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
    }

    #[test]
    fn same_seed_gives_the_same_run_however_late_the_driver_is(
        stages in any_stages(), trains in any_trains(), seed in any::<u64>(),
    ) {
        let build = || Chain::new(&stages, Seed(seed), at(0)).unwrap();
        let prompt = drive(&mut build(), trains.clone());
        let (mut late, mut chain) = (support::Log::default(), build());
        for (when, train) in trains {
            chain.offer(when, train, &mut late);
        }
        chain.advance(at(100_000_000), &mut late);
        prop_assert_eq!(prompt, late);
    }
}
