//! At how many bytes outstanding a pause of the sender ends. A writer that waits for room in the send buffer is woken when a third of it is
//! free (`sk_stream_write_space`): each time at the same level, by the acknowledgment that reaches it. An application that comes by its own
//! clock does so at any level, or behind no acknowledgment; a congestion window lets each acknowledgment be answered at once.

use super::pause::Burst;
use super::steady::{PauseEnd, SteadyLevel};

/// At which level a writer is woken, an eighth of an octave each.
#[derive(Debug, Clone, Default)]
pub(crate) struct WakeLevels {
    /// Made when an acknowledgment releases a first burst: most connections have none.
    votes: Option<Box<Votes>>,
    /// Bursts behind a pause, and those of them that an acknowledgment released.
    bursts: u32,
    at_once: u32,
    /// Packets that left with an acknowledgment, behind a pause or not, and bursts of those that one released: of the last RTTs, in
    /// sixteenths.
    answers: u32,
    released: u32,
    /// Bytes of the last RTTs, and those of them that were more than the last acknowledgments had freed.
    sent: u64,
    beyond: u64,
    /// RTTs in which they were counted.
    rounds: u32,
    /// Bytes outstanding when pauses began, smoothed.
    peak: u64,
    level: Option<u64>,
    /// Bytes outstanding when a writer was woken at that level, smoothed.
    woken: u64,
    /// The bin of most votes, and when it was first voted for by the bursts that were remembered when it became that.
    most: u8,
    since_ns: i64,
}

/// Bursts that acknowledgments released.
#[derive(Debug, Clone)]
struct Votes {
    /// How many vote for each level.
    bins: [u8; LEVELS],
    steady: SteadyLevel,
    /// The last of them, the oldest first.
    last: [Released; KEPT],
}

/// A burst that an acknowledgment released: when the pause before it began, and the bins that it voted for.
#[derive(Debug, Clone, Copy)]
struct Released {
    from_ns: i64,
    low: u8,
    high: u8,
}

/// No burst votes for it.
const NEVER: Released = Released { from_ns: 0, low: 1, high: 0 };
/// Bursts that are remembered: as many as a level takes to be known.
const KEPT: usize = LEAST_AT_ONCE as usize;

/// Levels from a kilobyte to a gigabyte.
const LEVELS: usize = 8 * 20;
const LEAST_LEVEL: u32 = 10;
/// Waking a writer takes 40 to 130 µs (measured, Linux 6.18 in a VM).
const WAKING_NS: i64 = 130_000;
/// A kernel answers an acknowledgment within this, where nobody has to be woken.
const AT_ONCE_NS: i64 = 30_000;
/// Packets that leave with an acknowledgment for each that ends a pause: by chance one of fifteen of those that a pacing timer releases.
const MOST_ANSWERS: u32 = 4;
/// Levels below such a part of the flight are one.
const LITTLE: u64 = 12;
/// Acknowledgments of a pause that show a level to an acknowledgment or two.
pub(super) const LEAST_UNANSWERED: u32 = 8;
/// One of what is counted so.
const ONE: u32 = 16;
/// What is counted of one RTT is forgotten over so many.
const FORGOTTEN_ROUNDS: u32 = 8;
/// Fewer say nothing.
const LEAST_AT_ONCE: u32 = 8;
/// Counts that are halved, so that a level that has changed is known again.
const MANY: u32 = 64;

impl Default for Votes {
    fn default() -> Self {
        Self { bins: [0; LEVELS], steady: SteadyLevel::default(), last: [NEVER; KEPT] }
    }
}

/// The payload of a packet, and how much of it left in answer to what the last acknowledgments had freed.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentBytes {
    pub(super) all: u64,
    pub(super) answered: u64,
}

impl WakeLevels {
    /// A burst begins. Returns whether an acknowledgment has released it.
    pub(super) fn burst(&mut self, burst: Burst) -> bool {
        let spacing_ns = burst.data_ns / i64::from(burst.acks.max(1));
        self.peak = if self.peak == 0 { burst.peak } else { self.peak - self.peak / 8 + burst.peak / 8 };
        // By chance one of four is so near. Where acknowledgments are dense, so is who was woken: more of these have to be.
        let is_dense = spacing_ns < 2 * WAKING_NS;
        let is_near = if is_dense {
            burst.ack_ns < spacing_ns / 4
        } else {
            burst.ack_ns < (spacing_ns / 4).clamp(WAKING_NS, 4 * WAKING_NS)
        };
        // Who comes by a clock seldom leaves so little.
        let is_at_once = is_near || is_dense && burst.after * LITTLE * 2 <= burst.peak;
        self.bursts += if is_dense && !is_at_once { 2 } else { 1 };
        if is_at_once {
            self.vote(burst);
        }
        if burst.roomy >= LEAST_UNANSWERED {
            let end = if is_at_once { PauseEnd::ByAcknowledgment } else { PauseEnd::Otherwise };
            self.votes.get_or_insert_default().steady.take(burst, end);
        }
        if self.bursts >= MANY {
            self.votes.iter_mut().flat_map(|votes| &mut votes.bins).for_each(|votes| *votes /= 2);
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
        is_at_once
    }

    /// A writer that is woken at one level has waited since it was first; a window that grows is answered at another level each time.
    fn vote(&mut self, burst: Burst) {
        self.at_once += 1;
        self.released = self.released.saturating_add(ONE);
        // Until a busy host runs the writer more is acknowledged: where little is left of the flight anyway, that is no other level.
        let span = bin(burst.after)..=bin(burst.train.max(burst.before).max(burst.peak / LITTLE).max(burst.after));
        let [low, high] = [*span.start(), *span.end()].map(|bin| u8::try_from(bin).unwrap_or(u8::MAX));
        let Votes { bins, last, .. } = &mut **self.votes.get_or_insert_default();
        bins.get_mut(span).into_iter().flatten().for_each(|votes| *votes = votes.saturating_add(1));
        last.rotate_left(1);
        last[KEPT - 1] = Released { from_ns: burst.at_ns - burst.data_ns, low, high };
        let most = most_voted(bins);
        if usize::from(self.most) == most {
            return;
        }
        self.most = u8::try_from(most).unwrap_or(u8::MAX);
        let first = last.iter().find(|burst| (usize::from(burst.low)..=usize::from(burst.high)).contains(&most));
        self.since_ns = first.map_or(burst.at_ns, |first| first.from_ns);
    }

    /// An acknowledgment was answered with new data so long after it, at whatever level: a congestion window lets each of them be.
    #[inline]
    pub(super) fn answered(&mut self, ack_ns: i64) {
        if ack_ns < AT_ONCE_NS {
            self.answers = self.answers.saturating_add(ONE);
            if self.level.is_some() && !self.is_seldom_answered() && !self.is_steady() {
                self.level = None;
            }
        }
    }

    /// A packet has left.
    #[inline]
    pub(super) fn sent(&mut self, bytes: SentBytes) {
        self.sent = self.sent.saturating_add(bytes.all);
        self.beyond = self.beyond.saturating_add(bytes.all.saturating_sub(bytes.answered));
    }

    /// Of the acknowledgments that are answered at once, those that wake a writer are more than a few; or what leaves in answer is little of
    /// what leaves: the kernel takes more than a buffer holds, and what the congestion window does not take of that at once follows.
    fn is_seldom_answered(&self) -> bool {
        self.answers <= self.released.saturating_mul(MOST_ANSWERS) || self.is_mostly_beyond()
    }

    /// Most of what leaves is more than the last acknowledgments have freed: no window lets it go.
    fn is_mostly_beyond(&self) -> bool {
        self.sent > 0 && self.beyond.saturating_mul(2) >= self.sent
    }

    /// Who writes with more outstanding has not waited until a third was free.
    pub(super) fn is_early(&self, outstanding: u64) -> bool {
        self.early_above().is_some_and(|early_above| outstanding > early_above)
    }

    /// With more outstanding a third of the buffer is not free.
    pub(super) fn early_above(&self) -> Option<u64> {
        self.level.map(|level| if self.woken > 0 { self.woken.min(level) } else { level })
    }

    /// Bytes outstanding when pauses of a writer begin that is woken at one level: what its buffer holds.
    pub(super) fn peak(&self) -> Option<u64> {
        self.level.map(|_| self.peak)
    }

    /// An RTT is over.
    #[inline]
    pub(super) fn round(&mut self) {
        self.rounds += 1;
        // A congestion window that limited for some RTTs at first does not hide the buffer that does now.
        for count in [&mut self.answers, &mut self.released] {
            *count -= *count / FORGOTTEN_ROUNDS;
        }
        for bytes in [&mut self.sent, &mut self.beyond] {
            *bytes -= *bytes / u64::from(FORGOTTEN_ROUNDS);
        }
    }

    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.votes.is_none()
    }

    /// The highest level with the most votes, where a third of the bursts follow an acknowledgment at once (an application's: 12 to 16 %) and
    /// three of five of these agree on a level that a third of the flight has drained to (of a congestion window: a twentieth).
    /// Measured of 40 transfers of 10 to 100 ms, Linux 6.18, on a busy machine.
    fn found(&self) -> Option<u64> {
        let is_often = self.bursts * 5 >= self.rounds;
        let is_found = |level: u64| self.is_steady() || self.is_seldom_answered() && level * 10 <= self.peak * 7;
        self.usual().filter(|level| self.is_released() && is_often && is_found(*level))
    }

    /// See [`SteadyLevel`]. What is paced meanwhile may leave with acknowledgments, which come at that pace as well.
    fn is_steady(&self) -> bool {
        self.votes.as_ref().is_some_and(|votes| votes.steady.is_found())
    }

    /// The level that three of five of the bursts agree on which follow an acknowledgment at once.
    pub(super) fn usual(&self) -> Option<u64> {
        let bins = &self.votes.as_ref()?.bins;
        let index = most_voted(bins);
        let is_same = u32::from(bins.get(index).copied()?) * 5 >= self.at_once * 3;
        (is_same && self.at_once >= LEAST_AT_ONCE).then(|| level(index))
    }

    /// A third of the bursts and more follow acknowledgments at once (an application's: 12 to 16 %), at whatever level: their writer may be woken at
    /// one, and also add to its buffer by a timer.
    pub(super) fn is_released(&self) -> bool {
        self.at_once >= LEAST_AT_ONCE && self.at_once * 3 >= self.bursts
    }

    /// Bytes outstanding at which the writer is woken; none where nobody waits for room.
    #[inline]
    pub(super) fn level(&self) -> Option<u64> {
        self.level
    }

    /// Since when a writer has been woken at that level; none where nobody waits for room.
    pub(super) fn since_ns(&self) -> Option<i64> {
        self.level.map(|_| self.since_ns)
    }

    /// Losses, or marks, limit: count anew.
    pub(super) fn restart(&mut self) {
        if self.bursts > 0 {
            *self = Self::default();
        }
    }
}

/// The highest of the bins with the most votes.
fn most_voted(bins: &[u8; LEVELS]) -> usize {
    let most = bins.iter().copied().max().unwrap_or_default();
    bins.iter().rposition(|votes| *votes == most).unwrap_or_default()
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

saved!(WakeLevels {
    votes,
    bursts,
    at_once,
    answers,
    released,
    sent,
    beyond,
    rounds,
    peak,
    level,
    woken,
    most,
    since_ns
});
saved!(Votes { bins, steady, last });
saved!(Released { from_ns, low, high });

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst so long behind an acknowledgment of 3 kB, with so much outstanding.
    fn behind(after: u64, ack_ns: i64) -> Burst {
        let before = after + 2_856;
        Burst { before, train: before, after, peak: before, ack_ns, at_ns: 0, data_ns: 9_600_000, acks: 20, roomy: 0 }
    }

    /// Acknowledgments of 3 kB come each half a millisecond.
    fn level_of(bursts: impl Iterator<Item = (u64, i64)>) -> Option<u64> {
        let mut levels = WakeLevels::default();
        for (after, ack_ns) in bursts {
            levels.round();
            levels.burst(Burst { peak: 74_000, ..behind(after, ack_ns) });
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

    /// Of five bursts of a writer that is woken, and also tries again by a timer, two follow an acknowledgment at once, at levels that differ.
    #[test]
    fn bursts_that_follow_acknowledgments_more_often_than_an_applications_are_released_at_no_level() {
        let released = |at_once: i64, of: i64| {
            let mut levels = WakeLevels::default();
            for burst in 0_i64..60 {
                levels.round();
                let after = 40_000 + burst.unsigned_abs() * 7_919 % 40_000;
                let ack_ns = if burst % of < at_once { 60_000 } else { 400_000 };
                levels.burst(Burst { peak: 90_000, ..behind(after, ack_ns) });
            }
            assert_eq!(levels.level(), None);
            levels.is_released()
        };
        assert!(released(2, 5) && !released(1, 7));
    }

    #[test]
    fn a_congestion_window_answers_long_before_a_third_has_drained() {
        assert_eq!(level_of((0..40).map(|_| (70_000, 60_000))), None);
    }

    #[test]
    fn where_each_acknowledgment_is_answered_nobody_waits() {
        let mut levels = WakeLevels::default();
        let burst = Burst {
            before: 38_556,
            train: 38_556,
            after: 35_700,
            peak: 74_000,
            at_ns: 0,
            data_ns: 9_600_000,
            ack_ns: 20_000,
            acks: 20,
            roomy: 0,
        };
        for _ in 0..20 {
            levels.round();
            levels.answered(burst.ack_ns);
            levels.burst(burst);
        }
        assert!(levels.level().is_some());
        (0..61).for_each(|_| levels.answered(100));
        assert!(levels.level().is_none());
        for _ in 0..20 {
            levels.burst(burst);
        }
        assert!(levels.level().is_some(), "a writer may begin to wait later");
    }

    /// A window that was the limit for some RTTs at first, and then is not.
    #[test]
    fn acknowledgments_that_were_answered_long_ago_hide_no_writer() {
        let mut levels = WakeLevels::default();
        (0..200).for_each(|_| levels.answered(100));
        for _ in 0..24 {
            levels.round();
            levels.burst(Burst {
                before: 38_556,
                train: 38_556,
                after: 35_700,
                peak: 74_000,
                at_ns: 0,
                data_ns: 9_600_000,
                ack_ns: 60_000,
                acks: 20,
                roomy: 0,
            });
        }
        assert!(levels.level().is_some());
    }

    /// 1 MB over 20 ms under BBR: what was written before is paced for three quarters of the time, and leaves with acknowledgments that come at
    /// that pace, so that the flight hardly drains.
    #[test]
    fn a_writer_is_woken_at_one_level_of_a_flight_that_hardly_drains() {
        let woken = |left: fn(u64) -> u64, ack_ns: fn(u64) -> i64| {
            let mut levels = WakeLevels::default();
            for number in 0..120 {
                levels.round();
                (0..17).for_each(|_| levels.answered(100));
                let after = left(number);
                let (before, peak, at_ns) = (after + 7_140, 725_424, 0);
                let ack_ns = ack_ns(number);
                levels.burst(Burst {
                    before,
                    train: before,
                    after,
                    peak,
                    at_ns,
                    data_ns: 5_500_000,
                    ack_ns,
                    acks: 11,
                    roomy: 11,
                });
            }
            levels.level()
        };
        let level = woken(|number| 642_600 + number % 2 * 7_140, |_| 17_000);
        assert!(level.is_some_and(|level| (640_000..730_000).contains(&level)), "{level:?}");
        assert_eq!(woken(|number| 560_000 + number * 7_919 % 90_000, |_| 17_000), None);
        assert_eq!(woken(|_| 642_600, |number| number.cast_signed() * 37 % 11 * 50_000), None);
    }

    /// A lent block of 512 KiB fills a buffer of 64 KiB, and a busy host runs its writer a few acknowledgments late.
    #[test]
    fn what_little_is_left_of_a_large_flight_is_one_level() {
        let mut levels = WakeLevels::default();
        for burst in 0..24 {
            levels.round();
            let after = [40_000, 9_000, 31_000, 18_000][burst % 4];
            let (before, peak, at_ns) = (after + 2_856, 540_000, 0);
            levels.burst(Burst {
                before,
                train: before,
                after,
                peak,
                at_ns,
                data_ns: 90_000_000,
                ack_ns: 60_000,
                acks: 170,
                roomy: 0,
            });
        }
        assert!(levels.level().is_some_and(|level| level > 40_000), "{:?}", levels.level());
    }

    #[test]
    fn a_writer_has_waited_since_its_level_was_the_same() {
        let mut levels = WakeLevels::default();
        let bursts = (0..12).map(|burst| 20_000 + burst * 5_000).chain(std::iter::repeat_n(35_700, 16));
        for (number, after) in (0..).zip(bursts) {
            levels.round();
            let (before, peak, at_ns) = (after + 2_856, 100_000, number * 40_000_000);
            levels.burst(Burst {
                before,
                train: before,
                after,
                peak,
                ack_ns: 60_000,
                at_ns,
                data_ns: 9_600_000,
                acks: 20,
                roomy: 0,
            });
        }
        // Of the window that grew before, one burst was at that level.
        assert_eq!(levels.since_ns(), Some(12 * 40_000_000 - 9_600_000));
    }

    #[test]
    fn bins_hold_what_is_put_into_them() {
        for bytes in [1_024, 1_500, 43_690, 1 << 20, 999_999_999] {
            let top = level(bin(bytes));
            assert!(bytes < top && top <= bytes + bytes / 7, "{bytes} {top}");
        }
    }
}
