//! What a real cluster shows beside the balancing: memory of its processes, and how long deletions take.

use serde::{Deserialize, Serialize};
use stats::summary::Ordered;

use crate::calibrate::fit::Goodness;
use crate::calibrate::memory;
use crate::status::reading::Reading;

/// Memory and deletions of a run on a real cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// Memory of an xrootd with nothing in flight, MB, by the line through all moments.
    pub memory_idle_mb: Option<f64>,
    /// Memory of a transfer in flight, MB, by the same line.
    pub memory_per_transfer_mb: Option<f64>,
    /// The part of the variance of memory that transfers in flight explain, of 1.
    pub memory_explained: Option<f64>,
    /// Most memory of one xrootd, MB.
    pub memory_largest_mb: Option<f64>,
    /// Median and 95th percentile of deletions before there was any load, seconds.
    pub deletion_idle_s: Option<Quantiles>,
    /// The same under load.
    pub deletion_loaded_s: Option<Quantiles>,
    /// Deletions that failed.
    pub deletions_failed: u64,
}

/// Two quantiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// How many there were.
    pub count: usize,
    /// Half of the repetitions are below.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
}

/// How long deletions took, seconds, and how many failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deletions {
    /// Before there was any load.
    pub idle_s: Vec<f64>,
    /// Under load.
    pub loaded_s: Vec<f64>,
    /// Those that failed, under load or not.
    pub failed: u64,
}

impl Beside {
    /// Of what each xrootd had in flight and in use at many moments, and of all deletions.
    #[must_use]
    pub fn of(readings: &[Reading], deletions: &Deletions) -> Self {
        let fitted = memory::of_readings(readings);
        let line = |at: usize| fitted.get(at).map(|one| one.value * 1e3).filter(|value| value.is_finite());
        let explained = fitted.first().and_then(|one| match one.goodness {
            Goodness::Explained(part) => Some(part),
            _ => None,
        });
        let bytes = readings.iter().filter_map(|reading| reading.memory_bytes);
        Self {
            memory_idle_mb: line(1),
            memory_per_transfer_mb: line(0),
            memory_explained: explained,
            memory_largest_mb: bytes.reduce(f64::max).map(|bytes| bytes / 1e6),
            deletion_idle_s: Quantiles::of(&deletions.idle_s),
            deletion_loaded_s: Quantiles::of(&deletions.loaded_s),
            deletions_failed: deletions.failed,
        }
    }

    /// How many times slower deletions were under load: by the 95th percentile.
    #[must_use]
    pub fn deletion_ratio(&self) -> Option<f64> {
        Some(self.deletion_loaded_s?.p95 / self.deletion_idle_s?.p95)
    }
}

impl Quantiles {
    /// Of some times; [`None`] of none.
    #[must_use]
    pub fn of(times_s: &[f64]) -> Option<Self> {
        let ordered = Ordered::new(times_s.to_vec());
        Some(Self { count: times_s.len(), p50: ordered.quantile(0.5)?, p95: ordered.quantile(0.95)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_transfer_and_the_slowdown_of_deletions_are_those_that_were_put_in() {
        let reading = |at: u32| Reading {
            gateway: format!("gateway{}", at % 2 + 1),
            in_flight: Some(f64::from(at % 17)),
            memory_bytes: Some(20e6 + 0.5e6 * f64::from(at % 17)),
            ..Reading::default()
        };
        let readings: Vec<Reading> = (0..100).map(reading).collect();
        let deletions = Deletions { idle_s: vec![0.1; 10], loaded_s: vec![0.2; 10], failed: 1 };
        let beside = Beside::of(&readings, &deletions);
        assert!((beside.memory_per_transfer_mb.unwrap() - 0.5).abs() < 1e-6, "{beside:?}");
        assert!((beside.memory_idle_mb.unwrap() - 20.0).abs() < 1e-6, "{beside:?}");
        assert!((beside.deletion_ratio().unwrap() - 2.0).abs() < 1e-9, "{beside:?}");
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        let nothing = Beside::of(&[], &Deletions::default());
        assert_eq!(nothing, Beside::default());
        assert_eq!(nothing.deletion_ratio(), None);
    }
}
