//! Bursts by time and length in bounded memory: when there are too many steps, each becomes twice as long.

use std::time::Duration;

use model::bursts::BurstsOverTime;

use super::tick::count;

#[derive(Debug, Clone)]
pub(super) struct Heat {
    first: u64,
    bucket: Duration,
    /// Buckets in a step.
    buckets: u64,
    steps: Vec<Vec<u64>>,
}

impl Heat {
    pub(super) fn new(first: u64, bucket: Duration) -> Self {
        let buckets = LEAST_STEP.as_nanos() / bucket.as_nanos().max(1);
        Self { first, bucket, buckets: u64::try_from(buckets).unwrap_or(u64::MAX).max(1), steps: Vec::new() }
    }

    /// Takes a burst by its first bucket and its length in buckets.
    pub(super) fn push(&mut self, epoch: u64, length: u64) {
        let since = epoch.saturating_sub(self.first);
        while since / self.buckets >= MOST_STEPS {
            self.halve();
        }
        let number = usize::try_from(since / self.buckets).unwrap_or(usize::MAX);
        if self.steps.len() <= number {
            self.steps.resize(number + 1, Vec::new());
        }
        count(&mut self.steps[number], length);
    }

    fn halve(&mut self) {
        self.buckets = self.buckets.saturating_mul(2);
        self.steps = self.steps.chunks(2).map(|pair| pair.iter().fold(Vec::new(), sum)).collect();
    }

    pub(super) fn over_time(self) -> BurstsOverTime {
        let step = self.bucket.saturating_mul(u32::try_from(self.buckets).unwrap_or(u32::MAX));
        let step = if self.steps.is_empty() { Duration::ZERO } else { step };
        BurstsOverTime { step, by_length: self.steps }
    }
}

fn sum(mut all: Vec<u64>, other: &Vec<u64>) -> Vec<u64> {
    if all.len() < other.len() {
        all.resize(other.len(), 0);
    }
    for (sum, count) in all.iter_mut().zip(other) {
        *sum = sum.saturating_add(*count);
    }
    all
}

const LEAST_STEP: Duration = Duration::from_secs(1);
/// A day has 169 of 512 s.
const MOST_STEPS: u64 = 288;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_bursts_is_a_few_hundred_steps_and_none_is_lost() {
        let mut heat = Heat::new(7, Duration::from_millis(1));
        // Each minute of a day one burst of 5 ms, at noon a hundred of 1 ms.
        for minute in 0..1_440_u64 {
            heat.push(7 + minute * 60_000, 5);
            if minute == 720 {
                (0..100).for_each(|number| heat.push(7 + minute * 60_000 + 10 + number, 1));
            }
        }
        let map = heat.over_time();
        assert_eq!(map.step, Duration::from_secs(512));
        assert_eq!(map.by_length.len(), 169);
        let all = |class: usize| map.by_length.iter().filter_map(|step| step.get(class)).sum::<u64>();
        assert_eq!([all(0), all(1), all(2)], [100, 0, 1_440]);
        let noon = map.by_length.iter().position(|step| step.first() == Some(&100));
        assert_eq!(noon, Some(720 * 60 / 512));
    }

    #[test]
    fn without_a_burst_there_is_no_map() {
        assert!(Heat::new(0, Duration::from_millis(1)).over_time().is_empty());
    }
}
