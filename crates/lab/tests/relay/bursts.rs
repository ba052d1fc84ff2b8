//! Bursts that the lab makes, watched at the device where they come out: `watch bursts` has their volume and their length.
//!
//! What is sent at once leaves a port of a known rate as one burst. The kernel's own time of each datagram at the receiving socket
//! says when it came, by another path than that of the program that counts.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use linux::sockets::{Direction, Switch, set_buffer_size_beyond_limit, set_receive_time};
use model::bursts::{BurstReport, CountedBy};
use units::{ByteCount, DataRate, Percent};
use watch::bursts::{Request, watch};

use crate::world::{Host, World, v4};

/// Payload, UDP, IPv4, Ethernet.
const PACKET: u64 = 1_000 + 8 + 20 + 14;
/// So slow that the relay keeps its times beside a build as well: it sleeps between packets.
const RATE: u64 = 40_000_000;
/// A second of the port, 200 buckets: what is left out of the half-full ones at both ends is less than 1 %.
const PACKETS: u64 = 4_800;
const BURSTS: u64 = 3;
const BUCKET: Duration = Duration::from_millis(5);

#[test]
fn bursts_of_a_port_are_found_with_their_volume_and_their_length() {
    before_all_else();
    let port = r#"{ port = { rate = "40Mbit/s", queue = { bytes = "8MB" } } }"#;
    let world = World::new(port, "");
    let (sink, came) = sink(&world.hosts[1]);
    let (stop, began) = (Arc::new(AtomicBool::new(false)), channel());
    let report = thread::scope(|scope| {
        // Also where a claim does not hold: nobody would see that otherwise.
        let stopping = Stopping(&stop);
        let watcher = scope.spawn(|| watched(&world.hosts[1], &stop, began.0));
        began.1.recv().unwrap();
        let mut times = Vec::new();
        for _ in 0..BURSTS {
            send(&world.hosts[0], sink.local_addr().unwrap().port());
            times.push(arrived(&came));
            thread::sleep(BUCKET * 20); // allow(sleep): bursts are apart by it
        }
        drop(stopping);
        (watcher.join().unwrap(), times)
    });
    let (relay, _) = world.stop();
    let late = relay.wires[0].directions[0].lateness.longest() + relay.stopped;
    compare(&report.0, &report.1, late);
}

/// Stops a watch.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// When each datagram of a burst came. Beside a build the queue of a device before the relay overflows, so that some never come.
fn arrived(came: &Receiver<u64>) -> Vec<u64> {
    let mut times = vec![came.recv_timeout(PATIENCE).unwrap()];
    while times.len() < usize::try_from(PACKETS).unwrap()
        && let Ok(time) = came.recv_timeout(QUIET)
    {
        times.push(time);
    }
    times
}

/// Has what this thread starts run before all others (SCHED_FIFO), where that is allowed: beside a build the relay stands still again and
/// again, and each burst is many.
fn before_all_else() {
    let thread = std::fs::read_link("/proc/thread-self").unwrap();
    let _ = Command::new("chrt").args(["--fifo", "--pid", "1", thread.file_name().unwrap().to_str().unwrap()]).status();
}

/// Each burst that was made against those found in its time: it is found in parts where the relay stood still for more than a bucket.
fn compare(report: &BurstReport, made: &[Vec<u64>], late: Duration) {
    let inbound = &report.directions[0];
    let bytes = |times: &Vec<u64>| u64::try_from(times.len()).unwrap() * PACKET;
    let all: u64 = made.iter().map(bytes).sum();
    // Neighbours that look for each other have a few packets besides.
    assert!((all..=all + all / 1_000).contains(&inbound.bytes.get()), "{} of {all}", inbound.bytes);
    if report.counted_by == CountedBy::Counters {
        // Who may load no program is told so, and has the sums of the counters.
        return assert!(report.notes.iter().any(|note| note.contains("CAP_BPF")), "{:?}", report.notes);
    }
    let bucket = nanos(BUCKET);
    for (number, times) in made.iter().enumerate() {
        let (first, last) = (times[0], times[times.len() - 1]);
        let of_it: Vec<_> = inbound
            .largest
            .iter()
            .filter(|burst| (first - bucket..=last).contains(&burst.start.unix_nanos()))
            .collect();
        let found: u64 = of_it.iter().map(|burst| burst.bytes.get()).sum();
        // A bucket at either end of a part is left out where it is less than half full.
        let expected = in_full_buckets(times, inbound.largest[0].start.unix_nanos() % bucket);
        assert!(found.abs_diff(expected) * 100 <= expected, "burst {number}: {found} of {expected} bytes in {of_it:?}");
        let begin = of_it.iter().map(|burst| burst.start.unix_nanos()).min().unwrap();
        let end = of_it.iter().map(|burst| burst.start.unix_nanos() + nanos(burst.length)).max().unwrap();
        // Half a bucket at either end, and what came late, and so in a clump.
        let off = Duration::from_nanos((end - begin).abs_diff(last - first));
        assert!(off <= BUCKET + late, "burst {number}: {} of {} ns", end - begin, last - first);
        // What the port takes for it, and what the relay says that it was late.
        let planned = DataRate::from_bps(RATE).time_for(ByteCount::new(bytes(times))).unwrap();
        let longer = Duration::from_nanos(end - begin).abs_diff(planned);
        assert!(longer <= BUCKET + late, "burst {number}: {longer:?} off, the relay was late by {late:?}");
        if of_it.len() == 1 {
            let burst = of_it[0];
            assert!(burst.bytes.get().abs_diff(bytes(times)) * 100 <= bytes(times), "{burst:?}");
        }
    }
}

/// Bytes in buckets that are more than half full at the line rate, buckets beginning at this part of one.
fn in_full_buckets(times: &[u64], phase: u64) -> u64 {
    let bucket = nanos(BUCKET);
    let mut full = 0;
    for together in times.chunk_by(|one, other| (one - phase) / bucket == (other - phase) / bucket) {
        let packets = u64::try_from(together.len()).unwrap();
        if packets * (PACKET + 24) * 8 * 2 > RATE / 200 {
            full += packets * PACKET;
        }
    }
    full
}

/// A socket that nothing is too much for, and when the kernel received each datagram, in nanoseconds since 1970.
fn sink(host: &Host) -> (UdpSocket, Receiver<u64>) {
    let socket = host.run(|| UdpSocket::bind((v4(2), 0)).unwrap());
    set_receive_time(&socket, Switch::On).unwrap();
    set_buffer_size_beyond_limit(&socket, Direction::Receive, ByteCount::new(64 << 20)).unwrap();
    let (reading, (came, times)) = (socket.try_clone().unwrap(), channel());
    reading.set_read_timeout(Some(PATIENCE)).unwrap();
    thread::spawn(move || {
        let mut batch = ReceiveBatch::new(BatchShape { messages: 64, message_bytes: 16 });
        while let Ok(Progress::Moved(_)) = batch.receive(reading.as_fd(), Wait::ForFirst) {
            for datagram in batch.iter() {
                let time = datagram.report().received_at.unwrap().unix_nanos();
                // Nobody listens any more at the end.
                let _ = came.send(time);
            }
        }
    });
    (socket, times)
}

fn send(host: &Host, port: u16) {
    host.run(move || {
        let socket = UdpSocket::bind((v4(1), 0)).unwrap();
        (0..PACKETS).for_each(|_| assert_eq!(socket.send_to(&[0; 1_000], (v4(2), port)).unwrap(), 1_000));
    });
}

fn watched(host: &Host, stop: &Arc<AtomicBool>, began: Sender<()>) -> BurstReport {
    let (stop, once) = (Arc::clone(stop), Once::new());
    host.run(move || {
        let request = Request {
            device: "wire0".to_owned(),
            namespace: None,
            bucket: BUCKET,
            length: None,
            line_rate: Some(DataRate::from_bps(RATE)),
            threshold: Percent::new(50).unwrap(),
            drain: None,
        };
        let progress = move |_| once.call_once(|| began.send(()).unwrap());
        watch(&request, || stop.load(Ordering::Relaxed), progress).unwrap()
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap()
}

/// Longer than the relay stands still.
const QUIET: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);
