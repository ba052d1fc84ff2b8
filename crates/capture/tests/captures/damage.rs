//! Files that somebody has damaged, or made to do harm.

use crate::support::{MS, Written, read};
use capture::{Trace, TraceOptions};

const RTT: u64 = 20 * MS;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const YEAR_S: u32 = 365 * 24 * 3_600;

fn windows() -> Written {
    let mut written = Written::new(1_000, RTT, 0xffff);
    for round in 0..20_u32 {
        let (first, start) = (round * 8, u64::from(round + 2) * (RTT + MS));
        (0..8).for_each(|segment| written.data(start + u64::from(segment) * MS / 8, first + segment));
        (1..=8).for_each(|segment| written.ack(start + RTT + u64::from(segment) * MS / 8, first + segment, &[]));
    }
    written
}

fn field(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

/// Where each record starts, and the end of the last one.
fn starts(file: &[u8]) -> Vec<usize> {
    let mut starts = vec![FILE_HEADER];
    while let Some(last) = starts.last().copied()
        && last < file.len()
    {
        starts.push(last + RECORD_HEADER + field(file, last + 8) as usize);
    }
    starts
}

#[test]
fn what_is_before_a_bit_that_has_flipped_is_read() {
    let plain = windows().bytes;
    let starts = starts(&plain);
    for bit in (FILE_HEADER * 8..plain.len() * 8).step_by(53) {
        let mut flipped = plain.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let report = read(&flipped);
        let before = starts.partition_point(|start| *start <= bit / 8) - 1;
        assert!(report.packets >= before as u64, "bit {bit}: {} of {before} packets", report.packets);
        let transfers = report.connections.iter().flat_map(|connection| &connection.transfers);
        for share in transfers.flat_map(|transfer| &transfer.budget) {
            assert!(share.time_ns >= 0, "bit {bit}: {share:?}");
        }
    }
}

#[test]
fn a_clock_that_goes_back_by_a_year_is_named_and_costs_no_time() {
    let plain = windows().bytes;
    let starts = starts(&plain);
    let middle = starts.len() / 2;
    let mut back = plain.clone();
    for start in &starts[middle..starts.len() - 1] {
        let time_s = field(&plain, *start) - YEAR_S;
        back[*start..*start + 4].copy_from_slice(&time_s.to_le_bytes());
    }
    let (report, plain) = (read(&back), read(&plain));
    assert_eq!((report.order.steps_back, report.order.first_step_frame), (1, middle as u64 + 1));
    let of = |report: &capture::report::TraceReport| {
        let transfer = &report.connections[0].transfers[0];
        (transfer.delivered_bytes, transfer.counts, transfer.duration_ns / 1_000_000_000)
    };
    assert_eq!(of(&report), of(&plain));
}

#[test]
fn packets_without_tcp_are_counted_and_leave_nothing() {
    let written = windows().bytes;
    let mut datagram = written[FILE_HEADER..starts(&written)[1]].to_vec();
    // UDP instead of TCP.
    datagram[RECORD_HEADER + 14 + 9] = 17;
    let piece = datagram.repeat(1_000);
    let mut trace = Trace::new(TraceOptions::default());
    assert_eq!(trace.read(&written[..FILE_HEADER]).unwrap(), FILE_HEADER);
    for _ in 0..100 {
        assert_eq!(trace.read(&piece).unwrap(), piece.len(), "what is not used up would have to be kept");
    }
    let report = trace.end(&[]);
    assert_eq!((report.packets, report.counts.tcp, report.connections.len()), (100_000, 0, 0));
    assert!(report.damage.is_none());
}
