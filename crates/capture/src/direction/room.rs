//! Pauses in which a writer has waited for room in its send buffer, each by itself: once the level at which it is woken is known, a pause that
//! ends there was such a wait, whatever else the sender did between.
//!
//! A kernel that cuts a frame for segmentation offload to what its pacing rate has in a millisecond leaves the rest of it unsent, and appends
//! to that without asking how full the buffer is (`tcp_push_one` and `tcp_sendmsg_locked` of Linux 6.18): a buffer of 64 KiB then takes
//! megabytes, as many as the congestion window lets leave at once. Its writer is not woken until all but two thirds of the buffer are
//! acknowledged, so such a transfer is one burst of any size after the other, each of which begins with as little outstanding.

use std::ops::{Range, RangeInclusive};

use super::drains::Drains;
use super::pause::Pause;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct RoomWaits {
    /// Bytes outstanding at which a writer is woken: a buffer does not shrink.
    known: Option<WakeLevel>,
    /// The same of a writer that is woken or tries again by a timer.
    drained: Option<WakeLevel>,
    /// Made when a first pause ends: most connections have none.
    pauses: Option<Box<Pauses>>,
}

/// Pauses that may turn out to be waits for room.
#[derive(Debug, Clone, Default)]
struct Pauses {
    kept: [Option<Pause>; KEPT],
    next: usize,
    drains: Drains,
}

/// Between what and what the level lies at which a writer is woken.
#[derive(Debug, Clone, Copy)]
pub(super) struct WakeLevel {
    least: u64,
    most: u64,
}

impl WakeLevel {
    /// As bursts that acknowledgments released have shown it: an eighth more or less is the same.
    pub(super) fn seen(level: u64) -> Self {
        Self { least: level / 9 * 8, most: level / 8 * 9 }
    }

    /// Of a buffer that takes frames up to some bytes outstanding: it holds that, or up to a frame less, and two thirds of it wake its writer.
    pub(super) fn of_buffer(held: RangeInclusive<u64>) -> Self {
        Self { least: held.start() / 3 * 2, most: held.end() / 3 * 2 }
    }

    /// About as much is left where bursts begin: two thirds of the buffer where its writer is woken, up to all of it where it tries again.
    pub(super) fn around(left: u64) -> Self {
        Self { least: left / 3 * 2, most: left / 2 * 3 }
    }
}

/// Pauses that are kept until the level is known.
const KEPT: usize = 32;

impl RoomWaits {
    /// A pause is over, and a level is known by now or is not. Gives the spans in which a writer has waited for room.
    pub(super) fn take(&mut self, pause: Pause, level: Option<WakeLevel>, mut waited: impl FnMut(Range<i64>)) {
        self.known = level.or(self.known);
        if !pause.is_drained() {
            return;
        }
        let pauses = self.pauses.get_or_insert_default();
        pauses.drains.take(&pause);
        self.drained = pauses.drains.level().map(WakeLevel::around).or(self.drained);
        pauses.kept[pauses.next] = Some(pause);
        pauses.next = (pauses.next + 1) % KEPT;
        let (known, drained) = (self.known, self.drained);
        if known.is_none() && drained.is_none() {
            return;
        }
        let is_wait = |pause: &Pause| {
            known.is_some_and(|level| pause.is_wait(level)) || drained.is_some_and(|level| pause.is_about(level))
        };
        let kept = pauses.kept.iter_mut().filter_map(Option::take);
        kept.filter(is_wait).for_each(|pause| waited(pause.from_ns..pause.to_ns));
    }

    /// As much is outstanding as lets nobody write who waits for room.
    pub(super) fn is_full(&self, outstanding: u64) -> bool {
        self.known.or(self.drained).is_some_and(|level| outstanding > level.most)
    }

    /// Bytes outstanding at which bursts begin, where a writer waits for room and all that shows it is that these are about as many each time.
    pub(super) fn drained_to(&self) -> Option<u64> {
        self.drained.map(|level| level.most / 3 * 2)
    }

    /// Losses, or marks, limit: count anew.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.pauses.is_none()
    }
}

impl Pause {
    /// Who waits for room lets a third of the buffer drain.
    fn is_drained(&self) -> bool {
        self.after * 10 <= self.peak * 7
    }

    /// Whether it ended where a writer is woken: with the acknowledgment that reaches that level, or, of far more than a buffer holds, with
    /// about as little outstanding, as who is woken late or tries again by a timer finds it.
    fn is_wait(&self, level: WakeLevel) -> bool {
        let is_reached = self.after <= level.most && self.before >= level.least;
        let is_little = level.least <= self.after * 2 && self.after * 2 < level.most * 3 && level.most * 4 <= self.peak;
        self.is_released && is_reached || is_little
    }

    /// Whether about as much was left when it ended, or, of far more than a buffer holds, less than that: who is run late finds so.
    fn is_about(&self, level: WakeLevel) -> bool {
        let is_little = level.least <= self.after * 2 && level.most * 2 <= self.peak;
        self.after <= level.most && (level.least <= self.after || is_little)
    }
}

saved!(RoomWaits { known, drained, pauses });
saved!(Pauses { kept, next, drains });
saved!(WakeLevel { least, most });

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const LEVEL: u64 = 41_000;

    /// Spans of the pauses that turn out to be waits, in milliseconds, when the level is known with the last of them.
    fn waits(pauses: &[Pause]) -> Vec<Range<i64>> {
        let mut waits = RoomWaits::default();
        let mut spans = Vec::new();
        for (number, pause) in pauses.iter().enumerate() {
            let level = (number + 1 == pauses.len()).then_some(WakeLevel::seen(LEVEL));
            waits.take(*pause, level, |span| spans.push(span.start / MS..span.end / MS));
        }
        spans
    }

    fn pause(from_ms: i64, after: u64, peak: u64, is_released: bool) -> Pause {
        let (from_ns, to_ns) = (from_ms * MS, (from_ms + 90) * MS);
        Pause { from_ns, to_ns, peak, before: after + 2_856, after, is_released }
    }

    /// As a buffer of 64 KiB was seen that its kernel overfills.
    #[test]
    fn bursts_of_any_size_that_begin_at_one_level_end_waits_for_room() {
        let peaks = [174_216, 707_284, 383_128, 1_769_292, 2_898_840];
        let pauses: Vec<_> = (0..).zip(peaks).map(|(number, peak)| pause(number * 100, 38_556, peak, true)).collect();
        assert_eq!(waits(&pauses).len(), 5);
        // A level that is never known shows none.
        let mut room = RoomWaits::default();
        pauses.iter().for_each(|pause| room.take(*pause, None, |span| panic!("{span:?}")));
    }

    #[test]
    fn who_comes_late_finds_as_little_of_a_large_burst_and_any_part_of_a_small_one() {
        assert_eq!(waits(&[pause(0, 25_000, 2_000_000, false)]).len(), 1);
        for (after, peak) in [(25_000, 120_000), (400_000, 2_000_000), (2_000, 2_000_000)] {
            assert_eq!(waits(&[pause(0, after, peak, false)]), [], "{after} of {peak}");
        }
    }
}
