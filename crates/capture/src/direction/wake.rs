//! At how many bytes outstanding a pause of the sender ends. A writer that waits for room in the send buffer is woken when a third of it is
//! free (`sk_stream_write_space`): each time at the same level, by the acknowledgment that reaches it. An application that comes by its own
//! clock does so at any level, or behind no acknowledgment.

/// Votes for the level that wakes a writer, an eighth of an octave each.
#[derive(Debug, Clone)]
pub(crate) struct WakeLevels {
    votes: [u8; LEVELS],
    /// Bursts behind a pause, and those of them that an acknowledgment released.
    bursts: u32,
    at_once: u32,
    /// RTTs in which they were counted.
    rounds: u32,
    /// Bytes outstanding when pauses began, smoothed.
    peak: u64,
    level: Option<u64>,
    /// Bytes outstanding when a writer was woken at that level, smoothed.
    woken: u64,
    since_ns: Option<i64>,
}

/// The first packet behind a pause, which an acknowledgment has come before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    /// Bytes outstanding before that acknowledgment.
    pub(super) before: u64,
    /// Bytes outstanding when the packet left.
    pub(super) after: u64,
    /// Bytes outstanding when the pause began.
    pub(super) peak: u64,
    /// When the packet left, how long behind the one before it, and how long behind the acknowledgment.
    pub(super) at_ns: i64,
    pub(super) data_ns: i64,
    pub(super) ack_ns: i64,
    /// Acknowledgments in the pause.
    pub(super) acks: u32,
}

/// Levels from a kilobyte to a gigabyte.
const LEVELS: usize = 8 * 20;
const LEAST_LEVEL: u32 = 10;
/// Waking a writer takes 40 to 130 µs (measured, Linux 6.18 in a VM).
const WAKING_NS: i64 = 130_000;
/// Fewer say nothing.
const LEAST_AT_ONCE: u32 = 8;
/// Counts that are halved, so that a level that has changed is known again.
const MANY: u32 = 64;

impl Default for WakeLevels {
    fn default() -> Self {
        Self { votes: [0; LEVELS], bursts: 0, at_once: 0, rounds: 0, peak: 0, level: None, woken: 0, since_ns: None }
    }
}

impl WakeLevels {
    /// A burst begins.
    pub(super) fn burst(&mut self, burst: Burst) {
        let spacing_ns = burst.data_ns / i64::from(burst.acks.max(1));
        if spacing_ns < 2 * WAKING_NS {
            // Whatever comes follows one of them at once.
            return;
        }
        self.bursts += 1;
        self.peak = if self.peak == 0 { burst.peak } else { self.peak - self.peak / 8 + burst.peak / 8 };
        // By chance one of four is so near.
        let is_at_once = burst.ack_ns < (spacing_ns / 4).clamp(WAKING_NS, 4 * WAKING_NS);
        if is_at_once {
            self.at_once += 1;
            self.since_ns.get_or_insert(burst.at_ns - burst.data_ns);
            let span = bin(burst.after)..=bin(burst.before.max(burst.after));
            self.votes.get_mut(span).into_iter().flatten().for_each(|votes| *votes = votes.saturating_add(1));
        }
        if self.bursts >= MANY {
            self.votes.iter_mut().for_each(|votes| *votes /= 2);
            (self.bursts, self.at_once, self.rounds) = (self.bursts / 2, self.at_once / 2, self.rounds / 2);
        }
        self.level = self.found();
        if let Some(level) = self.level
            && is_at_once
            && bin(burst.after) <= bin(level - 1)
            && bin(level - 1) <= bin(burst.before)
        {
            let woken = burst.after.midpoint(burst.before);
            self.woken = if self.woken == 0 { woken } else { self.woken - self.woken / 8 + woken / 8 };
        }
    }

    /// Who writes with more outstanding has not waited until a third was free.
    pub(super) fn is_early(&self, outstanding: u64) -> bool {
        self.level.is_some_and(|level| outstanding > if self.woken > 0 { self.woken.min(level) } else { level })
    }

    /// An RTT is over.
    #[inline]
    pub(super) fn round(&mut self) {
        self.rounds += 1;
    }

    /// The highest level with the most votes, where a third of the bursts follow an acknowledgment at once (an application's: 12 to 16 %) and
    /// three of five of these agree on a level that a third of the flight has drained to (of a congestion window: a twentieth).
    /// Measured of 40 transfers of 10 to 100 ms, Linux 6.18, on a busy machine.
    fn found(&self) -> Option<u64> {
        let most = self.votes.iter().copied().max()?;
        let index = self.votes.iter().rposition(|votes| *votes == most)?;
        let level = level(index);
        let is_released = self.at_once >= LEAST_AT_ONCE && self.at_once * 3 >= self.bursts;
        let is_same = u32::from(most) * 5 >= self.at_once * 3;
        let is_often = self.bursts * 5 >= self.rounds;
        (is_released && is_same && is_often && level * 10 <= self.peak * 7).then_some(level)
    }

    /// Bytes outstanding at which the writer is woken; none where nobody waits for room.
    #[inline]
    pub(super) fn level(&self) -> Option<u64> {
        self.level
    }

    /// Since when a writer has been woken at that level; none where nobody waits for room.
    pub(super) fn since_ns(&self) -> Option<i64> {
        self.level.and(self.since_ns)
    }

    /// Losses, or marks, limit: count anew.
    pub(super) fn restart(&mut self) {
        if self.bursts > 0 {
            *self = Self::default();
        }
    }
}

fn bin(bytes: u64) -> usize {
    let bytes = bytes.max(1 << LEAST_LEVEL);
    let octave = bytes.ilog2();
    let eighth = (bytes >> (octave - 3)) & 7;
    ((octave - LEAST_LEVEL) as usize * 8 + eighth as usize).min(LEVELS - 1)
}

/// The upper end of a bin.
fn level(bin: usize) -> u64 {
    let (octave, eighth) = (bin / 8, bin as u64 % 8);
    (9 + eighth) << (octave + LEAST_LEVEL as usize - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgments of 3 kB come each half a millisecond.
    fn level_of(bursts: impl Iterator<Item = (u64, i64)>) -> Option<u64> {
        let mut levels = WakeLevels::default();
        for (after, ack_ns) in bursts {
            levels.round();
            let (before, peak) = (after + 2_856, 74_000);
            levels.burst(Burst { before, after, peak, ack_ns, at_ns: 0, data_ns: 9_600_000, acks: 20 });
        }
        levels.level()
    }

    #[test]
    fn a_writer_is_woken_at_one_level() {
        let level = level_of((0..40).map(|burst| (35_700 + burst % 2 * 2_000, 60_000)));
        assert!(level.is_some_and(|level| (36_000..43_000).contains(&level)), "{level:?}");
    }

    #[test]
    fn a_clock_of_its_own_has_no_level_or_follows_no_acknowledgment() {
        assert_eq!(level_of((0..40).map(|burst| (10_000 + burst * 7_919 % 50_000, 60_000))), None);
        assert_eq!(level_of((0..40).map(|burst| (35_700, (burst * 37 % 48) * 10_000))), None);
    }

    #[test]
    fn a_congestion_window_answers_long_before_a_third_has_drained() {
        assert_eq!(level_of((0..40).map(|_| (70_000, 60_000))), None);
    }

    #[test]
    fn bins_hold_what_is_put_into_them() {
        for bytes in [1_024, 1_500, 43_690, 1 << 20, 999_999_999] {
            let top = level(bin(bytes));
            assert!(bytes < top && top <= bytes + bytes / 7, "{bytes} {top}");
        }
    }
}
