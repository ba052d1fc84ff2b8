//! A path that holds 27,700 segments, as 10 Gbit/s over 200 ms do with jumbo frames: programs that keep 10,000 of them, or tell a
//! retransmission from reordering by its delay, are wrong here.

use crate::support::{MS, MSS, Written};
use capture::report::TransferReport;

const RTT: u64 = 200 * MS;
/// Segments in flight.
const WINDOW: u32 = 27_700;
const SEGMENTS: u32 = 90_000;
const LOSSES: u32 = 48;
/// Time between segments.
const GAP: u64 = RTT / WINDOW as u64;

/// What the receiver has.
struct Receiver {
    /// Missing segments below `top`, in order.
    holes: Vec<u32>,
    top: u32,
}

impl Receiver {
    /// Takes a segment and acknowledges it, with the newest three blocks of what came out of order.
    fn take(&mut self, segment: u32) -> (u32, Vec<(u32, u32)>) {
        if segment >= self.top {
            self.holes.extend(self.top..segment);
            self.top = segment + 1;
        } else {
            self.holes.retain(|hole| *hole != segment);
        }
        let mut blocks = Vec::new();
        let mut end = self.top;
        for hole in self.holes.iter().rev() {
            if hole + 1 < end && blocks.len() < 3 {
                blocks.push((hole + 1, end));
            }
            end = *hole;
        }
        (self.holes.first().copied().unwrap_or(self.top), blocks)
    }
}

/// Each of [`LOSSES`] segments is lost once, and retransmitted an RTT later; every second segment is acknowledged, and each
/// while there is a hole.
fn lossy(isn: u32) -> TransferReport {
    let mut written = Written::scaled(isn, RTT, 0xffff, 14);
    let is_lost = |segment: u32| segment % (SEGMENTS / LOSSES) == 900;
    // What is sent, in order: when, which, and whether it arrives.
    let mut sent: Vec<(u64, u32, bool)> = Vec::new();
    for segment in 0..SEGMENTS {
        let at = 2 * RTT + u64::from(segment) * GAP;
        sent.push((at, segment, !is_lost(segment)));
        if is_lost(segment) {
            // Behind the third acknowledgment that lacks it.
            sent.push((at + RTT + 4 * GAP + GAP / 2, segment, true));
        }
    }
    sent.sort_by_key(|packet| packet.0);
    let mut receiver = Receiver { holes: Vec::new(), top: 0 };
    let mut acks = std::collections::VecDeque::new();
    for (at, segment, arrives) in sent {
        while acks.front().is_some_and(|(ack_at, ..): &(u64, u32, Vec<_>)| *ack_at <= at) {
            let (ack_at, to, blocks) = acks.pop_front().unwrap();
            written.ack(ack_at, to, &blocks);
        }
        written.data(at, segment);
        if arrives {
            let (to, blocks) = receiver.take(segment);
            if !blocks.is_empty() || to % 2 == 0 {
                acks.push_back((at + RTT - 1, to, blocks));
            }
        }
    }
    for (at, to, blocks) in acks {
        written.ack(at, to, &blocks);
    }
    written.transfer()
}

#[test]
fn each_retransmission_and_the_whole_flight_of_a_long_path_are_counted() {
    let transfer = lossy(1_000);
    let counts = &transfer.counts;
    assert_eq!(counts.retransmits, u64::from(LOSSES));
    assert_eq!((counts.spurious, counts.reordered, counts.dsacks, counts.unseen_bytes), (0, 0, 0, 0));
    assert_eq!(transfer.delivered_bytes, u64::from(SEGMENTS * MSS));
    let flight = f64::from(WINDOW * MSS);
    let found = transfer.flight_max_bytes as f64;
    assert!((found / flight - 1.0).abs() < 0.01, "{found} of {flight}");
    let rtt = transfer.rtt.unwrap();
    assert!(rtt.samples > 20_000 && (rtt.min_ns - RTT.cast_signed()).abs() < MS.cast_signed(), "{rtt:?}");
}

#[test]
fn no_duplicate_is_seen_where_sequence_numbers_wrap() {
    // 90 MB of numbers from here on pass the end of the field.
    let wrapped = lossy(4_250_000_000);
    assert_eq!(wrapped.counts, lossy(1_000).counts);
    assert_eq!((wrapped.counts.dsacks, wrapped.counts.spurious), (0, 0));
}

/// 59 segments come late, each is retransmitted, and a DSACK names each copy; every second DSACK is overtaken by the
/// acknowledgment behind it.
#[test]
fn each_needless_retransmission_is_proved_by_its_dsack() {
    const EVENTS: u32 = 59;
    let mut written = Written::new(1_000, 20 * MS, 0xffff);
    for event in 0..EVENTS {
        let (start, first) = (40 * MS + u64::from(event) * 100 * MS, event * 21);
        (0..20).for_each(|each| written.data(start + u64::from(each) * MS / 10, first + each));
        // Segment 5 is behind the others.
        (0..5).for_each(|each| written.ack(start + 20 * MS + u64::from(each) * MS / 10, first + each + 1, &[]));
        (6..10).for_each(|each| {
            written.ack(start + 20 * MS + u64::from(each) * MS / 10, first + 5, &[(first + 6, first + each + 1)]);
        });
        written.data(start + 21 * MS + MS / 5, first + 5);
        written.ack(start + 22 * MS, first + 20, &[]);
        written.data(start + 23 * MS, first + 20);
        let overtaken_ns = if event % 2 == 0 { 0 } else { 2 * MS };
        let dsack = (start + 42 * MS + overtaken_ns, [(first + 5, first + 6)]);
        let next = (start + 43 * MS, first + 21);
        if overtaken_ns == 0 {
            written.ack(dsack.0, first + 20, &dsack.1);
            written.ack(next.0, next.1, &[]);
        } else {
            written.ack(next.0, next.1, &[]);
            written.ack(dsack.0, first + 20, &dsack.1);
        }
    }
    let counts = written.transfer().counts;
    assert_eq!((counts.retransmits, counts.spurious, counts.dsacks), (59, 59, 59));
}
