//! A capture behind a qdisc that shapes.

use std::net::SocketAddrV4;

use capture::Owner;
use capture::report::TransferReport;
use capture::verdict::Cause;
use capture::write::{WrittenSegment, file_header, segment};

use crate::support::read;

const MS: u64 = 1_000_000;
const MSS: u32 = 1_000;

/// 2,000 segments, of which 100 are written each 40 ms, and leave 0.4 ms apart; the receiver is so far away.
fn shaped(rtt_ns: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    file_header(&mut bytes);
    let client = SocketAddrV4::new([192, 0, 2, 1].into(), 40_000);
    let server = SocketAddrV4::new([192, 0, 2, 2].into(), 5_201);
    let mut ip_id = 0;
    let mut put = |from_client: bool, at_ns: u64, numbers: (u32, u32), flags: u8, payload: u32, stamp_ms: u64| {
        let (from, to) = if from_client { (client, server) } else { (server, client) };
        let mut options = vec![1, 1, 8, 10];
        options.extend((u32::try_from(stamp_ms).unwrap() + 7).to_be_bytes());
        options.extend([0, 0, 0, 7]);
        if flags & 2 != 0 {
            options.extend([2, 4, 3, 0xf4, 4, 2, 1, 3, 3, 7, 1, 1]);
        }
        ip_id += 1;
        let (time_ns, (seq, ack)) = (1_700_000_000_000_000_000 + at_ns, numbers);
        let window = 8_000;
        segment(
            &WrittenSegment { time_ns, from, to, seq, ack, flags, window, payload, options: &options, ip_id, ecn: 0 },
            &mut bytes,
        );
    };
    put(true, 0, (0, 0), 2, 0, 0);
    put(false, rtt_ns, (7, 1), 18, 0, 0);
    put(true, rtt_ns + 1_000, (1, 8), 16, 0, 0);
    for number in 0..2_000_u32 {
        let (at_ns, seq) = (MS + u64::from(number) * 2 * MS / 5, 1 + number * MSS);
        put(true, at_ns, (seq, 8), 16, MSS, 1 + u64::from(number / 100) * 40);
        put(false, at_ns + rtt_ns, (8, seq + MSS), 16, 0, at_ns / MS);
    }
    bytes
}

fn transfer(rtt_ns: u64) -> TransferReport {
    read(&shaped(rtt_ns)).connections.remove(0).transfers.remove(0)
}

/// Percent of the time that an owner has.
fn share(transfer: &TransferReport, owner: Owner) -> i64 {
    let all: i64 = transfer.budget.iter().map(|share| share.time_ns).sum();
    let own: i64 = transfer.budget.iter().filter(|share| share.owner == owner).map(|share| share.time_ns).sum();
    own * 100 / all
}

#[test]
fn acknowledgments_between_packets_of_a_qdisc_give_no_time_to_the_application() {
    // They come when most of the time to the next packet is over.
    let transfer = transfer(MS / 4);
    assert!(share(&transfer, Owner::CongestionWindow) > 45, "{:?}", transfer.budget);
    assert!(share(&transfer, Owner::SendBuffer) == 0, "{:?}", transfer.budget);
}

#[test]
fn what_the_qdisc_of_the_sending_host_holds_back_is_no_idle_application() {
    let transfer = transfer(MS / 20);
    let share = |owner| share(&transfer, owner);
    // A sender's clock is not known for the first 300 of 800 ms, and the first packets of a burst are young.
    assert!(share(Owner::Application) < 50 && share(Owner::CongestionWindow) > 45, "{:?}", transfer.budget);
    assert!(transfer.counts.held_packets > 1_000, "{:?}", transfer.counts);
    assert!((35..=40).contains(&(transfer.held_max_ns.unwrap() / 1_000_000)), "{:?}", transfer.held_max_ns);
    let bottleneck = transfer.verdicts.iter().find(|verdict| verdict.cause == Cause::Bottleneck);
    assert!(bottleneck.unwrap().evidence.contains("in the sending host"), "{:?}", transfer.verdicts);
}
