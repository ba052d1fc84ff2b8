//! Writers that come by a clock of their own, behind no acknowledgment: one finds its send buffer full, the other has no more to send.

use std::collections::VecDeque;
use std::ops::Range;

use crate::support::{MS, MSS, Written};
use capture::Owner;
use capture::report::TransferReport;
use capture::verdict::{Cause, Verdict};

const RTT: u64 = 100 * MS;
/// Segments that the send buffer holds.
const BUFFER: u32 = 240;
/// A segment of the bottleneck.
const SEGMENT_NS: u64 = MS / 10;

/// Segments that are written at a time when so many are outstanding.
type Write = fn(burst: u32, outstanding: u32) -> u32;
/// How long a writer waits then.
type Wait = fn(burst: u32) -> u64;

/// Frames of 20 segments, all at once.
fn send(written: &mut Written, now: u64, segments: Range<u32>) {
    for from in segments.clone().step_by(20) {
        written.super_packet(now, from, (from + 20).min(segments.end));
    }
}

/// When every other one of these segments is acknowledged, behind a bottleneck that is free from `free_ns` on.
fn acknowledged_of(segments: Range<u32>, now: u64, free_ns: &mut u64) -> Vec<(u64, u32)> {
    let mut acknowledged = Vec::new();
    for segment in segments {
        *free_ns = (*free_ns).max(now) + SEGMENT_NS;
        if segment % 2 == 1 {
            acknowledged.push((*free_ns + RTT, segment + 1));
        }
    }
    acknowledged
}

/// Eight seconds of bursts over 100 ms, of which every other segment is acknowledged.
fn transfer(wait: Wait, write: Write) -> TransferReport {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let mut arriving = VecDeque::<(u64, u32)>::new();
    let (mut now, mut next, mut acknowledged, mut free_ns) = (2 * RTT, 0, 0, 0_u64);
    for burst in 0.. {
        now += wait(burst);
        if now > 8_000 * MS {
            break;
        }
        while let Some((at_ns, to)) = arriving.pop_front_if(|(at_ns, _)| *at_ns <= now) {
            written.ack(at_ns, to, &[]);
            acknowledged = to;
        }
        let until = next + write(burst, next - acknowledged);
        send(&mut written, now, next..until);
        arriving.extend(acknowledged_of(next..until, now, &mut free_ns));
        next = until;
    }
    written.transfer()
}

/// 20 ms, and what a timer and a busy host are late.
fn timer(burst: u32) -> u64 {
    (20 + u64::from(burst * 7 % 11)) * MS + MS / 3
}

fn first(transfer: &TransferReport) -> &Verdict {
    transfer.verdicts.first().unwrap()
}

#[test]
fn who_fills_to_one_level_by_a_timer_has_a_full_send_buffer() {
    let transfer = transfer(timer, |_, outstanding| (BUFFER - outstanding) / 20 * 20);
    let verdict = first(&transfer);
    assert_eq!(verdict.cause, Cause::SendBuffer, "{:#?}", transfer.verdicts);
    assert!(verdict.time_share > Some(0.85), "{:#?}", transfer.budget);
    assert!(verdict.evidence.contains("filled up to 2"), "{}", verdict.evidence);
    assert_eq!(transfer.outstanding_max_bytes, u64::from(BUFFER * MSS));
}

#[test]
fn who_writes_whatever_is_outstanding_is_an_application() {
    let writes: [Write; 2] = [|_, _| 60, |burst, _| 20 + burst * 13 % 90];
    for write in writes {
        let transfer = transfer(|burst| (8 + u64::from(burst * 29 % 37)) * MS, write);
        let buffers = transfer.verdicts.iter().filter(|verdict| verdict.cause == Cause::SendBuffer);
        assert_eq!(buffers.count(), 0, "{:#?}", transfer.verdicts);
        assert_eq!(first(&transfer).cause, Cause::Application, "{:#?}", transfer.verdicts);
    }
}

/// Segments outstanding at which a kernel wakes a writer that waits for room in 64: two thirds.
const WOKEN: u32 = 42;
/// What waking takes: 20 to 60 µs, as such transfers were captured.
const WAKING_NS: u64 = MS / 30;

/// Eight seconds of a writer that a kernel wakes when two thirds of a buffer are left, and from which it takes any number of segments then.
fn overfilled(write: fn(burst: u32) -> u32) -> TransferReport {
    let mut written = Written::new(1_000, RTT, 0xffff);
    let (mut now, mut next, mut free_ns) = (2 * RTT, 0, 0_u64);
    for burst in 0.. {
        if now > 8_000 * MS {
            break;
        }
        let until = next + write(burst);
        let mut arriving = VecDeque::<(u64, u32)>::new();
        let acknowledged = next.saturating_sub(WOKEN) + next.saturating_sub(WOKEN) % 2;
        arriving.extend(
            (acknowledged..next)
                .filter(|segment| segment % 2 == 1)
                .map(|segment| (free_ns + RTT - u64::from(next - 1 - segment) * SEGMENT_NS, segment + 1)),
        );
        send(&mut written, now, next..until);
        arriving.extend(acknowledged_of(next..until, now, &mut free_ns));
        next = until;
        while let Some((at_ns, to)) = arriving.pop_front() {
            written.ack(at_ns, to, &[]);
            if next - to <= WOKEN {
                now = at_ns + WAKING_NS;
                break;
            }
        }
    }
    written.transfer()
}

/// Linux appends to a frame that has not left without asking how full the buffer is: one of 64 segments takes as many as the congestion window.
#[test]
fn who_is_woken_at_one_level_and_fills_to_any_has_a_full_send_buffer() {
    let transfer = overfilled(|burst| 2 * (50 + burst * 7_081 % 1_500));
    let verdict = first(&transfer);
    assert_eq!(verdict.cause, Cause::SendBuffer, "{:#?}", transfer.verdicts);
    assert!(verdict.time_share > Some(0.85), "{:#?}", transfer.budget);
}

/// Bursts as large, which begin with whatever is outstanding.
#[test]
fn who_writes_as_much_by_a_clock_of_its_own_is_an_application() {
    let write: Write = |burst, _| 2 * (50 + burst * 7_919 % 1_500);
    let transfer = transfer(|burst| (150 + u64::from(burst * 6_007 % 211)) * MS, write);
    let buffers = transfer.verdicts.iter().filter(|verdict| verdict.cause == Cause::SendBuffer);
    assert_eq!(buffers.count(), 0, "{:#?}", transfer.verdicts);
}

/// As much is written each time as has been acknowledged since the time before: either would be so.
#[test]
fn what_is_the_same_each_time_is_not_named_an_application_with_certainty() {
    let transfer = transfer(|_| 25 * MS, |_, _| 60);
    let verdict = first(&transfer);
    assert_eq!(verdict.cause, Cause::Application, "{:#?}", transfer.verdicts);
    assert!(verdict.confidence <= 0.5 && verdict.evidence.contains("does not tell these apart"), "{verdict:#?}");
    assert!(verdict.rivals.iter().any(|rival| rival.contains("full send buffer")), "{verdict:#?}");
    let spent_ns = |owner| transfer.budget.iter().filter(|share| share.owner == owner).map(|share| share.time_ns).sum();
    let (either, certain): (i64, i64) = (spent_ns(Owner::ApplicationOrSendBuffer), spent_ns(Owner::Application));
    assert!(either > 20 * certain, "{:#?}", transfer.budget);
}

/// Two segments each 3 ms, and a timer that is late by up to a fifth: the kernel paces so, and no program writes so little at once.
#[test]
fn frames_of_a_pacing_rate_are_no_application() {
    let transfer = transfer(|burst| 3 * MS + u64::from(burst % 4) * MS / 5, |_, _| 2);
    let verdict = first(&transfer);
    assert_eq!(verdict.cause, Cause::PacingRate, "{:#?}", transfer.verdicts);
    assert!(verdict.time_share > Some(0.85), "{:#?}", transfer.budget);
    assert!(verdict.rivals.iter().any(|rival| rival.contains("whole segments")), "{verdict:#?}");
}

/// As much, in blocks of whole segments, and in single ones.
#[test]
fn blocks_and_single_segments_at_the_same_rate_are_not_paced() {
    let blocks = transfer(|burst| 30 * MS + u64::from(burst % 4) * 2 * MS, |_, _| 20);
    let single = transfer(|burst| 3 * MS / 2 + u64::from(burst % 4) * MS / 10, |_, _| 1);
    for transfer in [blocks, single] {
        let paced = transfer.verdicts.iter().filter(|verdict| verdict.cause == Cause::PacingRate);
        assert_eq!(paced.count(), 0, "{:#?}", transfer.verdicts);
    }
}
