//! Random early detection: packets are dropped or marked at random, the more the longer the queue is on average, so
//! that senders slow down one by one and before it is full.
//!
//! Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on Networking
//! 1(4), 1993, figure 2; `gentle` is Floyd's "Recommendation on using the gentle variant of RED", 2000.

use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, MonoTime};

use super::Verdict;
use crate::random::{Dice, Seed};
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

/// What sch_red takes where nothing is said is 0.02; Floyd recommends 0.1 since 1997.
fn tenth() -> f64 {
    0.1
}

/// The weight of the paper, section 11.
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
    dice: Dice,
    /// The average length in bytes.
    average: f64,
    /// Packets let in since the last that was dropped or marked; `None` while the average is below `min`.
    count: Option<u32>,
    /// Since when nothing waits.
    idle_since: Option<MonoTime>,
}

impl Red {
    pub(super) fn new(spec: RedSpec, seed: Seed) -> Self {
        Self { spec, dice: Dice::new(seed), average: 0.0, count: None, idle_since: None }
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
        if probability < 1.0 && left > 0.0 && !self.dice.hits(probability / left) {
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
