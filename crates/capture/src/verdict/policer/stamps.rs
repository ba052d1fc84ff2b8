//! When packets were sent, at a capture far from the sender: its time stamps say so (RFC 7323), whatever queue came between, and
//! what arrives later than the earliest has waited for so long.

use crate::direction::losses::{LossRecord, Pass};

/// Passes and losses with the sender's times.
#[derive(Debug)]
pub(super) struct Stamped {
    /// Delays are those of one way above the least one.
    pub(super) record: LossRecord,
    /// The sender's clock counts such steps.
    pub(super) tick_ns: i64,
}

/// Steps of clocks: Linux with `tcp_usec_ts`, nearly everybody, Linux with HZ of 250 and 100 before 4.13.
const TICKS_NS: [i64; 4] = [1_000, 1_000_000, 4_000_000, 10_000_000];
/// A clock is known when it was seen to count so many steps, and they last as long as one of these to such a share.
const LEAST_TICKS: i64 = 200;
const MOST_WRONG: f64 = 0.05;
/// A pass whose stamp is this much older than the newest was held behind others: a copy of long ago has no place in the order.
const MOST_BACK: i32 = 1 << 30;

/// None where the sender sends no time stamps, or by a clock of its own.
pub(super) fn stamped(record: &LossRecord) -> Option<Stamped> {
    let mut passes: Vec<Pass> = record.passes.clone();
    passes.sort_by_key(|pass| (pass.sent_ns, pass.sent_before));
    let (first, last) = (*passes.first()?, *passes.last()?);
    // Sequence numbers of stamps wrap: each is counted on from the one before.
    let (mut at, mut newest) = (0_i64, first.stamp?);
    let mut ticks = Vec::with_capacity(passes.len());
    for pass in &passes {
        let stamp = pass.stamp?;
        let step = stamp.wrapping_sub(newest).cast_signed();
        if step < -MOST_BACK {
            return None;
        }
        at += i64::from(step);
        newest = stamp;
        ticks.push(at);
    }
    let tick_ns = Counted { time_ns: last.sent_ns - first.sent_ns, ticks: *ticks.last()? }.tick_ns()?;
    let arrivals: Vec<i64> = passes.iter().map(|pass| pass.sent_ns).collect();
    let sent: Vec<i64> = ticks.iter().map(|ticks| ticks * tick_ns).collect();
    let least_ns = arrivals.iter().zip(&sent).map(|(arrival, sent)| arrival - sent).min()?;
    let waited_ns = |index: usize| arrivals[index] - sent[index] - least_ns;
    let mut record = record.clone();
    for loss in &mut record.losses {
        // What was lost left behind what arrived last before it.
        let before = arrivals.partition_point(|arrival| *arrival <= loss.sent_ns).saturating_sub(1);
        (loss.sent_ns, loss.queue_ns) = (sent[before] + least_ns, waited_ns(before));
    }
    for (index, pass) in passes.iter_mut().enumerate() {
        (pass.sent_ns, pass.rtt_ns) = (sent[index] + least_ns, Some(waited_ns(index)));
    }
    record.passes = passes;
    Some(Stamped { record, tick_ns })
}

/// What a clock counted in some time.
#[derive(Debug, Clone, Copy)]
struct Counted {
    time_ns: i64,
    ticks: i64,
}

impl Counted {
    /// The step of the clock, where it is a usual one.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    fn tick_ns(self) -> Option<i64> {
        if self.ticks < LEAST_TICKS {
            return None;
        }
        let seen = self.time_ns as f64 / self.ticks as f64;
        TICKS_NS.into_iter().find(|tick_ns| (seen / *tick_ns as f64 - 1.0).abs() < MOST_WRONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::losses::Loss;

    const MS: i64 = 1_000_000;

    /// Bursts of ten packets each 50 ms, which a queue hands on one in 4 ms; the stamps wrap. The last of each third burst is lost.
    fn behind_a_queue(stamp: impl Fn(i64) -> Option<u32>) -> LossRecord {
        let mut record = LossRecord::default();
        let mut sent_before = 0;
        for burst in 0..40 {
            for packet in 0..10 {
                let arrival_ns = (50 * burst + 4 * packet + 7) * MS;
                record.passed(Pass { sent_ns: arrival_ns, sent_before, rtt_ns: None, stamp: stamp(50 * burst) });
                sent_before += 1_000;
            }
            if burst % 3 == 0 {
                record.lost(Loss {
                    sent_ns: (50 * burst + 43) * MS,
                    sent_before,
                    from: 0,
                    bytes: 1_000,
                    queue_ns: 0,
                    retransmitted_ns: 0,
                    is_spurious: false,
                    late_ns: None,
                    was_unseen: true,
                });
            }
        }
        record
    }

    #[test]
    fn packets_left_when_their_stamps_say_and_waited_the_rest() {
        let wrapping =
            |ms: i64| Some(u32::try_from((u64::from(u32::MAX) - 500 + ms.unsigned_abs()) % (1 << 32)).unwrap_or(0));
        let stamped = stamped(&behind_a_queue(wrapping)).expect("a clock of milliseconds");
        assert_eq!(stamped.tick_ns, MS);
        for (number, pass) in (0..).zip(&stamped.record.passes) {
            let (burst, packet) = (number / 10, number % 10);
            assert_eq!((pass.sent_ns, pass.rtt_ns), ((50 * burst + 7) * MS, Some(4 * packet * MS)));
        }
        let losses = stamped.record.losses.iter().map(|loss| (loss.sent_ns, loss.queue_ns));
        assert!(losses.eq((0..40).step_by(3).map(|burst| ((50 * burst + 7) * MS, 36 * MS))));
    }

    #[test]
    fn without_stamps_or_by_a_clock_of_its_own_nothing_is_known() {
        assert!(stamped(&behind_a_queue(|_| None)).is_none());
        assert!(stamped(&behind_a_queue(|ms| u32::try_from(ms * 7 / 3).ok())).is_none());
        assert!(stamped(&behind_a_queue(|_| Some(7))).is_none());
    }
}
