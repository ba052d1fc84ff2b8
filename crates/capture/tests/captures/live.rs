//! Packets as they pass: intervals, and the same report as of a file.

use capture::Owner;
use capture::file::{DropCounts, FileReader, Packet};
use capture::live::LiveTrace;
use capture::{Trace, TraceOptions};

use crate::support::{MS, MSS, Written, read};

const RTT: u64 = 20 * MS;
const START_NS: i64 = 1_700_000_000_000_000_000;

/// Windows of ten segments, each acknowledged an RTT later, by a receiver that offers no more.
fn window_limited(rounds: u32) -> Written {
    let mut written = Written::new(1_000, RTT, 80);
    for round in 0..rounds {
        let start = 2 * RTT + u64::from(round) * (RTT + MS);
        (0..10).for_each(|each| written.data(start + u64::from(each) * MS / 10, round * 10 + each));
        (1..=10).for_each(|each| written.ack(start + RTT + u64::from(each) * MS / 10, round * 10 + each, &[]));
    }
    written
}

/// Hands over the packets of a file that are not later than a moment, and returns how many that are in all.
fn passed(live: &mut LiveTrace, file: &[u8], from: usize, until_ns: i64) -> usize {
    let mut count = 0;
    let mut take = |packet: &Packet<'_>| {
        if packet.time_ns <= until_ns {
            count += 1;
            if count > from {
                live.take(packet);
            }
        }
    };
    FileReader::default().read(file, &mut take).unwrap();
    count
}

#[test]
fn each_interval_has_what_moved_in_it_and_what_limited_it() {
    let written = window_limited(80);
    let mut live = LiveTrace::new(TraceOptions { sort_window_ns: 0, ..TraceOptions::default() });
    live.interval("eth0", START_NS, 0);
    let (mut count, mut delivered) = (0, 0);
    for number in 1..=8 {
        let at_ns = START_NS + number * 250_000_000;
        count = passed(&mut live, &written.bytes, count, at_ns);
        let interval = live.interval("eth0", at_ns, 3);
        assert_eq!(interval.length_ns, 250_000_000);
        assert_eq!(interval.missed, if number == 1 { 3 } else { 0 });
        for transfer in &interval.transfers {
            delivered += transfer.delivered_bytes;
            if (2..7).contains(&number) {
                assert_eq!(transfer.limit, Owner::ReceiverWindow, "{interval:#?}");
                assert!(transfer.limit_share > 0.8 && transfer.rtt_ns > Some(19_000_000), "{interval:#?}");
            }
        }
    }
    assert_eq!(delivered, u64::from(800 * MSS));
    let (ended, file) = (live.end(DropCounts { system: 3, ..DropCounts::default() }, None), read(&written.bytes));
    assert_eq!(ended.drops.system, 3);
    assert_eq!(ended.connections[0].transfers[0].counts, file.connections[0].transfers[0].counts);
    assert_eq!(ended.connections[0].transfers[0].budget, file.connections[0].transfers[0].budget);
}

#[test]
fn a_device_on_which_nothing_moves_has_no_transfers() {
    let mut live = LiveTrace::new(TraceOptions::default());
    let interval = live.interval("eth0", START_NS, 0);
    assert!(interval.transfers.is_empty() && interval.connections == 0);
    assert!(live.end(DropCounts::default(), None).connections.is_empty());
}

/// A million connections of one packet leave the largest ones, and a count of the others.
#[test]
fn many_connections_of_one_packet_are_counted_and_not_kept() {
    let mut written = Written::new(1_000, RTT, 80);
    written.data(2 * RTT, 0);
    let mut trace = Trace::new(TraceOptions { max_connections: 64, max_reports: 32, ..TraceOptions::default() });
    let record = written.bytes.split_off(written.bytes.len() - 70);
    let head = written.bytes[..24].to_vec();
    let mut bytes = head;
    for number in 0..20_000_u16 {
        let at = bytes.len();
        bytes.extend(&record);
        bytes[at + 50..at + 52].copy_from_slice(&number.to_be_bytes());
    }
    let used = trace.read(&bytes).unwrap();
    let report = trace.end(&bytes[used..]);
    assert_eq!((report.connections.len(), report.left_out, report.packets), (32, 19_968, 20_000));
}
