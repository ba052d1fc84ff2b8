//! How well a detector does on generated series: precision, recall, F1, and alarms without a cause.

use stats::proportion::Proportion;

use crate::families::{DROPS, Family, Labelled};

/// A change counts as found at most so many samples from its place.
pub const TOLERANCE: usize = 5;

/// What a detector made of many series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// Series with a step.
    pub series: u32,
    /// Of these, where a change was found within [`TOLERANCE`] of the step.
    pub hits: u32,
    /// All other changes that were found in them.
    pub false_alarms: u32,
    /// Series without a step.
    pub still: u32,
    /// Of these, where anything was found.
    pub alarming: u32,
    /// Series, hits and false alarms by drop.
    pub by_drop: [[u32; 3]; 5],
    /// Series, hits and false alarms by family.
    pub by_family: [[u32; 3]; 5],
    /// Series without a step, and how many of them alarmed, by family.
    pub still_by_family: [[u32; 2]; 5],
}

impl Score {
    /// Counts what was found in a series: the places of changes.
    pub fn count(&mut self, series: &Labelled, found: &[usize]) {
        let family = Family::ALL.iter().position(|family| *family == series.family).unwrap_or(0);
        let Some(step) = series.step else {
            self.still += 1;
            self.alarming += u32::from(!found.is_empty());
            self.still_by_family[family][0] += 1;
            self.still_by_family[family][1] += u32::from(!found.is_empty());
            return;
        };
        let is_hit = found.iter().any(|place| place.abs_diff(step) <= TOLERANCE);
        let others = u32::try_from(found.len()).unwrap_or(u32::MAX) - u32::from(is_hit);
        self.series += 1;
        self.hits += u32::from(is_hit);
        self.false_alarms += others;
        let drop = DROPS.iter().position(|drop| (*drop - series.drop).abs() < 1e-9).unwrap_or(0);
        for counts in [&mut self.by_drop[drop], &mut self.by_family[family]] {
            counts[0] += 1;
            counts[1] += u32::from(is_hit);
            counts[2] += others;
        }
    }

    /// The share of changes found that are true.
    #[must_use]
    pub fn precision(&self) -> f64 {
        f64::from(self.hits) / f64::from((self.hits + self.false_alarms).max(1))
    }

    /// The share of steps that were found.
    #[must_use]
    pub fn recall(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.series.max(1))
    }

    /// The harmonic mean of both: 2 hits over 2 hits, false alarms and misses.
    #[must_use]
    pub fn f1(&self) -> f64 {
        2.0 * f64::from(self.hits) / f64::from((self.hits + self.false_alarms + self.series).max(1))
    }

    /// In 95 of 100 samples of so many series F1 lies within this distance, half the width of its interval: the delta method on
    /// the hits, false alarms and misses of single series, taken as independent.
    #[must_use]
    pub fn f1_error(&self) -> f64 {
        let n = f64::from(self.series.max(1));
        let (recall, per_series) = (self.recall(), f64::from(self.hits + self.false_alarms) / n);
        let f1 = self.f1();
        // F1 = 2h / (1 + m), h hits and m changes found a series; m's variance is at most that of a Poisson count.
        let variance = (2.0 - f1).powi(2) * recall * (1.0 - recall) + f1 * f1 * (per_series - recall).max(0.0);
        1.96 * (variance / n).sqrt() / (1.0 + per_series)
    }

    /// The series without a step, and how many of them alarmed.
    #[must_use]
    pub const fn still(&self) -> Proportion {
        Proportion { some: self.alarming, of: self.still }
    }
}
