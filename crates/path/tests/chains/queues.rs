//! Queues before a transmitter against what queueing theory says of them.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // Instants of tests.

use std::num::NonZeroU32;
use std::time::Duration;

use path::random::SeededRng;
use path::reason::{Delay, Drop, Mark};
use path::{Ecn, Seed, Spacing, Train};
use units::MonoTime;

use crate::support::{at, chain, drive, segments};

/// `count` single packets of `size` bytes by a Poisson process with this mean gap.
fn poisson(count: u32, size: u32, gap_ns: f64, seed: u64) -> Vec<(MonoTime, Train)> {
    let mut rng = SeededRng::new(Seed(seed));
    let mut now = 0.0;
    let arrive = |frame| {
        now -= gap_ns * (-rng.unit()).ln_1p();
        (MonoTime::from_nanos(now as u64), segments(frame, 1, size))
    };
    (0..count).map(arrive).collect()
}

#[test]
fn packets_at_random_wait_as_long_as_pollaczek_and_khinchine_say() {
    // M/D/1: the mean wait is rho / (2 (1 - rho)) of a service time, which here is 10 us. The mean of 200,000 packets is
    // within 5 % of that: waits at these loads are alike over some 20 packets, so that many are like 10,000
    // independent ones, with a standard deviation about as large as their mean: 1 %, and five of these.
    for (rho, expected_us) in [(0.3, 2.143), (0.5, 5.0), (0.7, 11.667)] {
        let mut chain = chain(r#"chain = [{ port = { rate = "1Gbit/s" } }]"#, 1);
        let log = drive(&mut chain, poisson(200_000, 1_250, 10_000.0 / rho, 7));
        assert_eq!(log.delivered_packets(), 200_000);
        let waiting = chain.tallies().next().unwrap().delayed_for(Delay::Queue).mean().unwrap();
        let mean_us = waiting.as_nanos() as f64 / 1_000.0;
        assert!((mean_us / expected_us - 1.0).abs() < 0.05, "load {rho}: {mean_us} us, expected {expected_us}");
    }
}

#[test]
fn queue_is_full_after_its_size_over_the_excess_rate() {
    // 2 Gbit/s come, 1 Gbit/s leaves, 1 MB has room: 1 MB / 125 MB/s = 8 ms.
    let mut chain = chain(r#"chain = [{ port = { rate = "1Gbit/s", queue = { bytes = "1MB" } } }]"#, 1);
    let trains = (0..4_000).map(|n| (at(5 * n), segments(u32::try_from(n).unwrap(), 1, 1_250)));
    let log = drive(&mut chain, trains);
    let first = log.dropped.first().unwrap().0;
    // One packet takes 10 us; the one that is being sent waits nowhere, and adds one more.
    assert!((at(8_000)..=at(8_020)).contains(&first), "{first:?}");
    assert!(log.dropped.iter().all(|(.., reason, _)| *reason == Drop::QueueFull));
    let longest = chain.tallies().next().unwrap().delayed_for(Delay::Queue).longest;
    assert!((at(7_980)..=at(8_010)).contains(&(at(0) + longest)), "a full queue takes 8 ms: {longest:?}");
}

/// Trains of eight packets come over a link as fast as the one before which they queue, and that is filled by others: while
/// one comes, two packets come for each that leaves, so that half of it is dropped, whatever its share of the whole. What
/// waits from the beginning is 100 kB of 3 MB. A tenth is what groups of cross traffic may add to that.
#[test]
fn a_train_that_takes_its_time_loses_half_in_a_full_queue() {
    let text = r#"chain = [{ port = { rate = "1Gbit/s", queue = { bytes = "100kB" }, cross = { packet-bytes = 1250, bursts = [{ rate = "1Gbit/s" }] } } }]"#;
    let lost = |spacing: Spacing| {
        let mut chain = chain(text, 1);
        let train = |n: u32| (at(320 * u64::from(n)), Train { spacing, ..segments(n, 8, 1_250) });
        drive(&mut chain, (0..300).map(train)).dropped_packets(Drop::QueueFull) as f64 / 2_400.0
    };
    let eight = NonZeroU32::new(8).unwrap();
    let share = lost(Spacing::of(Duration::from_micros(80), eight));
    assert!((0.43..=0.55).contains(&share), "{share}");
    let at_once = lost(Spacing::NONE);
    assert!(at_once > share, "what comes at one instant finds less room: {at_once}");
}

#[test]
fn burst_costs_what_the_queue_cannot_take_of_its_excess() {
    // Drops = (r + c - C) t - B: a burst of r = 8 Gbit/s for t = 10 ms beside a flow of c = 6 Gbit/s, on a link of
    // C = 10 Gbit/s with B = 2 MB: 5 MB - 2 MB are 2,400 packets of 1,250 bytes. Both flows are real here.
    let mut trains: Vec<(MonoTime, Train)> = Vec::new();
    let every = |gap_ns: f64, count: u32, first: u32| {
        (0..count).map(move |n| (MonoTime::from_nanos((f64::from(n) * gap_ns) as u64), segments(first + n, 1, 1_250)))
    };
    trains.extend(every(10_000.0 / 8.0, 8_000, 0));
    trains.extend(every(10_000.0 / 6.0, 12_000, 8_000));
    trains.sort_by_key(|(at, _)| *at);
    let mut chain = chain(r#"chain = [{ port = { rate = "10Gbit/s", queue = { bytes = "2MB" } } }]"#, 1);
    let dropped = drive(&mut chain, trains).dropped_packets(Drop::QueueFull);
    // The port sends packets of up to 50 us together, and what is being sent is not in the queue any more: 50 packets.
    assert!((2_340..=2_410).contains(&dropped), "{dropped}");
}

#[test]
fn cross_traffic_takes_its_share_of_a_full_queue() {
    // As above, with the burst as cross traffic: of 2,400 drops, the flow has c / (r + c) = 6/14, if its packets come at
    // random: 1,029. Cross traffic comes in groups of four, which lose a little more or less than single packets, as it
    // falls: 15 %.
    let mut chain = chain(
        r#"chain = [{ port = { rate = "10Gbit/s", queue = { bytes = "2MB" }, cross = { packet-bytes = 1250, bursts = [
            { rate = "8Gbit/s", length = "10ms" }] } } }]"#,
        1,
    );
    let log = drive(&mut chain, poisson(12_000, 1_250, 10_000.0 / 6.0, 3));
    let dropped = log.dropped_packets(Drop::QueueFull);
    assert!((875..=1_183).contains(&dropped), "{dropped}");
    let last = log.dropped.last().unwrap().0;
    assert!((at(9_900)..at(10_050)).contains(&last), "they end with the burst: {last:?}");
}

#[test]
fn cross_traffic_comes_when_it_should_also_after_a_change() {
    let mut stages = crate::support::stages(
        r#"chain = [{ port = { rate = "1Gbit/s", queue = { packets = 1 }, cross = { bursts = [{ rate = "10Gbit/s" }] } } }]"#,
    );
    let with_break = r#"port = { rate = "1Gbit/s", queue = { packets = 1 }, cross = { bursts = [
        { rate = "10Gbit/s", start = "5ms", length = "1ms", period = "10ms" }] } }"#;
    stages[0].changes.push(path::Change { at: at(50_000), spec: toml::from_str(with_break).unwrap() });
    let mut chain = path::Chain::new(&stages, Seed(1), at(0)).unwrap();
    let log = drive(&mut chain, (0..1_000).map(|n| (at(100 * n + 50), segments(u32::try_from(n).unwrap(), 1, 100))));
    let dropped_in =
        |from: u64, until: u64| log.dropped.iter().filter(|(t, ..)| (at(from)..at(until)).contains(t)).count();
    assert!(dropped_in(0, 50_000) > 250, "ten times the link for ever");
    assert_eq!(dropped_in(50_200, 55_000), 0);
    assert!(dropped_in(55_000, 56_000) >= 4);
    assert_eq!(dropped_in(56_200, 65_000), 0);
    assert!(dropped_in(65_000, 66_000) >= 4);
}

#[test]
fn marks_begin_above_the_threshold() {
    let mut chain = chain(r#"chain = [{ port = { rate = "1Gbit/s", queue = { mark-above = "10kB" } } }]"#, 1);
    let capable = |frame| Train { ecn: Ecn::Capable0, ..segments(frame, 1, 1_000) };
    let log = drive(&mut chain, (0..20).map(|frame| (at(0), capable(frame))).chain([(at(0), segments(20, 1, 1_000))]));
    let marked: Vec<u32> = log.marked.iter().map(|(.., train)| train.frame.0).collect();
    // The first is being sent, and eleven wait before more than 10 kB do.
    assert_eq!(marked, (12..20).collect::<Vec<u32>>(), "and the last does not understand marks");
    assert!(log.marked.iter().all(|(.., reason, train)| *reason == Mark::Threshold && train.edits.ecn_rewritten));
    assert_eq!(log.delivered_packets(), 21);
}

#[test]
fn change_of_rate_holds_for_the_rest_of_the_packet_that_is_being_sent() {
    let mut stages = crate::support::stages(r#"chain = [{ port = { rate = "1Mbit/s" } }]"#);
    let faster = toml::from_str(r#"port = { rate = "10Mbit/s" }"#).unwrap();
    stages[0].changes.push(path::Change { at: at(4_000), spec: faster });
    let mut chain = path::Chain::new(&stages, Seed(1), at(0)).unwrap();
    // 1,000 bytes take 8 ms at first; the half that is left after 4 ms takes 0.4 ms.
    let log = drive(&mut chain, [(at(0), segments(0, 1, 1_000))]);
    assert_eq!(log.delivered[0].0, at(4_400));
}

#[test]
fn what_a_link_needs_is_never_dropped_by_a_queue() {
    let text = r#"chain = [{ port = { rate = "1Mbit/s", queue = { packets = 1 } } }]"#;
    let link = |frame| Train { kind: path::PacketKind::Link, ..segments(frame, 1, 60) };
    let trains = (0..50).map(|n| (at(0), if n % 2 == 0 { link(n) } else { segments(n, 1, 1_500) }));
    let log = drive(&mut chain(text, 1), trains);
    assert!(log.dropped.iter().all(|(.., train)| train.kind != path::PacketKind::Link));
    assert!(log.dropped_packets(Drop::QueueFull) > 20);
}
