//! Rates over time in bounded memory: when there are too many steps, each becomes twice as long.

use std::time::Duration;

use model::bursts::RateSteps;
use units::DataRate;

use super::tick::{Passed, rate};

#[derive(Debug, Clone)]
pub(super) struct Steps {
    first: u64,
    /// Buckets in a step.
    buckets: u64,
    /// Bytes on the physical layer of each step, and of its busiest bucket.
    steps: Vec<Sum>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    all: u64,
    busiest: u64,
    retransmissions: u64,
}

impl Steps {
    pub(super) fn new(first: u64) -> Self {
        Self { first, buckets: 1, steps: Vec::new() }
    }

    pub(super) fn push(&mut self, passed: Passed) {
        let Passed { number: epoch, bytes, retransmissions, .. } = passed;
        let mut number = epoch.saturating_sub(self.first) / self.buckets;
        while number >= MOST_STEPS {
            self.halve();
            number = epoch.saturating_sub(self.first) / self.buckets;
        }
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if self.steps.len() <= number {
            self.steps.resize(number + 1, Sum::default());
        }
        let step = &mut self.steps[number];
        step.all = step.all.saturating_add(bytes);
        step.busiest = step.busiest.max(bytes);
        step.retransmissions = step.retransmissions.saturating_add(retransmissions);
    }

    fn halve(&mut self) {
        self.buckets *= 2;
        let pairs = self.steps.chunks(2).map(|pair| Sum {
            all: pair.iter().map(|step| step.all).fold(0, u64::saturating_add),
            busiest: pair.iter().map(|step| step.busiest).max().unwrap_or(0),
            retransmissions: pair.iter().map(|step| step.retransmissions).fold(0, u64::saturating_add),
        });
        self.steps = pairs.collect();
    }

    pub(super) fn rates(&self, bucket: Duration) -> RateSteps {
        let step = bucket.saturating_mul(u32::try_from(self.buckets).unwrap_or(u32::MAX));
        let of = |value: fn(&Sum) -> u64, time| -> Vec<DataRate> {
            self.steps.iter().map(|sum| rate(value(sum), time)).collect()
        };
        let mut retransmissions: Vec<u64> = self.steps.iter().map(|sum| sum.retransmissions).collect();
        drop_zeros(&mut retransmissions);
        RateSteps { step, mean: of(|sum| sum.all, step), busiest: of(|sum| sum.busiest, bucket), retransmissions }
    }
}

/// Counts up to the last that is not zero.
pub(super) fn drop_zeros(counts: &mut Vec<u64>) {
    counts.truncate(counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
}

/// More than a picture has columns.
const MOST_STEPS: u64 = 2_000;
