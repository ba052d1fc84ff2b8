//! Medians over neighbouring runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The middle of some numbers, and between which the middle half of them lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// A quarter is below.
    pub(crate) low: f64,
    /// Half is below.
    pub(crate) median: f64,
    /// A quarter is above.
    pub(crate) high: f64,
}

impl Spread {
    /// Of numbers; not a number where there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Self { low: at(&sorted, 0.25), median: at(&sorted, 0.5), high: at(&sorted, 0.75) }
    }

    /// Of ours by the peer's, each run by its neighbour.
    pub(crate) fn of_ratios(ours: &[f64], peer: &[f64]) -> Self {
        Self::of(ours.iter().zip(peer).map(|(ours, peer)| ours / peer))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Ratios near one are told apart by their third digit after the point.
        let digits = if (self.median - 1.0).abs() < 0.05 { 4 } else { 2 };
        write!(f, "{:.digits$}", self.median)?;
        // One number has no spread.
        if self.low < self.high { write!(f, " ({:.digits$}-{:.digits$})", self.low, self.high) } else { Ok(()) }
    }
}

/// The value below which a share of the sorted numbers lies, between two of them in proportion.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few numbers")]
fn at(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_quartiles_of_few_numbers() {
        assert_eq!(Spread::of([5.0, 1.0, 3.0, 2.0, 4.0]), Spread { low: 2.0, median: 3.0, high: 4.0 });
        assert_eq!(Spread::of([2.0, 1.0]).median, 1.5);
        assert!(Spread::of([]).median.is_nan());
    }

    #[test]
    fn ratios_are_taken_between_neighbours() {
        // The machine slows down by ten from run to run; the ratio stays.
        let spread = Spread::of_ratios(&[200.0, 20.0, 2.0], &[100.0, 10.0, 1.0]);
        assert_eq!(spread, Spread { low: 2.0, median: 2.0, high: 2.0 });
    }
}
