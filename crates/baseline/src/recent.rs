//! Where a mesh is small: several results in time of each series.
//!
//! A host of a mesh of 4 sends 3 results a round, too few to stand out. The last 2, 4, 8 or 12 results of each of its series are compared with those
//! before them (Mann and Whitney 1947), and the series are combined (Stouffer 1949, in [`crate::pool`]).

use stats::{normal, rank};

use crate::ranked::Rank;
use crate::series::median;

/// How many results of each series are looked at together.
pub const DEPTHS: [usize; 4] = [2, 4, 8, 12];

/// The last results of a series, at each of [`DEPTHS`]; [`None`] where there are not so many, or too few before them.
pub type Recent = [Option<Rank>; DEPTHS.len()];

/// Where the last results of a series lie in its history; [`None`] where either is too short.
#[must_use]
pub fn rank(history: &[f64], last: &[f64]) -> Option<Rank> {
    if history.len() < LEAST_HISTORY || last.is_empty() {
        return None;
    }
    let compared = rank::test(history, last)?;
    // Ties make the normal approximation claim more than any order of so few results can show.
    let p = compared.p_two_sided.max(2.0 / orders(history, last)).min(1.0);
    let middle = (history.len() * last.len()) as f64 / 2.0;
    let z = normal::quantile(p / 2.0) * if compared.u < middle { 1.0 } else { -1.0 };
    Some(Rank { z: z / likeness(history, last.len()).sqrt(), shift: median(last) - median(history) })
}

/// In how many orders results of two sets can lie.
fn orders(history: &[f64], last: &[f64]) -> f64 {
    (1..=last.len()).map(|one| (history.len() + one) as f64 / one as f64).product()
}

/// By how much the variance of a mean of results that follow each other exceeds that of independent ones, were they autoregressive of
/// order 1 (Bartlett 1946). Of the correlation, what chance alone gives in so short a history is taken off.
fn likeness(history: &[f64], results: usize) -> f64 {
    let chance = 1.0 / (history.len() as f64).sqrt();
    let (before, after) = (&history[..history.len() - 1], &history[1..]);
    let correlation = stats::correlation::correlate(before, after).map_or(0.0, |found| found.spearman - chance);
    let correlation = correlation.clamp(0.0, MOST_ALIKE);
    let lags = (1..results).map(|lag| {
        let power = i32::try_from(lag).unwrap_or(i32::MAX);
        2.0 * (1.0 - lag as f64 / results as f64) * correlation.powi(power)
    });
    1.0 + lags.sum::<f64>()
}

/// Comparisons with shorter histories say little.
const LEAST_HISTORY: usize = 10;
/// Series that are more alike than this drift, and have no level.
const MOST_ALIKE: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_results_claim_no_more_than_their_orders_allow() {
        let zeros = [0.0; 20];
        let found = super::rank(&zeros, &[0.5, 0.5]).unwrap();
        let most = -normal::quantile(1.0 / 231.0);
        assert!((found.z - most).abs() < 1e-9, "{found:?} against {most}");
        assert_eq!(super::rank(&zeros[..9], &[0.5, 0.5]), None);
    }

    #[test]
    fn results_that_resemble_each_other_count_for_less() {
        let alternating: Vec<f64> = (0..40).map(|place| f64::from((place * 7) % 13)).collect();
        let sticky: Vec<f64> = (0..40).map(|place| f64::from(place / 8 % 2) + f64::from(place) * 1e-3).collect();
        let z = |history: &[f64]| super::rank(history, &[-1.0; 4]).unwrap().z;
        assert!(z(&sticky) > z(&alternating) * 0.75, "{} against {}", z(&sticky), z(&alternating));
    }
}
