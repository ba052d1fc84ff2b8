//! What happens by chance happens as often as it should. Bounds are five standard deviations.

#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // Counts of tests.

use path::reason::{Delay, Drop};
use path::{FlowHash, PacketKind, Train};
use units::MonoTime;

use crate::support::{Log, at, chain, drive, segments};

/// A million packets of 1,000 bytes in trains of 40, one train every 400 microseconds.
fn million() -> impl Iterator<Item = (MonoTime, Train)> {
    (0..25_000).map(|n| (at(400 * u64::from(n)), segments(n, 40, 1_000)))
}

fn run(text: &str) -> Log {
    drive(&mut chain(text, 11), million())
}

/// Asserts that `count` is within five standard deviations of a binomial of a million trials.
fn assert_binomial(count: u64, probability: f64) {
    let (mean, deviation) = (1e6 * probability, (1e6 * probability * (1.0 - probability)).sqrt());
    assert!((count as f64 - mean).abs() <= 5.0 * deviation, "{count}, expected {mean} and {deviation}");
}

/// Numbers of the packets of a run that were dropped, in order.
fn dropped(log: &Log) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::new();
    for (.., train) in &log.dropped {
        let first = u64::from(train.frame.0) * 40 + u64::from(train.first);
        numbers.extend(first..first + u64::from(train.count.get()));
    }
    numbers
}

#[test]
fn random_losses_have_their_probability_and_no_memory() {
    for probability in [0.0001, 0.01, 0.3] {
        let log = run(&format!("chain = [{{ loss = {{ random = {probability} }} }}]"));
        assert_binomial(log.dropped_packets(Drop::Random), probability);
        let numbers = dropped(&log);
        let pairs = numbers.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert_binomial(pairs as u64, probability * probability);
    }
}

#[test]
fn bursty_losses_have_the_share_and_the_length_of_the_channel() {
    // The channel is bad for 1 / 0.1 packets in the mean, and in 0.01 / (0.01 + 0.1) of the time. The number of
    // losses varies by (1 + r) / (1 - r) more than a binomial, with r = 1 - 0.01 - 0.1: 17 times.
    let log = run("chain = [{ loss = { bursty = { to-bad = 0.01, to-good = 0.1 } } }]");
    let numbers = dropped(&log);
    let share: f64 = 0.01 / 0.11;
    let deviation = (1e6 * share * (1.0 - share) * 1.89 / 0.11).sqrt();
    assert!((numbers.len() as f64 - 1e6 * share).abs() < 5.0 * deviation, "{}", numbers.len());
    let bursts = 1 + numbers.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
    let mean = numbers.len() as f64 / bursts as f64;
    // 9,091 bursts of a geometric length with a deviation of 9.5: 0.1.
    assert!((mean - 10.0).abs() < 0.5, "{mean}");
}

#[test]
fn losses_in_both_states_add_up() {
    let log =
        run("chain = [{ loss = { bursty = { to-bad = 0.5, to-good = 0.5, loss-in-bad = 0.2, loss-in-good = 0.1 } } }]");
    assert_binomial(log.dropped_packets(Drop::Burst), 0.15);
}

#[test]
fn every_nth_is_lost_exactly() {
    let log = run("chain = [{ loss = { every-nth = 1000 } }]");
    let expected: Vec<u64> = (1..=1_000).map(|n| n * 1_000 - 1).collect();
    assert_eq!(dropped(&log), expected);
}

#[test]
fn large_packets_are_lost_in_proportion_to_their_size() {
    let text = "chain = [{ loss = { large = { above = 1514, probability = 0.1 } } }]";
    for (size, probability) in [(9_014, 0.1), (5_264, 0.05), (1_514, 0.0)] {
        let trains = (0..25_000).map(|n| (at(400 * u64::from(n)), segments(n, 40, size)));
        let log = drive(&mut chain(text, 2), trains);
        assert_binomial(log.dropped_packets(Drop::Large), probability);
    }
}

#[test]
fn bad_member_loses_only_its_own_flows() {
    let text = "chain = [{ loss = { member = { of = 4, bad = 2, probability = 0.5 } } }]";
    let trains = (0..10_000).map(|n| (at(n), Train { flow: FlowHash((n % 8) as u32), ..segments(n as u32, 1, 100) }));
    let log = drive(&mut chain(text, 2), trains);
    assert!(log.dropped.iter().all(|(.., train)| train.flow.0 % 4 == 2));
    // 2,500 trials of a half: a deviation of 25.
    assert!((1_125..=1_375).contains(&log.dropped_packets(Drop::BadMember)));
}

#[test]
fn duplicates_are_counted_and_come_right_behind() {
    let mut chain = chain("chain = [{ duplicate = { probability = 0.01 } }]", 3);
    let log = drive(&mut chain, million());
    let copies = chain.tallies().next().unwrap().duplicated_amount().packets.get();
    assert_binomial(copies, 0.01);
    assert_eq!(log.delivered_packets(), 1_000_000 + copies);
    assert_eq!(log.duplicated.len() as u64, copies);
    let order: Vec<u64> =
        log.delivered.iter().map(|(_, train)| u64::from(train.frame.0) * 40 + u64::from(train.first)).collect();
    assert!(order.is_sorted());
}

#[test]
fn corrupt_packets_are_delivered_with_their_fault() {
    let log = run("chain = [{ corrupt = { probability = 0.001 } }]");
    let corrupted = log.delivered.iter().filter(|(_, train)| train.edits.corrupted);
    let packets: u64 = corrupted.map(|(_, train)| u64::from(train.count.get())).sum();
    assert_binomial(packets, 0.001);
    assert_eq!(log.delivered_packets(), 1_000_000);
}

#[test]
fn held_packet_is_overtaken_by_those_that_come_in_its_time() {
    // A packet every 10 us, each tenth held for 35 us: its extent (RFC 4737 section 4.2.1) is 3.
    let mut chain = chain(r#"chain = [{ reorder = { every-nth = 10, time = "35us" } }]"#, 1);
    let log = drive(&mut chain, (0..1_000).map(|n| (at(10 * u64::from(n)), segments(n, 1, 100))));
    let order: Vec<u32> = log.delivered.iter().map(|(_, train)| train.frame.0).collect();
    let mut reordered = 0;
    for (place, frame) in order.iter().enumerate() {
        let overtaken_by = order[..place].iter().filter(|earlier| *earlier > frame).count();
        let expected = if frame % 10 == 9 && *frame < 990 { 3 } else { 0 };
        assert_eq!(overtaken_by, expected, "packet {frame}");
        reordered += usize::from(overtaken_by > 0);
    }
    assert_eq!((order.len(), reordered), (1_000, 99));
    let held = chain.tallies().next().unwrap().delayed_for(Delay::Reordering);
    assert_eq!((held.packets.get(), held.longest.as_micros()), (100, 35));
}

#[test]
fn held_share_is_its_probability() {
    let mut chain = chain(r#"chain = [{ reorder = { probability = 0.02, time = "1ms" } }]"#, 5);
    drive(&mut chain, million());
    assert_binomial(chain.tallies().next().unwrap().delayed_for(Delay::Reordering).packets.get(), 0.02);
}

#[test]
fn jitter_is_even_and_keeps_the_order_unless_it_is_free() {
    let run = |order: &str| {
        let text = format!(r#"chain = [{{ delay = {{ time = "1ms", jitter = "100us", order = "{order}" }} }}]"#);
        let mut chain = chain(&text, 5);
        let log = drive(&mut chain, (0..10_000).map(|n| (at(10 * u64::from(n)), segments(n, 1, 100))));
        let mean = chain.tallies().next().unwrap().delayed_for(Delay::Jitter).mean().unwrap();
        (log.delivered.iter().map(|(_, train)| train.frame.0).collect::<Vec<u32>>(), mean.as_nanos())
    };
    let (kept, waited) = run("kept");
    let (free, mean) = run("free");
    assert!(kept.is_sorted() && !free.is_sorted());
    // Evenly from 0 to 100 us: a deviation of 29 us, of the mean of 10,000 of 0.29 us. Who keeps the order waits longer.
    assert!((48_500..51_500).contains(&mean), "{mean}");
    assert!(waited > 60_000, "{waited}");
}

#[test]
fn shorter_route_overtakes_only_where_the_order_is_free() {
    for (order, arrivals) in [("kept", [10_000, 10_000, 12_000]), ("free", [3_000, 10_000, 12_000])] {
        let spec = |time: &str| format!(r#"delay = {{ time = "{time}", order = "{order}" }}"#);
        let mut stages = crate::support::stages(&format!("chain = [{{ {} }}]", spec("10ms")));
        stages[0].changes.push(path::Change { at: at(1_000), spec: toml::from_str(&spec("1ms")).unwrap() });
        let mut chain = path::Chain::new(&stages, path::Seed(1), at(0)).unwrap();
        let log = drive(&mut chain, [0, 2_000, 11_000].map(|us| (at(us), segments(0, 1, 100))));
        assert_eq!(log.delivered.iter().map(|(at, _)| *at).collect::<Vec<_>>(), arrivals.map(at), "{order}");
    }
}

#[test]
fn what_a_link_needs_is_left_alone() {
    for element in [
        "loss = { random = 1.0 }",
        "corrupt = { probability = 1.0 }",
        "duplicate = { probability = 1.0 }",
        r#"reorder = { every-nth = 1, time = "1s" }"#,
        r#"policer = { rate = "1bit/s", burst = "2kB" }"#,
        "mtu = { bytes = 68 }",
        r#"firewall = { packets-per-second = 1 }"#,
        r#"ecn = "mark-all""#,
    ] {
        let link = |n: u32| Train { kind: PacketKind::Link, ..segments(n, 1, 1_514) };
        let log = drive(&mut chain(&format!("chain = [{{ {element} }}]"), 1), (0..5).map(|n| (at(1), link(n))));
        let untouched =
            log.delivered.iter().all(|(when, train)| *when == at(1) && train.edits == path::Edits::default());
        assert!(untouched && log.delivered.len() == 5, "{element}");
    }
}
