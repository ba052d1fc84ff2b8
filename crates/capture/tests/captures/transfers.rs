//! Transfers whose events are known, segment by segment.

use crate::support::{MS, MSS, Written};
use capture::report::CapturePoint;
use capture::verdict::Cause;
use capture::{EventType, Owner, Trace, TraceOptions, Zoom};

const RTT: u64 = 20 * MS;

/// Segments `from..to`, a tenth of a millisecond apart, from a moment on; acknowledged an RTT later, but for some.
fn flight(written: &mut Written, start_ns: u64, from: u32, to: u32) {
    for segment in from..to {
        written.data(start_ns + u64::from(segment - from) * MS / 10, segment);
    }
}

fn acks(written: &mut Written, start_ns: u64, from: u32, to: u32) {
    for segment in from..to {
        written.ack(start_ns + RTT + u64::from(segment - from) * MS / 10, segment + 1, &[]);
    }
}

/// Ten segments of which the fourth is lost, and retransmitted an RTT later.
fn one_loss(isn: u32) -> Written {
    let mut written = Written::new(isn, RTT, 0xffff);
    let start = 2 * RTT;
    flight(&mut written, start, 0, 10);
    acks(&mut written, start, 0, 3);
    for segment in 4..10 {
        written.ack(start + RTT + u64::from(segment) * MS / 10, 3, &[(4, segment + 1)]);
    }
    written.data(start + RTT + MS, 3);
    written.ack(start + 2 * RTT + MS, 10, &[]);
    written
}

#[test]
fn a_lost_segment_is_a_retransmission_and_not_reordering() {
    let transfer = one_loss(1_000).transfer();
    assert_eq!(transfer.counts.retransmits, 1);
    assert_eq!((transfer.counts.spurious, transfer.counts.reordered, transfer.counts.dsacks), (0, 0, 0));
    assert_eq!(transfer.counts.recoveries, 1);
    assert_eq!(transfer.delivered_bytes, 10 * u64::from(MSS));
    assert_eq!(transfer.events.first().map(|event| event.event), Some(EventType::Recovery));
    assert_eq!(transfer.captured_at, CapturePoint::Sender);
}

#[test]
fn sequence_numbers_that_wrap_change_nothing() {
    let plain = one_loss(1_000).transfer();
    for isn in [u32::MAX, u32::MAX - 3_500, u32::MAX - 9_999, 0x7fff_ffff] {
        let wrapped = one_loss(isn).transfer();
        assert_eq!(wrapped.counts, plain.counts, "from {isn}");
        assert_eq!(wrapped.budget, plain.budget, "from {isn}");
    }
}

#[test]
fn a_hole_that_is_filled_without_a_retransmission_is_reordering() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let start = 2 * RTT;
    flight(&mut written, start, 0, 10);
    acks(&mut written, start, 0, 3);
    written.ack(start + RTT + MS / 2, 3, &[(4, 5)]);
    written.ack(start + RTT + MS, 5, &[]);
    let transfer = written.transfer();
    assert_eq!((transfer.counts.reordered, transfer.counts.retransmits), (1, 0));
}

#[test]
fn a_super_packet_that_is_told_bit_by_bit_is_not_reordered() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let start = 2 * RTT;
    written.data(start, 0);
    written.super_packet(start + MS, 1, 8);
    for told in [3, 5, 8] {
        written.ack(start + RTT + u64::from(told) * MS, 0, &[(1, told)]);
    }
    written.data(start + RTT + 9 * MS, 0);
    written.ack(start + 2 * RTT + 9 * MS, 8, &[]);
    let transfer = written.transfer();
    assert_eq!((transfer.counts.reordered, transfer.counts.retransmits), (0, 1));
}

#[test]
fn a_duplicate_sack_proves_a_retransmission_spurious() {
    let mut written = one_loss(1_000);
    written.ack(5 * RTT, 10, &[(3, 4)]);
    let transfer = written.transfer();
    assert_eq!((transfer.counts.dsacks, transfer.counts.spurious), (1, 1));
}

#[test]
fn silence_before_the_head_is_retransmitted_is_a_timeout() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let start = 2 * RTT;
    flight(&mut written, start, 0, 10);
    acks(&mut written, start, 0, 3);
    written.data(start + 300 * MS, 3);
    written.ack(start + 320 * MS, 10, &[]);
    let transfer = written.transfer();
    assert_eq!(transfer.counts.timeouts, 1);
    let silent_ns = transfer.budget[Owner::Timeout as usize].time_ns;
    // From the last acknowledgment, 20.2 ms after the start, to the retransmission.
    assert_eq!(silent_ns, 279_800_000);
}

#[test]
fn a_full_window_belongs_to_the_receiver() {
    // 80 * 128 bytes: ten segments.
    let mut written = Written::new(1_000, RTT, 80);
    for round in 0..20_u32 {
        let start = 2 * RTT + u64::from(round) * (RTT + MS);
        flight(&mut written, start, round * 10, round * 10 + 10);
        acks(&mut written, start, round * 10, round * 10 + 10);
    }
    let transfer = written.transfer();
    let first = transfer.verdicts.first().map(|verdict| (verdict.cause, verdict.time_share > Some(0.85)));
    assert_eq!(first, Some((Cause::ReceiverWindow, true)), "{:#?}", transfer.verdicts);
    assert_eq!(transfer.window.max_bytes, 80 * 128);
}

/// What still arrives at a socket that was closed is answered with one reset each.
#[test]
fn resets_at_the_end_are_no_handshakes() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    for round in 0..50_u32 {
        let start = 2 * RTT + u64::from(round) * (RTT + MS);
        flight(&mut written, start, round * 10, round * 10 + 10);
        acks(&mut written, start, round * 10, round * 10 + 10);
    }
    for segment in 500..520 {
        let at_ns = 60 * (RTT + MS) + u64::from(segment) * MS / 10;
        written.data(at_ns, segment);
        written.reset(at_ns + 1_000);
    }
    let transfer = written.transfer();
    let handshake = transfer.budget.iter().find(|share| share.owner == Owner::Handshake);
    assert_eq!(handshake.map(|share| share.time_ns), Some(i64::try_from(RTT).unwrap()), "{:#?}", transfer.budget);
}

#[test]
fn a_pause_with_nothing_outstanding_belongs_to_the_application() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    for (round, start) in (0_u32..).zip([2 * RTT, 2 * RTT + 1_000 * MS, 2 * RTT + 2_000 * MS]) {
        flight(&mut written, start, round * 10, round * 10 + 10);
        acks(&mut written, start, round * 10, round * 10 + 10);
    }
    let transfer = written.transfer();
    assert_eq!(transfer.verdicts.first().map(|verdict| verdict.cause), Some(Cause::Application));
    assert_eq!(transfer.events.iter().filter(|event| event.event == EventType::Pause).count(), 2);
}

#[test]
fn a_flight_that_stays_the_same_below_an_open_window_belongs_to_the_send_buffer() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let at = |segment: u32| 2 * RTT + u64::from(segment) * RTT / 10;
    (0..10).for_each(|segment| written.data(at(segment), segment));
    for segment in 10..400 {
        // Each acknowledgment is answered with a segment.
        written.ack(at(segment), segment - 9, &[]);
        written.data(at(segment) + 1_000, segment);
    }
    let transfer = written.transfer();
    let first = transfer.verdicts.first().map(|verdict| (verdict.cause, verdict.time_share > Some(0.8)));
    assert_eq!(first, Some((Cause::SendBuffer, true)), "{:#?}", transfer.verdicts);
    assert!(transfer.verdicts[0].evidence.contains("10000 B") || transfer.verdicts[0].evidence.contains("10 kB"));
}

#[test]
fn all_time_of_a_transfer_has_one_owner() {
    for written in [one_loss(7), one_loss(u32::MAX - 5_000)] {
        let transfer = written.transfer();
        let handshake_ns = transfer.budget[Owner::Handshake as usize].time_ns;
        let total_ns: i64 = transfer.budget.iter().map(|share| share.time_ns).sum();
        assert_eq!(total_ns - handshake_ns, transfer.duration_ns);
    }
}

/// 120 full windows, on a path that is longer from the 60th on.
fn longer_from_the_middle_on() -> Written {
    let mut written = Written::new(1_000, RTT, 80);
    let mut start = 2 * RTT;
    for round in 0..120_u32 {
        let rtt = if round < 60 { RTT } else { 35 * MS };
        flight(&mut written, start, round * 10, round * 10 + 10);
        for segment in 0..10 {
            written.ack(start + rtt + u64::from(segment) * MS / 10, round * 10 + segment + 1, &[]);
        }
        start += rtt + MS;
    }
    written
}

#[test]
fn a_path_that_changes_is_named_and_the_ttl_makes_it_surer() {
    let mut written = longer_from_the_middle_on();
    let changed = |written: &Written| {
        let verdicts = written.transfer().verdicts;
        let found = verdicts.iter().find(|verdict| verdict.cause == Cause::PathChange).cloned();
        found.unwrap_or_else(|| panic!("{verdicts:#?}"))
    };
    let plain = changed(&written);
    assert!(plain.evidence.contains("went from 20.0 ms to 35.0 ms at 1.2"), "{}", plain.evidence);
    // Of the 36 ms that a window takes from then on, for five eighths of the time, 15 ms are those of the longer path.
    let share = plain.time_share.unwrap();
    assert!((share - 0.63 * (1.0 - 20.0 / 35.0)).abs() < 0.03, "{share}");
    written.set_ttl_from(1_280 * MS, 61);
    let with_hops = changed(&written);
    assert!(with_hops.evidence.contains("the TTL of packets went from 64 to 61"), "{}", with_hops.evidence);
    assert!(with_hops.confidence > plain.confidence);
}

/// One of ten flights has a packet that comes `late_ns` late: it is retransmitted an RTT after it was sent, and both arrive.
fn one_of_ten_overtaken(late_ns: u64) -> Written {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let mut start = 2 * RTT;
    for round in 0..100_u32 {
        let first = round * 10;
        flight(&mut written, start, first, first + 10);
        if round % 10 < 9 {
            acks(&mut written, start, first, first + 10);
            start += RTT + 2 * MS;
            continue;
        }
        acks(&mut written, start, first, first + 3);
        for segment in 4..10 {
            written.ack(start + RTT + u64::from(segment) * MS / 10, first + 3, &[(first + 4, first + segment + 1)]);
        }
        written.data(start + RTT + MS, first + 3);
        written.ack(start + 2 * RTT + MS, first + 10, &[]);
        written.ack(start + RTT + 3 * MS / 10 + late_ns, first + 10, &[(first + 3, first + 4)]);
        start += 2 * RTT + late_ns + 3 * MS;
    }
    written
}

#[test]
fn packets_that_are_overtaken_by_far_are_delayed_and_by_little_are_not() {
    let transfer = one_of_ten_overtaken(60 * MS).transfer();
    assert_eq!((transfer.counts.retransmits, transfer.counts.spurious), (10, 10));
    let found = transfer.verdicts.iter().find(|verdict| verdict.cause == Cause::DelayedPackets);
    let evidence = found.map(|found| found.evidence.clone()).unwrap_or_default();
    assert!(evidence.starts_with("10 packets came 60.0 ms late"), "{:#?}", transfer.verdicts);
    // Here the copy came last, an RTT after it was sent: by how much the original was late is not known.
    let verdicts = one_of_ten_overtaken(21 * MS - 3 * MS / 10).transfer().verdicts;
    assert!(verdicts.iter().all(|verdict| verdict.cause != Cause::DelayedPackets), "{verdicts:#?}");
    assert!(verdicts.iter().any(|verdict| verdict.cause == Cause::SpuriousRetransmission), "{verdicts:#?}");
}

#[test]
fn packets_that_are_held_and_then_all_arrive_are_no_loss() {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let mut start = 2 * RTT;
    for round in 0..100_u32 {
        let held = if round % 20 == 19 { 300 * MS } else { 0 };
        flight(&mut written, start, round * 10, round * 10 + 10);
        for segment in 0..10 {
            written.ack(start + RTT + held + u64::from(segment) * MS / 10, round * 10 + segment + 1, &[]);
        }
        start += RTT + held + MS;
    }
    let transfer = written.transfer();
    let held = transfer.verdicts.iter().find(|verdict| verdict.cause == Cause::DelayedPackets);
    assert!(held.is_some_and(|held| held.evidence.starts_with("5 times nothing arrived")), "{:#?}", transfer.verdicts);
    let spikes = transfer.events.iter().filter(|event| event.event == EventType::DelaySpike);
    assert!(
        spikes.clone().count() == 5 && spikes.map(|event| event.cost_bytes).min() > Some(50_000),
        "{:#?}",
        transfer.events
    );
}

/// Events count from there as well. What is acknowledged is in flight no more, also where nothing is sent afterwards.
#[test]
fn a_part_of_a_picture_counts_from_the_first_data_and_its_flight_falls_with_acknowledgments() {
    let written = one_loss(1_000);
    let zoom = Some(Zoom { from_ns: 5_000_000, to_ns: Some(100_000_000) });
    let mut trace = Trace::new(TraceOptions { columns: Some(64), zoom, ..TraceOptions::default() });
    let used = trace.read(&written.bytes).unwrap();
    let report = trace.end(&written.bytes[used..]);
    let transfer = &report.connections[0].transfers[0];
    let series = transfer.series.as_ref().unwrap();
    assert_eq!(series.from_ns, transfer.first_ns + 5_000_000);
    let last = series.columns.iter().rev().find_map(|column| column.flight.get());
    assert_eq!(last.map(|flight| flight.0), Some(0));
}
