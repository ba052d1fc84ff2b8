//! A schedule stretched over a period, with a random start within each slot.

use std::time::Duration;

use path::Seed;
use path::random::SeededRng;
use plan::schedule::Slot;
use units::duration;

/// A schedule, and the period that it fills.
#[derive(Debug, Clone)]
pub(super) struct Spread {
    /// When each slot begins and how much of it is the test with its rest, in nanoseconds of the schedule.
    slots: Vec<SlotSpan>,
    /// The schedule's own length.
    length: u64,
    /// The longest slot.
    longest: u64,
    period: u64,
}

#[derive(Debug, Clone, Copy)]
struct SlotSpan {
    begins: u64,
    lasts: u64,
}

impl Spread {
    pub(super) fn new(slots: &[Slot], period: Duration, gap: Duration) -> Self {
        let span = |slot: &Slot| SlotSpan {
            begins: duration::nanos(slot.begins),
            lasts: duration::nanos(slot.lasts.saturating_add(gap)),
        };
        let slots: Vec<SlotSpan> = slots.iter().map(span).collect();
        Self {
            length: slots.iter().map(|slot| slot.begins + slot.lasts).max().unwrap_or(0),
            longest: slots.iter().map(|slot| slot.lasts).max().unwrap_or(0),
            slots,
            period: duration::nanos(period),
        }
    }

    /// When each slot's test begins, after the start of the period.
    ///
    /// The schedule is cut at a random moment and its first part put behind its second; a slot that is cut goes with the first,
    /// which makes the whole longer by one slot. Then all times are stretched alike, so that what did not meet does not meet,
    /// and each test lies somewhere in its stretched slot.
    pub(super) fn starts(&self, seed: Seed) -> Vec<Duration> {
        let mut rng = SeededRng::new(seed);
        let has_room = self.length + self.longest <= self.period;
        let cut = if has_room { rng.below(self.length.max(1)) } else { 0 };
        let whole = if has_room { self.length + self.longest } else { self.length };
        let stretch = Stretch { whole, period: self.period };
        let start = |slot: &SlotSpan| {
            let begins = if slot.begins >= cut { slot.begins - cut } else { slot.begins + self.length - cut };
            let room = stretch.of(slot.lasts).saturating_sub(slot.lasts);
            Duration::from_nanos(stretch.of(begins) + rng.below(room.max(1)))
        };
        self.slots.iter().map(start).collect()
    }
}

/// By how much a schedule is stretched.
struct Stretch {
    whole: u64,
    period: u64,
}

impl Stretch {
    fn of(&self, time: u64) -> u64 {
        if self.whole == 0 || self.whole >= self.period {
            return time;
        }
        u64::try_from(u128::from(time) * u128::from(self.period) / u128::from(self.whole)).unwrap_or(u64::MAX)
    }
}
