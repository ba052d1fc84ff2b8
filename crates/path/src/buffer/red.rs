//! Random early detection: packets are dropped or marked at random, the more the longer the queue is on average, so
//! that senders slow down one by one and before it is full.
//!
//! Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on Networking
//! 1(4), 1993, figure 2; `gentle` is Floyd's "Recommendation on using the gentle variant of RED", 2000.

use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, MonoTime};

use super::Verdict;
use crate::random::{Seed, SeededRng};
use crate::spec::{SpecError, check_not_zero, check_probability};

/// Random early detection as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RedSpec {
    /// Average length of the queue up to which nothing is dropped.
    #[serde(deserialize_with = "units::text::read")]
    pub min: ByteCount,
    /// Average length from which on everything is, without `gentle`.
    #[serde(deserialize_with = "units::text::read")]
    pub max: ByteCount,
    /// Probability of a drop just below `max`.
    #[serde(default = "tenth")]
    pub probability: f64,
    /// How much a packet's arrival moves the average towards the length that it finds.
    #[serde(default = "slow")]
    pub weight: f64,
    /// Whether the probability rises evenly to 1 between `max` and twice that, instead of at once.
    #[serde(default)]
    pub gentle: bool,
    /// Mark packets that understand it, instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
}

/// Floyd, "RED: Discussions of Setting Parameters", 1997. The paper has 0.02.
fn tenth() -> f64 {
    0.1
}

/// The weight of the paper.
fn slow() -> f64 {
    0.002
}

impl RedSpec {
    /// # Errors
    /// A probability or weight that is none, or thresholds in the wrong order.
    pub fn check(&self) -> Result<(), SpecError> {
        check_probability("red", "probability", self.probability)?;
        check_probability("red", "weight", self.weight)?;
        check_not_zero("red", "probability", self.probability)?;
        check_not_zero("red", "weight", self.weight)?;
        if self.min >= self.max {
            return Err(SpecError::Order { element: "red", lower: "min", upper: "max" });
        }
        Ok(())
    }
}

/// See [`RedSpec`].
#[derive(Debug)]
pub(super) struct Red {
    spec: RedSpec,
    rng: SeededRng,
    /// The average length in bytes.
    average: f64,
    /// Packets let in since the last that was dropped or marked; `None` while the average is below `min`.
    count: Option<u32>,
    /// Since when nothing waits.
    idle_since: Option<MonoTime>,
}

impl Red {
    pub(super) fn new(spec: RedSpec, seed: Seed) -> Self {
        Self { spec, rng: SeededRng::new(seed), average: 0.0, count: None, idle_since: None }
    }

    pub(super) fn adopt(&mut self, spec: RedSpec) {
        self.spec = spec;
    }

    /// Notes that nothing waits any more.
    pub(super) fn emptied(&mut self, now: MonoTime) {
        self.idle_since = Some(now);
    }

    /// Decides about a packet that comes while `waiting` bytes do. An idle link would send one in `packet_time`.
    pub(super) fn judge(&mut self, waiting: u64, now: MonoTime, packet_time: Duration) -> Verdict {
        self.follow(waiting, now, packet_time);
        let Some(probability) = self.probability() else {
            self.count = None;
            return Verdict::Admit;
        };
        // The correction by count spaces drops evenly: from one to the next, 1 to 1 / probability packets.
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        let left = 1.0 - f64::from(count) * probability;
        self.count = Some(count);
        if probability < 1.0 && left > 0.0 && !self.rng.hits(probability / left) {
            return Verdict::Admit;
        }
        self.count = Some(0);
        if self.spec.ecn { Verdict::Mark } else { Verdict::Drop }
    }

    fn follow(&mut self, waiting: u64, now: MonoTime, packet_time: Duration) {
        if let Some(since) = self.idle_since.take() {
            // As if packets had found it empty all that time.
            let missed = now.since(since).as_secs_f64() / packet_time.as_secs_f64().max(1e-12);
            self.average *= (1.0 - self.spec.weight).powf(missed);
        }
        self.average += self.spec.weight * (bytes(waiting) - self.average);
    }

    /// The probability at the average, before the correction; `None` below `min`.
    fn probability(&self) -> Option<f64> {
        let (min, max) = (bytes(self.spec.min.get()), bytes(self.spec.max.get()));
        let most = self.spec.probability;
        if self.average < min {
            None
        } else if self.average < max {
            Some(most * (self.average - min) / (max - min))
        } else if self.spec.gentle && self.average < 2.0 * max {
            Some(most + (1.0 - most) * (self.average - max) / max)
        } else {
            Some(1.0)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an average, not a count")]
fn bytes(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(gentle: bool, ecn: bool) -> Red {
        let (min, max) = (ByteCount::new(100_000), ByteCount::new(300_000));
        Red::new(RedSpec { min, max, probability: 0.1, weight: 0.002, gentle, ecn }, Seed(1))
    }

    /// Gaps between the packets that are not let in, while `waiting` bytes wait all the time.
    fn gaps(red: &mut Red, waiting: u64, packets: u32) -> Vec<u32> {
        red.average = bytes(waiting);
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..packets {
            gap += 1;
            if red.judge(waiting, MonoTime::from_nanos(0), Duration::from_micros(1)) != Verdict::Admit {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    }

    #[test]
    fn drops_are_spaced_evenly_at_the_rate_of_the_formula() {
        // At half of the way from min to max: p = 0.05. With the correction the gap is any of 1 to 1 / p - 1 alike, so
        // 10 in the mean, with a standard deviation of 19 / sqrt(12) = 5.5. Of 10,000 gaps, five deviations are 0.27.
        let gaps = gaps(&mut red(false, false), 200_000, 100_000);
        let mean = f64::from(gaps.iter().sum::<u32>()) / bytes(gaps.len() as u64);
        assert!((mean - 10.0).abs() < 0.27, "{mean}");
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&19)), "never longer");
    }

    #[test]
    fn nothing_is_dropped_below_min_and_everything_above_max_unless_gentle() {
        assert!(gaps(&mut red(false, false), 99_999, 10_000).is_empty());
        assert_eq!(gaps(&mut red(false, false), 300_001, 100), [1; 100]);
        // Gentle at 1.5 max: p = 0.1 + 0.9 / 2 = 0.55, so that a gap of 2 follows where the first is let in.
        let gentle = gaps(&mut red(true, false), 450_000, 10_000);
        assert!(gentle.iter().all(|gap| *gap <= 2) && gentle.len() > 5_000, "{}", gentle.len());
        assert_eq!(gaps(&mut red(true, false), 600_001, 100), [1; 100]);
    }

    #[test]
    fn average_follows_slowly_and_sinks_while_nothing_comes() {
        let mut red = red(false, true);
        let mut judge = |waiting, ns| red.judge(waiting, MonoTime::from_nanos(ns), Duration::from_micros(1));
        for _ in 0..346 {
            assert_eq!(judge(200_000, 0), Verdict::Admit, "1 - 0.998^346 is just below a half, where min is");
        }
        (0..2_000).for_each(|_| _ = judge(400_000, 0));
        assert_eq!(judge(400_000, 0), Verdict::Mark);
        // 394 kB x 0.998^1000 = 53 kB.
        red.emptied(MonoTime::from_nanos(0));
        red.judge(0, MonoTime::from_nanos(1_000_000), Duration::from_micros(1));
        assert!((52_000.0..54_000.0).contains(&red.average), "{}", red.average);
    }
}
