//! Readings of one connection over its life, in bounded memory.

use std::collections::VecDeque;
use std::time::Duration;

use units::MonoTime;

use super::reading::Reading;

/// A reading with what the program had not read then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// The kernel's numbers.
    pub(super) reading: Reading,
    /// Bytes received and not read.
    pub(super) unread: u64,
}

/// Readings of a whole life: when there are too many, every second one goes and later ones are taken half as often.
/// Beside them are the readings of the last seconds, at their own pace.
#[derive(Debug, Clone)]
pub(super) struct Series {
    whole: Vec<Sample>,
    spacing: Duration,
    recent: VecDeque<Sample>,
    thinned: u64,
}

impl Series {
    pub(super) fn new(spacing: Duration) -> Self {
        Self { whole: Vec::new(), spacing, recent: VecDeque::new(), thinned: 0 }
    }

    pub(super) fn push(&mut self, sample: Sample) {
        let at = sample.reading.at;
        if self.recent.back().is_some_and(|last| last.reading.at >= at) {
            return;
        }
        let is_old = |first: &Sample| at.since(first.reading.at) > RECENT;
        while self.recent.len() >= MOST_RECENT || self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        self.recent.push_back(sample);
        let due = self.whole.last().is_none_or(|last| is_due(last.reading.at, at, self.spacing));
        if !due {
            self.thinned += 1;
            return;
        }
        self.whole.push(sample);
        if self.whole.len() >= MOST_WHOLE {
            let mut number = 0_usize;
            self.whole.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.thinned += self.whole.len() as u64;
            self.spacing = self.spacing.saturating_mul(2);
        }
    }

    /// The readings of the whole life, thinned, and the last one whatever the spacing.
    pub(super) fn whole(&self) -> Vec<Sample> {
        let end = self.last().filter(|end| self.whole.last().is_none_or(|last| last.reading.at < end.reading.at));
        self.whole.iter().chain(end).copied().collect()
    }

    /// The last reading.
    pub(super) fn last(&self) -> Option<&Sample> {
        self.recent.back()
    }

    /// The readings of the last seconds.
    pub(super) fn recent(&self) -> &VecDeque<Sample> {
        &self.recent
    }

    /// The least time between two readings of the whole life.
    pub(super) fn spacing(&self) -> Duration {
        self.spacing
    }
}

/// Readings come a little early or late: nine tenths of the spacing are enough.
fn is_due(last: MonoTime, now: MonoTime, spacing: Duration) -> bool {
    now.since(last).saturating_mul(10) >= spacing.saturating_mul(9)
}

/// How far back the present goes.
pub(super) const RECENT: Duration = Duration::from_secs(5);
/// At ten a second, with room for last words.
const MOST_RECENT: usize = 64;
/// A reading takes 240 bytes: 60 KiB a connection.
const MOST_WHOLE: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_life_is_thinned_and_keeps_its_first_and_last_reading() {
        let mut series = Series::new(Duration::from_millis(100));
        let at = |tenth: u64| Sample {
            reading: Reading::new(MonoTime::from_nanos(tenth * 100_000_000), |_| Some(tenth)),
            unread: 0,
        };
        for tenth in 0..=36_000 {
            series.push(at(tenth));
        }
        let whole = series.whole();
        assert!((MOST_WHOLE / 2 - 1..=MOST_WHOLE + 1).contains(&whole.len()), "{}", whole.len());
        assert_eq!((whole[0], whole[whole.len() - 1]), (at(0), at(36_000)));
        assert_eq!(series.recent().len(), 51, "five seconds and their beginning");
        let apart = series.whole.len() as u64 + series.thinned;
        assert_eq!((apart, series.last()), (36_001, Some(&at(36_000))));
    }
}
