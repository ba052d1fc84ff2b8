//! How often what is said with some probability turns out to be right: isotonic regression (Zadrozny and Elkan 2002).

use crate::causes::weights::{Calibration, CalibrationCurve, CalibrationCurves, Weights};
use crate::signs::Coverage;

/// A first name with its probability, and whether it was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// As it was reckoned, 0 to 1.
    pub probability: f64,
    /// Whether it is what was planted.
    pub is_right: bool,
    /// Whether it is of a problem after the first.
    pub is_later: bool,
    /// How much of what its round can tell was there.
    pub coverage: Coverage,
}

/// The same weights, calibrated by what became of first names that were reckoned without a calibration.
#[must_use]
pub fn calibrate(weights: &Weights, outcomes: &[Outcome]) -> Weights {
    let of = |coverage, is_later| {
        let is_of = |outcome: &&Outcome| outcome.coverage == coverage && outcome.is_later == is_later;
        let mut chosen: Vec<Outcome> = outcomes.iter().filter(is_of).copied().collect();
        chosen.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        CalibrationCurve(curve(&chosen))
    };
    let curves = |coverage| CalibrationCurves { first: of(coverage, false), later: of(coverage, true) };
    weights.with_calibration(Calibration { whole: curves(Coverage::Whole), partial: curves(Coverage::Partial) })
}

/// Means of equally many, then neighbours pooled while they fall.
#[expect(clippy::cast_precision_loss, reason = "counts of names")]
fn curve(sorted: &[Outcome]) -> Vec<(f64, f64)> {
    let bins = (sorted.len() / FEWEST).min(MOST_BINS);
    if bins < 2 {
        return Vec::new();
    }
    let mut pools: Vec<(f64, f64, f64)> = Vec::new();
    for bin in 0..bins {
        let of = &sorted[bin * sorted.len() / bins..(bin + 1) * sorted.len() / bins];
        let count = of.len() as f64;
        let said = of.iter().map(|outcome| outcome.probability).sum::<f64>();
        let right = of.iter().filter(|outcome| outcome.is_right).count() as f64;
        pools.push((said, right, count));
        while let [.., before, last] = pools.as_slice()
            && before.1 / before.2 >= last.1 / last.2
        {
            let pooled = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
            pools.truncate(pools.len() - 2);
            pools.push(pooled);
        }
    }
    // Nothing is certain, and nothing is impossible: one more of each.
    pools.iter().map(|(said, right, count)| (said / count, (right + 0.5) / (count + 1.0))).collect()
}

/// So many names stand for a point at the least.
const FEWEST: usize = 25;
const MOST_BINS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_claim_too_much_are_brought_down() {
        let outcomes: Vec<Outcome> = (0..400)
            .map(|number| Outcome {
                probability: if number % 2 == 0 { 0.95 } else { 0.4 },
                is_right: if number % 2 == 0 { number % 10 < 6 } else { number % 10 == 1 },
                is_later: false,
                coverage: Coverage::Whole,
            })
            .collect();
        let weights = calibrate(&Weights::default(), &outcomes);
        let calibration = weights.calibration(Coverage::Whole, 0);
        assert!((calibration.right(0.95) - 0.6).abs() < 0.03, "{}", calibration.right(0.95));
        assert!((calibration.right(0.4) - 0.2).abs() < 0.03, "{}", calibration.right(0.4));
        let partial = weights.calibration(Coverage::Partial, 0);
        assert!((partial.right(0.95) - 0.95).abs() < 1e-9, "nothing was learnt of rounds that lack something");
    }
}
