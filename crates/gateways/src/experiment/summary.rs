//! The numbers of one combination over all of its runs, with intervals.

use serde::Serialize;
use stats::proportion::Proportion;

use super::cell::Cell;
use super::row::{MEASURES, Row, place};

/// What the runs of one combination say.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellSummary {
    /// Its name in the table of policies.
    pub policy: &'static str,
    /// Variant and what varies.
    pub settings: String,
    /// What is offered, as a part of what all NICs move.
    pub utilisation: f64,
    /// Runs that were counted.
    pub runs: u32,
    /// The mean of each measure over the runs.
    pub measures: Vec<Estimate>,
    /// Runs without any restart.
    pub without_restart: Share,
    /// Goodput relative to the baseline, seed by seed: 0.01 is 1 % more.
    pub goodput_gain: Option<Interval>,
}

/// The mean of a measure.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Which measure.
    pub name: &'static str,
    /// Its mean; [`None`] where no run could measure it.
    pub mean: Option<Interval>,
}

/// A mean and where it may lie: 95 of 100 such intervals hold it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The mean of what was seen.
    pub mean: f64,
    /// The lower end; [`None`] of a single run.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The worst run: the largest value, or the smallest where more is better.
    pub largest: f64,
    /// The smallest value of a run.
    pub smallest: f64,
}

/// Some of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// The part that was seen.
    pub share: f64,
    /// Where the probability may lie, at least (Wilson 1927).
    pub low: f64,
    /// And at most.
    pub high: f64,
}

impl CellSummary {
    pub(super) fn new(cell: &Cell, rows: &[Row], goodput_gain: Option<Option<Interval>>) -> Self {
        let values = |at: usize| rows.iter().map(move |row| row.numbers[at]).collect::<Vec<f64>>();
        let restarts = place("restarts").map(values).unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let calm =
            Proportion { some: count(restarts.iter().filter(|count| **count == 0.0).count()), of: count(rows.len()) };
        let (low, high) = calm.interval();
        Self {
            policy: cell.policy,
            settings: cell.label(),
            utilisation: cell.settings.utilisation(),
            runs: count(rows.len()),
            measures: MEASURES
                .iter()
                .enumerate()
                .map(|(at, measure)| Estimate { name: measure.name, mean: interval(&values(at)) })
                .collect(),
            without_restart: Share { share: calm.share().unwrap_or(0.0), low, high },
            goodput_gain: goodput_gain.flatten(),
        }
    }

    /// The estimate of a measure.
    #[must_use]
    pub fn estimate(&self, name: &str) -> Option<Interval> {
        self.measures.iter().find(|estimate| estimate.name == name).and_then(|estimate| estimate.mean)
    }

    pub(super) fn mean(&self, name: &str) -> f64 {
        self.estimate(name).map_or(f64::INFINITY, |interval| interval.mean)
    }
}

impl Interval {
    /// The mean of what could be measured, with Student's interval; [`None`] of nothing.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        interval(values)
    }

    /// Of a part of all runs.
    #[must_use]
    pub const fn of_share(share: Share) -> Self {
        let Share { share: mean, low, high } = share;
        Self { mean, low: Some(low), high: Some(high), largest: mean, smallest: mean }
    }
}

fn interval(values: &[f64]) -> Option<Interval> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let count = f64::from(u32::try_from(values.len()).ok()?);
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let half = (values.len() > 1).then(|| {
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        student(count - 1.0) * (variance / count).sqrt()
    });
    let fold = |start: f64, of: fn(f64, f64) -> f64| values.iter().copied().fold(start, of);
    Some(Interval {
        mean,
        low: half.map(|half| mean - half),
        high: half.map(|half| mean + half),
        largest: fold(f64::NEG_INFINITY, f64::max),
        smallest: fold(f64::INFINITY, f64::min),
    })
}

/// The 97.5th percentile of Student's t (Abramowitz and Stegun 26.7.5; within 0.01 from 4 degrees of freedom on, and 12.7,
/// 4.30 and 3.18 below).
fn student(freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    const FEW: [f64; 3] = [12.706, 4.303, 3.182];
    if freedom < 3.5 {
        return if freedom < 1.5 {
            FEW[0]
        } else if freedom < 2.5 {
            FEW[1]
        } else {
            FEW[2]
        };
    }
    let (cube, fifth, seventh) = (Z.powi(3), Z.powi(5), Z.powi(7));
    Z + (cube + Z) / (4.0 * freedom)
        + (5.0 * fifth + 16.0 * cube + 3.0 * Z) / (96.0 * freedom.powi(2))
        + (3.0 * seventh + 19.0 * fifth + 17.0 * cube - 15.0 * Z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (9.0, 2.262), (19.0, 2.093), (99.0, 1.984)] {
            assert!((student(freedom) - expected).abs() < 0.01, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn an_interval_leaves_out_what_could_not_be_measured() {
        let one = interval(&[1.0, f64::NAN, 3.0]).unwrap();
        assert_eq!((one.mean, one.smallest, one.largest), (2.0, 1.0, 3.0));
        assert_eq!(interval(&[f64::NAN]), None);
        assert_eq!(interval(&[5.0]).unwrap().low, None);
    }
}
