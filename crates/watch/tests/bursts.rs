//! Claims about bursts of a real device: every byte counted, no burst longer than the sending took.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use linux::netns::in_fresh_netns;
use model::bursts::{BurstReport, CountedBy};
use units::{DataRate, Percent};
use watch::bursts::{Request, watch};

/// Watches loopback of a fresh namespace while `work` runs there.
fn watched(bucket: Duration, work: impl FnOnce() + Send) -> BurstReport {
    let request = Request {
        device: "lo".to_owned(),
        namespace: None,
        bucket,
        length: None,
        // A datagram in each bucket is a burst of such a link.
        line_rate: Some(DataRate::from_bps(1_000_000)),
        threshold: Percent::new(50).unwrap(),
        drain: Some(DataRate::from_bps(8_000)),
    };
    let stop = AtomicBool::new(false);
    in_fresh_netns(|| {
        thread::scope(|scope| {
            let (tell, told) = channel();
            let watcher = scope.spawn(|| {
                watch(
                    &request,
                    || stop.load(Ordering::Relaxed),
                    move |_| {
                        // Nobody listens any more once the first has come.
                        let _ = tell.send(());
                    },
                )
            });
            // Progress is told of once the device is watched.
            told.recv().unwrap();
            work();
            stop.store(true, Ordering::Relaxed);
            watcher.join().unwrap().unwrap()
        })
    })
    .unwrap()
}

#[test]
fn a_burst_of_known_volume_is_found_with_every_byte() {
    let (mut took, mut port) = (Duration::ZERO, 0);
    let bucket = Duration::from_millis(10);
    let report = watched(bucket, || {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        port = source.local_addr().unwrap().port();
        let begin = Instant::now();
        for _ in 0..3_000 {
            source.send_to(&[0; 1_000], sink.local_addr().unwrap()).unwrap();
        }
        took = begin.elapsed();
    });
    if report.counted_by == CountedBy::Counters {
        // Who may load no program is told so, and has the sums of the counters.
        assert!(report.notes.iter().any(|note| note.contains("CAP_BPF")), "{:?}", report.notes);
        return;
    }
    let all = 3_000 * (1_000 + 42);
    for direction in &report.directions {
        assert_eq!((direction.bytes.get(), direction.packets.get()), (all, 3_000), "{:?}", direction.heading);
        assert_eq!(direction.in_bursts.get(), all, "each bucket with a datagram is one of a burst");
        assert_eq!(direction.missed_buckets, 0);
        let length: Duration = direction.largest.iter().map(|burst| burst.length).sum();
        let most = took + bucket * 2 * u32::try_from(direction.bursts).unwrap();
        assert!(length <= most, "{length:?} of {took:?} in {} bursts", direction.bursts);
        assert!(direction.largest.iter().all(|burst| burst.flows == Some(1)), "{:?}", direction.largest);
        // All of each burst is of the one flow there is.
        for burst in &direction.largest {
            let [flow] = &burst.busiest[..] else { panic!("one flow: {burst:?}") };
            assert_eq!((flow.source.port(), flow.bytes, flow.protocol), (port, burst.bytes, 17));
        }
        // Nearly nothing leaves a queue of 1 kbyte/s.
        let queue = direction.queue.unwrap().most.get();
        assert!(queue <= all + 3_000 * 24 && queue > all / 2, "{queue}");
    }
}

#[test]
fn a_quiet_device_has_no_burst() {
    let report = watched(Duration::from_millis(1), || {});
    assert!(report.directions.iter().all(|direction| direction.bursts == 0 && direction.bytes.get() == 0));
}

#[test]
fn a_device_that_is_not_there_is_told_with_those_that_are() {
    let request = Request {
        device: "nonesuch".to_owned(),
        namespace: None,
        bucket: Duration::from_millis(1),
        length: None,
        line_rate: None,
        threshold: Percent::new(50).unwrap(),
        drain: None,
    };
    let error = in_fresh_netns(|| watch(&request, || false, |_| {})).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "there is no device nonesuch here; there are lo");
}

/// Two senders, of which one sends three times as much as the other in the same bursts.
#[test]
fn flows_of_a_burst_have_their_parts_of_it() {
    let mut ports = [0; 2];
    let report = watched(Duration::from_millis(10), || {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sources = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        ports = [0, 1].map(|each: usize| sources[each].local_addr().unwrap().port());
        for number in 0..8_000 {
            sources[usize::from(number % 4 == 3)].send_to(&[0; 1_000], sink.local_addr().unwrap()).unwrap();
        }
    });
    if report.counted_by == CountedBy::Counters {
        return;
    }
    for burst in report.directions.iter().map(|direction| &direction.largest[0]) {
        let part = |port: u16| {
            let flow = burst.busiest.iter().find(|flow| flow.source.port() == port).unwrap();
            flow.bytes.get() * 100 / burst.bytes.get()
        };
        // Flows that take turns: looking at every sixteenth packet would find the smaller one alone.
        let [more, less] = ports.map(part);
        assert!((65..=85).contains(&more) && (15..=35).contains(&less), "{more} % and {less} %: {burst:?}");
    }
}

/// A queue of the device that is too small for what is sent at once.
#[test]
fn the_buckets_around_a_drop_are_kept() {
    let report = watched(Duration::from_millis(1), || {
        let shaped = std::process::Command::new("tc")
            .args("qdisc add dev lo root handle 7: tbf rate 1mbit burst 3000 limit 3000".split(' '))
            .status()
            .unwrap();
        assert!(shaped.success());
        // The counter is there before it grows.
        thread::sleep(Duration::from_millis(300)); // allow(sleep): the watch reads counters of drops every 100 ms, and no event says so
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..100 {
            // A queue that drops says so to the sender of a datagram, or does not.
            let _ = source.send_to(&[0; 1_000], "127.0.0.1:9");
        }
    });
    let dropped: u64 = report.drops.iter().flat_map(|drop| &drop.counters).map(|each| each.packets.get()).sum();
    // The burst and the queue pass at once; how many more, the clock decides.
    assert!((1..=97).contains(&dropped), "{:?}", report.drops);
    assert!(report.drops.iter().all(|drop| drop.counters.iter().all(|each| each.counter == "7: tbf qdisc drops")));
    assert_eq!(report.more_drops, 0);
    let directions = report.drops.iter().flat_map(|drop| &drop.directions);
    let offered: u64 = directions
        .filter(|direction| direction.heading == model::measurement::Heading::Outbound)
        .flat_map(|direction| &direction.wire_bytes)
        .sum();
    // Who counts packets counts those that were offered, before the queue; counters have what the device sent.
    let least = if report.counted_by == CountedBy::Program { 100 * (1_042 + 24) } else { 1 };
    assert!(offered >= least, "{offered}: {:?}", report.drops);
}
