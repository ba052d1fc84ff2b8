//! A download captured at the client, whose SYN was answered late.

use std::net::SocketAddrV4;

use capture::Owner;
use capture::report::{CapturePoint, TransferReport};
use capture::write::{WrittenSegment, file_header, segment};

use crate::support::read;

const MS: u64 = 1_000_000;
const MSS: u32 = 1_000;
const RTT: u64 = 30 * MS;

/// Whether segments have time stamps.
#[derive(Clone, Copy, PartialEq)]
enum Stamps {
    Some,
    None,
}

/// 40 windows of 50 segments, of a receiver that offers 100, answered an RTT later; the SYN/ACK came `late_ns` later than that.
fn download(late_ns: u64, stamps: Stamps) -> TransferReport {
    let mut bytes = Vec::new();
    file_header(&mut bytes);
    let client = SocketAddrV4::new([192, 0, 2, 1].into(), 40_000);
    let server = SocketAddrV4::new([192, 0, 2, 2].into(), 443);
    let mut ip_id = 0;
    let mut put = |from_client: bool, at_ns: u64, numbers: (u32, u32), flags: u8, payload: u32| {
        let (from, to) = if from_client { (client, server) } else { (server, client) };
        let mut options = Vec::new();
        if flags & 2 != 0 {
            options.extend([2, 4, 3, 0xe8, 4, 2, 1, 3, 3, 0]);
        }
        if stamps == Stamps::Some {
            // A stamp is echoed half an RTT after it was sent.
            let own = u32::try_from(at_ns / MS).unwrap() + 1_000;
            options.extend([1, 1, 8, 10]);
            options.extend(own.to_be_bytes());
            options.extend(if from_client { own } else { own - 30 }.to_be_bytes());
        }
        while options.len() % 4 != 0 {
            options.push(1);
        }
        ip_id += 1;
        let (time_ns, (seq, ack), window) = (1_700_000_000_000_000_000 + at_ns, numbers, 50_000);
        let options = &options;
        segment(
            &WrittenSegment { time_ns, from, to, seq, ack, flags, window, payload, options, ip_id, ecn: 0 },
            &mut bytes,
        );
    };
    let start = RTT + late_ns;
    put(true, 0, (0, 0), 2, 0);
    put(false, start, (7, 1), 18, 0);
    put(true, start + 1_000, (1, 8), 16, 0);
    put(true, start + 2_000, (1, 8), 24, 100);
    put(false, start + RTT + 3_000, (8, 101), 16, 0);
    for round in 0..40_u64 {
        for each in 0..25_u64 {
            // An acknowledgment lets the next go, an RTT later.
            let (at_ns, number) =
                (start + (round + 1) * RTT + MS + each * MS / 2, u32::try_from(round * 25 + each).unwrap());
            put(false, at_ns, (8 + number * MSS, 101), 16, MSS);
            put(true, at_ns + 10_000, (101, 8 + (number + 1) * MSS), 16, 0);
        }
    }
    let mut report = read(&bytes);
    let transfers = report.connections.remove(0).transfers;
    transfers.into_iter().max_by_key(|transfer| transfer.delivered_bytes).unwrap()
}

#[test]
fn a_late_answer_to_a_syn_makes_no_longer_path_and_blames_no_window() {
    for stamps in [Stamps::Some, Stamps::None] {
        let (prompt, late) = (download(0, stamps), download(200 * MS, stamps));
        assert_eq!(late.captured_at, CapturePoint::Receiver);
        assert!((RTT..RTT + 2 * MS).contains(&late.rtt.unwrap().min_ns.unsigned_abs()), "{:?}", late.rtt);
        let owned = |transfer: &TransferReport| {
            let window = transfer.budget.iter().find(|share| share.owner == Owner::ReceiverWindow);
            window.map_or(0, |share| share.time_ns / 1_000_000)
        };
        assert!(owned(&late).abs_diff(owned(&prompt)) < 50, "{:?} for {:?}", late.budget, prompt.budget);
    }
}
