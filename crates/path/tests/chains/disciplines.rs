//! RED and CoDel in a port that is overloaded.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // Instants of tests.

use path::reason::{Drop, Mark};
use path::{Ecn, Train};
use units::MonoTime;

use crate::support::{Log, at, chain, drive, segments};

/// On a link of 12 Mbit/s a packet of 1,500 bytes takes 1 ms.
const CODEL: &str =
    r#"chain = [{ port = { rate = "12Mbit/s", queue = { codel = { target = "5ms", interval = "100ms" } } } }]"#;

/// `count` packets of 1 ms each, one every `gap` microseconds.
fn packets(count: u32, gap: u64, ecn: Ecn) -> Vec<(MonoTime, Train)> {
    (0..count).map(|n| (at(gap * u64::from(n)), Train { ecn, ..segments(n, 1, 1_500) })).collect()
}

/// When `CoDel` drops, if a queue stands from time 0 on: the law of RFC 8289, reckoned by hand.
///
/// The first packet that waited for 5 ms is taken at 5 ms, so dropping begins at 105 ms, and goes on after
/// 100 ms / sqrt(n). It happens as a packet is taken, so at the next millisecond.
fn law(count: u32) -> Vec<MonoTime> {
    let mut next = 105e6;
    let mut instants = Vec::new();
    for n in 1..=count {
        instants.push(at((next / 1e6_f64).ceil() as u64 * 1_000));
        next += 100e6 / f64::from(n).sqrt();
    }
    instants
}

#[test]
fn codel_drops_at_the_instants_of_its_law() {
    let log = drive(&mut chain(CODEL, 1), packets(3_000, 0, Ecn::NotCapable));
    let instants: Vec<MonoTime> = log.dropped.iter().map(|(at, ..)| *at).collect();
    assert_eq!(instants[..30], law(30)[..]);
    assert!(log.dropped.iter().all(|(.., reason, _)| *reason == Drop::Sojourn));
}

#[test]
fn codel_marks_at_the_same_instants_and_drops_nothing() {
    let text = CODEL.replace("interval", "ecn = true, interval");
    let log = drive(&mut chain(&text, 1), packets(3_000, 0, Ecn::Capable0));
    let instants: Vec<MonoTime> = log.marked.iter().map(|(at, ..)| *at).collect();
    assert_eq!(instants[..30], law(30)[..]);
    assert!(log.dropped.is_empty() && log.marked.iter().all(|(.., reason, _)| *reason == Mark::Sojourn));
    assert_eq!(log.delivered_packets(), 3_000);
}

#[test]
fn codel_lets_a_burst_alone_that_is_gone_within_an_interval() {
    let log = drive(&mut chain(CODEL, 1), packets(100, 0, Ecn::NotCapable));
    assert_eq!(log.delivered_packets(), 100);
}

#[test]
fn codel_goes_on_where_it_stopped_if_it_begins_again_soon() {
    // A standing queue for 2 s, nothing for 0.3 s, and again: the second time the law does not begin with 100 ms.
    let mut trains = packets(2_000, 900, Ecn::NotCapable);
    trains.extend(packets(3_000, 700, Ecn::NotCapable).into_iter().map(|(when, train)| {
        (when + at(2_300_000).since(at(0)), Train { frame: path::FrameId(train.frame.0 + 5_000), ..train })
    }));
    let log = drive(&mut chain(CODEL, 1), trains);
    let second: Vec<MonoTime> =
        log.dropped.iter().filter(|(.., train)| train.frame.0 >= 5_000).map(|(at, ..)| *at).collect();
    let gap = second[1].since(second[0]);
    assert!(gap.as_millis() < 60, "{gap:?}");
}

#[test]
fn codel_drops_cross_traffic_silently_and_keeps_the_delay_low() {
    // Five percent too much for 10 s would be a queue of 500 ms. The law drops these 41 packets a second after 0.8 s, for
    // by then it has come to one in 100 ms / sqrt(17).
    let text = r#"chain = [{ port = { rate = "10Mbit/s", queue = { codel = {} }, cross = { bursts = [
        { rate = "10.5Mbit/s" }] } } }]"#;
    let mut chain = chain(text, 1);
    let probes = (0..500).map(|n| (at(20_000 * u64::from(n)), segments(n, 1, 60)));
    let log = drive(&mut chain, probes);
    assert_eq!(log.delivered_packets() + log.dropped_packets(Drop::Sojourn), 500);
    assert!(log.delivered_packets() > 450, "the probes are few of the packets");
    let tally = chain.tallies().next().unwrap();
    assert_eq!(tally.offered_amount().packets.get(), 500, "cross traffic is not counted");
    let longest = tally.delayed_for(path::reason::Delay::Queue).longest;
    assert!((5..100).contains(&longest.as_millis()), "{longest:?}");
}

fn red_run(ecn: Ecn) -> Log {
    // 12 Mbit/s come to 10 Mbit/s, for 60 s. A sixth has to go.
    let text = r#"chain = [{ port = { rate = "10Mbit/s", queue = { bytes = "300kB", red = { min = "30kB", max = "90kB",
        probability = 0.5, ecn = true } } } }]"#;
    drive(&mut chain(text, 3), packets(60_000, 1_000, ecn))
}

#[test]
fn red_finds_the_length_at_which_it_drops_the_excess() {
    let log = red_run(Ecn::NotCapable);
    let late = log.dropped.iter().filter(|(when, ..)| *when > at(10_000_000)).count();
    // In the steady state exactly the excess: 50,000 packets come in the last 50 s, and 41,667 leave.
    assert!((8_200..=8_460).contains(&late), "{late}");
    assert!(log.dropped.iter().all(|(.., reason, _)| *reason == Drop::Early), "the queue is never full");
    // The rate of drops is 2 p by the formula, so p = 1/12 on the way from 0 to 0.5: a sixth of that from 30 to 90 kB.
    let waits = log.delivered.iter().filter(|(when, _)| *when > at(10_000_000));
    let waits: Vec<f64> = waits.map(|(when, train)| when.since(offered(train)).as_secs_f64()).collect();
    let mean_bytes = waits.iter().sum::<f64>() / waits.len() as f64 * 10e6 / 8.0;
    assert!((38_000.0..44_000.0).contains(&mean_bytes), "{mean_bytes}");
}

/// When a packet of a run came.
fn offered(train: &Train) -> MonoTime {
    at(1_000 * u64::from(train.frame.0))
}

#[test]
fn red_marks_what_understands_marks() {
    let log = red_run(Ecn::Capable0);
    assert!(log.marked.len() > 5_000 && log.marked.iter().all(|(.., reason, _)| *reason == Mark::Early));
    assert!(
        log.dropped.iter().all(|(.., reason, _)| *reason == Drop::QueueFull),
        "marks alone do not slow this sender"
    );
}
