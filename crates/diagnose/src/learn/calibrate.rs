//! How often what is said with some probability turns out to be right: isotonic regression (Zadrozny and Elkan 2002).

use crate::causes::weights::Weights;

/// A first name with its probability, and whether it was right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// As it was reckoned, 0 to 1.
    pub probability: f64,
    /// Whether it is what was planted.
    pub is_right: bool,
    /// Whether it is of a problem after the first.
    pub is_later: bool,
}

/// The same weights, calibrated by what became of first names that were reckoned without a calibration.
#[must_use]
pub fn calibrate(weights: &Weights, outcomes: &[Outcome]) -> Weights {
    let of = |is_later| {
        let mut chosen: Vec<Outcome> =
            outcomes.iter().copied().filter(|outcome| outcome.is_later == is_later).collect();
        chosen.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        curve(&chosen)
    };
    weights.with_calibration([of(false), of(true)])
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
            })
            .collect();
        let weights = calibrate(&Weights::default(), &outcomes);
        assert!((weights.calibrated(0.95, 0) - 0.6).abs() < 0.03, "{}", weights.calibrated(0.95, 0));
        assert!((weights.calibrated(0.4, 0) - 0.2).abs() < 0.03, "{}", weights.calibrated(0.4, 0));
    }
}
