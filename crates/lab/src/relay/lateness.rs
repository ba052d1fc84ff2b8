//! How much later than its instant each train was written.

use std::fmt;
use std::time::Duration;

/// Times, counted in steps of a sixteenth of their size.
#[derive(Clone)]
pub struct Lateness {
    counts: Box<[u64; STEPS]>,
    count: u64,
    longest: Duration,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: Box::new([0; STEPS]), count: 0, longest: Duration::ZERO }
    }
}

impl fmt::Debug for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Lateness");
        shown.field("count", &self.count).field("median", &self.median()).field("p99", &self.p99());
        shown.field("longest", &self.longest).finish_non_exhaustive()
    }
}

impl Lateness {
    /// How many trains were written.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time that half of them did not exceed.
    #[must_use]
    pub fn median(&self) -> Duration {
        self.quantile(50)
    }

    /// The time that 99 of 100 did not exceed.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.quantile(99)
    }

    /// The longest time.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// The time that so many of 100 did not exceed, at most 7 % more than it was; zero where there were none.
    #[must_use]
    pub fn quantile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent).div_ceil(100);
        let mut below = 0;
        for (step, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank && rank > 0 {
                return Duration::from_nanos(end_of(step)).min(self.longest);
            }
        }
        Duration::ZERO
    }

    /// What was recorded since `before`, an earlier state of this; its longest time is that of the whole.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut counts = self.counts.clone();
        counts.iter_mut().zip(before.counts.iter()).for_each(|(now, before)| *now = now.saturating_sub(*before));
        Self { counts, count: self.count.saturating_sub(before.count), longest: self.longest }
    }

    pub(super) fn record(&mut self, late: Duration) {
        let nanos = units::duration::nanos(late);
        self.counts[step_of(nanos)] += 1;
        self.count += 1;
        self.longest = self.longest.max(late);
    }
}

/// Nanoseconds below this have a step each; from there on each power of two has so many.
const FINE: u64 = 16;
const STEPS: usize = 61 * 16;

fn step_of(nanos: u64) -> usize {
    if nanos < FINE {
        return usize::try_from(nanos).unwrap_or(0);
    }
    let octave = u64::from(nanos.ilog2() - FINE.ilog2());
    usize::try_from((octave + 1) * FINE + (nanos >> octave) - FINE).unwrap_or(STEPS - 1)
}

/// The largest time of a step.
fn end_of(step: usize) -> u64 {
    let step = step as u64;
    if step < FINE {
        return step;
    }
    let octave = step / FINE - 1;
    (((step % FINE + FINE + 1) as u128) << octave).saturating_sub(1).try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_without_a_gap() {
        for step in 0..STEPS - 1 {
            assert_eq!(step_of(end_of(step)), step);
            assert_eq!(step_of(end_of(step) + 1), step + 1);
        }
        assert_eq!(step_of(u64::MAX), STEPS - 1);
    }

    #[test]
    fn quantiles_are_those_of_what_was_recorded() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.p99(), Duration::ZERO);
        for micros in 1..=1_000 {
            lateness.record(Duration::from_micros(micros));
        }
        let within = |found: Duration, micros: u64| {
            (Duration::from_micros(micros)..Duration::from_micros(micros + micros / 14)).contains(&found)
        };
        assert!(within(lateness.median(), 500), "{:?}", lateness.median());
        assert!(within(lateness.p99(), 990), "{:?}", lateness.p99());
        assert_eq!((lateness.count(), lateness.longest()), (1_000, Duration::from_millis(1)));
        assert_eq!(lateness.quantile(100), lateness.longest());
    }
}
