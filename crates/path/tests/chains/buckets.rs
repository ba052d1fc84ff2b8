//! Policers and shapers against the token bucket: no window of time has more than the burst and the rate allow.

use path::Train;
use path::reason::{Delay, Drop};
use proptest::prelude::*;
use units::MonoTime;

use crate::support::{Log, at, chain, drive, segments};

/// The most by which what was delivered in any window exceeds `burst + rate x time`, in bytes; not above 0 if it conforms.
fn excess(log: &Log, burst: i128, rate_bps: i128) -> i128 {
    // What leaves the bucket full is the running minimum of `bytes so far - rate x time`: one pass instead of all windows.
    let (mut least, mut worst, mut bytes) = (i128::MAX, i128::MIN, 0);
    for (at, train) in &log.delivered {
        let earned = rate_bps * i128::from(at.as_nanos()) / 8 / 1_000_000_000;
        least = least.min(bytes - earned);
        bytes += i128::from(train.bytes().get());
        worst = worst.max(bytes - earned - least - burst);
    }
    worst
}

/// Trains of 1 to 40 packets that come at about `rate`, unevenly.
fn uneven() -> impl Strategy<Value = Vec<(MonoTime, Train)>> {
    prop::collection::vec((0_u64..400, 1_u32..40, 64_u32..1_514), 1..100).prop_map(|steps| {
        let mut now = 0;
        let train = |((pause, count, size), frame)| {
            now += pause;
            (at(now), segments(frame, count, size))
        };
        steps.into_iter().zip(0..).map(train).collect()
    })
}

proptest! {
    #[test]
    fn policer_lets_no_more_through_than_agreed(trains in uneven()) {
        let mut chain = chain(r#"chain = [{ policer = { rate = "500Mbit/s", burst = "20kB" } }]"#, 1);
        let log = drive(&mut chain, trains);
        // Rounding a time to bytes is off by one at both ends.
        prop_assert!(excess(&log, 20_000, 500_000_000) <= 2);
    }

    #[test]
    fn shaper_lets_no_more_through_than_agreed_and_all_of_it(trains in uneven()) {
        let mut chain = chain(r#"chain = [{ shaper = { rate = "500Mbit/s", burst = "20kB" } }]"#, 1);
        let log = drive(&mut chain, trains.clone());
        prop_assert!(excess(&log, 20_000, 500_000_000) <= 2);
        let offered: u64 = trains.iter().map(|(_, train)| u64::from(train.count.get())).sum();
        prop_assert_eq!(log.delivered_packets(), offered);
        prop_assert!(log.delivered.is_sorted_by_key(|(_, train)| (train.frame.0, train.first)), "in order");
    }
}

#[test]
fn overloaded_policer_passes_exactly_burst_and_rate() {
    // Twice the rate for 10 ms. Of each two packets one passes, once the ten of the burst are used up.
    let mut chain = chain(r#"chain = [{ policer = { rate = "1Gbit/s", burst = "12500B" } }]"#, 1);
    let log = drive(&mut chain, (0..2_000).map(|n| (at(5 * n), segments(u32::try_from(n).unwrap(), 1, 1_250))));
    let last_ns = 5_000 * 1_999;
    assert_eq!(log.delivered_packets(), (12_500 + last_ns / 8) / 1_250);
    assert_eq!(log.dropped_packets(Drop::Policed), 2_000 - log.delivered_packets());
    assert!(log.delivered.iter().all(|(left, train)| *left == at(5 * u64::from(train.frame.0))), "nothing waits");
}

#[test]
fn policer_that_remarks_drops_nothing() {
    let mut chain = chain(r#"chain = [{ policer = { rate = "1Mbit/s", burst = "3kB", remark = 8 } }]"#, 1);
    let log = drive(&mut chain, [(at(0), segments(0, 5, 1_000))]);
    let classes: Vec<(u32, u8)> = log.delivered.iter().map(|(_, train)| (train.count.get(), train.dscp)).collect();
    assert_eq!(classes, [(3, 0), (2, 8)]);
}

#[test]
fn shaper_under_load_passes_the_burst_at_once_and_then_the_rate() {
    // 100 packets of 1,250 bytes at once: ten pass, and one every 10 us from then on, in batches of up to 50 us.
    let mut chain = chain(r#"chain = [{ shaper = { rate = "1Gbit/s", burst = "12500B" } }]"#, 1);
    let log = drive(&mut chain, [(at(0), segments(0, 100, 1_250))]);
    let mut passed = 0;
    for (when, train) in &log.delivered {
        passed += u64::from(train.count.get());
        assert_eq!(*when, at((passed - 10) * 10), "{passed} packets");
    }
    assert_eq!(passed, 100);
    assert_eq!(chain.tallies().next().unwrap().delayed_for(Delay::Shaping).longest.as_micros(), 900);
}

#[test]
fn shaper_drops_what_its_queue_and_its_bucket_cannot_hold() {
    let mut chain = chain(r#"chain = [{ shaper = { rate = "1Mbit/s", burst = "2kB", queue = { packets = 3 } } }]"#, 1);
    let log = drive(
        &mut chain,
        [(at(0), segments(0, 2, 1_000)), (at(0), segments(1, 5, 1_000)), (at(0), segments(2, 1, 2_001))],
    );
    assert_eq!(
        (log.delivered_packets(), log.dropped_packets(Drop::QueueFull), log.dropped_packets(Drop::TooBig)),
        (5, 2, 1)
    );
}

#[test]
fn faster_shaper_lets_out_what_waits_at_the_new_rate() {
    let mut stages = crate::support::stages(r#"chain = [{ shaper = { rate = "1kbit/s", burst = "2kB" } }]"#);
    let faster = toml::from_str(r#"shaper = { rate = "8Mbit/s", burst = "2kB" }"#).unwrap();
    stages[0].changes.push(path::Change { at: at(1_000), spec: faster });
    let mut chain = path::Chain::new(&stages, path::Seed(1), at(0)).unwrap();
    let log = drive(&mut chain, [(at(0), segments(0, 4, 1_000))]);
    let last = log.delivered.last().unwrap().0;
    assert!((at(2_990)..=at(3_000)).contains(&last), "two at once, two at 1 ms each from 1 ms on: {last:?}");
}
