//! Packets that waited in the sending host: a capture there is behind the host's qdisc (`dev_queue_xmit_nit` of Linux), and what a qdisc
//! delays looks like a sender that has nothing to send. Time stamps are older than that (RFC 7323): TCP writes them before the qdisc.

use std::ops::Range;

/// How old packets are when the capture sees them, by the sender's clock of milliseconds.
#[derive(Debug)]
pub(crate) struct WaitedPackets {
    /// The first packet: its stamp, and its time, which is [`i64::MIN`] before there is one.
    first_stamp: u32,
    /// Packets that were waiting while the one before left.
    pub(crate) packets: u32,
    first_ns: i64,
    /// Of the time of the capture less that of the stamp, the least so far.
    floor_ns: i64,
    floor_at_ns: i64,
    /// The age of the oldest of them.
    pub(crate) most_ns: i64,
}

impl Default for WaitedPackets {
    fn default() -> Self {
        Self { first_stamp: 0, packets: 0, first_ns: i64::MIN, floor_ns: 0, floor_at_ns: 0, most_ns: 0 }
    }
}

/// Nearly all senders count these.
const TICK_NS: i64 = 1_000_000;
/// A stamp is right to a tick; and what a host needs by itself.
const DOUBT_NS: i64 = TICK_NS + 200_000;
/// A sender's clock is judged by this much time of it: one that counts another unit is far off by then.
const LEAST_NS: i64 = 300_000_000;
/// No two clocks differ by more than a part of so many: an age that grows with the time is not one.
const DRIFT_PART: i64 = 10_000;

impl WaitedPackets {
    /// A packet with new data leaves at the end of the time since the one before. Whether it waited for all of that time.
    #[inline]
    pub(crate) fn take(&mut self, stamp: u32, since_before: Range<i64>) -> bool {
        let time_ns = since_before.end;
        let since_ns = time_ns.saturating_sub(since_before.start);
        if self.first_ns == i64::MIN {
            (self.first_stamp, self.first_ns, self.floor_at_ns) = (stamp, time_ns, time_ns);
            return false;
        }
        let elapsed_ns = time_ns.saturating_sub(self.first_ns);
        let counted_ns = i64::from(stamp.wrapping_sub(self.first_stamp).cast_signed()).saturating_mul(TICK_NS);
        let apart_ns = elapsed_ns.saturating_sub(counted_ns);
        let drift_ns = time_ns.saturating_sub(self.floor_at_ns).max(0) / DRIFT_PART;
        self.floor_ns = self.floor_ns.saturating_add(drift_ns).min(apart_ns);
        self.floor_at_ns = time_ns;
        let is_known = elapsed_ns >= LEAST_NS && apart_ns.saturating_abs() < elapsed_ns / 4;
        let age_ns = apart_ns.saturating_sub(self.floor_ns);
        let was_held = is_known && age_ns >= since_ns.saturating_add(DOUBT_NS);
        if was_held {
            self.packets = self.packets.saturating_add(1);
            self.most_ns = self.most_ns.max(age_ns);
        }
        was_held
    }
}

saved!(WaitedPackets { first_stamp, packets, first_ns, floor_ns, floor_at_ns, most_ns });

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Of packets at such times, in milliseconds, those that waited.
    fn waited(packets: impl Iterator<Item = (i64, i64)>) -> u32 {
        let mut waited = WaitedPackets::default();
        let mut before_ns = 0;
        for (time_ns, stamp_ms) in packets {
            waited.take(u32::try_from(stamp_ms).unwrap(), before_ns..time_ns);
            before_ns = time_ns;
        }
        waited.packets
    }

    #[test]
    fn packets_of_a_qdisc_that_empties_now_and_then_were_waiting_while_others_left() {
        // Each 100 ms a hundred packets are stamped at once, and leave one in 0.4 ms.
        let packets = (0..1_000_i64).map(|n| (n / 100 * 100 * MS + n % 100 * 400_000, n / 100 * 100));
        // But for the first 300 ms, and the first five of each hundred, which are not as old as a tick and a gap.
        assert_eq!(waited(packets), 7 * 95);
    }

    #[test]
    fn packets_that_leave_as_they_are_stamped_were_not_held_whatever_pauses_there_are() {
        assert_eq!(waited((0..1_000_i64).map(|n| (n * 400_000, n * 4 / 10))), 0);
        assert_eq!(waited((0..1_000_i64).map(|n| (n * 50 * MS, n * 50))), 0);
    }

    #[test]
    fn a_clock_that_counts_something_else_or_runs_slow_shows_nothing() {
        assert_eq!(waited((0..10_000_i64).map(|n| (n * MS, n / 4))), 0, "4 ms");
        assert_eq!(waited((0..10_000_i64).map(|n| (n * MS, n / 10))), 0, "10 ms");
        // 50 in a million, for 1,000 s.
        assert_eq!(waited((0..1_000_000_i64).map(|n| (n * MS + n * 50, n))), 0);
    }
}
