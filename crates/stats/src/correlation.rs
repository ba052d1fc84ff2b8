//! Whether two series of counts rise and fall together, interval by interval.
//!
//! Counts of a host come in bursts: one interval resembles the next, so a hundred intervals say less than a hundred
//! independent values would. The confidence here is that of the number of independent values.

use crate::normal::two_sided_tail;

/// How two series go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Rank correlation, -1 to 1 (Spearman 1904): whether they rise and fall together, whatever the sizes.
    pub spearman: f64,
    /// Correlation of the values themselves, -1 to 1 (Pearson 1895): whether they do so in proportion.
    pub pearson: f64,
    /// Intervals in which both are known.
    pub intervals: usize,
    /// How many independent values that is, by the likeness of one interval and the next (Bartlett 1935).
    pub independent: f64,
    /// Probability of a rank correlation at least this far from zero if they had nothing to do with each other.
    pub p_two_sided: f64,
}

/// Correlates two series of one length. Pairs of which one is no number are left out.
///
/// `None` where nothing can be said: one of them never changes, or too few intervals are left.
#[must_use]
pub fn correlate(a: &[f64], b: &[f64]) -> Option<Correlation> {
    let pairs = a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let (ranks_a, ranks_b) = (ranks(&a), ranks(&b));
    let spearman = pearson(&ranks_a, &ranks_b)?;
    let pearson = pearson(&a, &b)?;
    let independent = independent(&ranks_a, &ranks_b);
    if independent < LEAST_INDEPENDENT {
        return None;
    }
    // Fisher's transformation; the factor for ranks is that of Fieller, Hartley and Pearson 1957.
    let z = spearman.clamp(-CERTAIN, CERTAIN).atanh() * ((independent - 3.0) / 1.06).sqrt();
    // No order of so few values can be rarer than one of all orders and its reverse.
    let p_two_sided = two_sided_tail(z).max(2.0 / factorial(independent));
    Some(Correlation { spearman, pearson, intervals: a.len(), independent, p_two_sided })
}

/// `p` of the best of `tried` candidates (Bonferroni 1936).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nobody tries 2^53 candidates")]
pub fn among(p: f64, tried: usize) -> f64 {
    (p * tried.max(1) as f64).min(1.0)
}

/// Ranks from 1; equal values share the middle of theirs.
#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for same in order.chunk_by(|&one, &other| values[one].total_cmp(&values[other]).is_eq()) {
        let middle = start as f64 + (same.len() as f64 + 1.0) / 2.0;
        for &place in same {
            ranks[place] = middle;
        }
        start += same.len();
    }
    ranks
}

fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (mean(a)?, mean(b)?);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let scale = (aa * bb).sqrt();
    (scale > 0.0).then(|| (ab / scale).clamp(-1.0, 1.0))
}

#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// n (1 - r) / (1 + r) with r the product of both series' likeness to themselves one interval later; at most n.
#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 values")]
fn independent(a: &[f64], b: &[f64]) -> f64 {
    let likeness = |series: &[f64]| match series.len() {
        0 | 1 => 0.0,
        length => pearson(&series[..length - 1], &series[1..]).unwrap_or(0.0),
    };
    let both = (likeness(a) * likeness(b)).clamp(0.0, CERTAIN);
    a.len() as f64 * (1.0 - both) / (1.0 + both)
}

/// Of the whole part of a number, infinite where it is beyond what is counted.
fn factorial(number: f64) -> f64 {
    (1..=170).map(f64::from).take_while(|&factor| factor <= number).product()
}

/// Below this the transformation says nothing.
const LEAST_INDEPENDENT: f64 = 4.0;

/// Values this close to one count as this, so that no probability becomes zero.
const CERTAIN: f64 = 1.0 - 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coefficients_agree_with_a_worked_example() {
        // Kendall 1948, Rank Correlation Methods, table 1.1: ranks of ten boys in mathematics and music.
        let mathematics = [7.0, 4.0, 3.0, 10.0, 6.0, 2.0, 9.0, 8.0, 1.0, 5.0];
        let music = [5.0, 7.0, 3.0, 10.0, 1.0, 9.0, 6.0, 2.0, 8.0, 4.0];
        let found = correlate(&mathematics, &music).unwrap();
        // 1 - 6 * sum of squares / (n^3 - n), by hand: the squares sum to 4+9+0+0+25+49+9+36+49+1 = 182.
        assert!((found.spearman - (1.0 - 6.0 * 182.0 / 990.0)).abs() < 1e-12, "{found:?}");
        assert!((found.pearson - found.spearman).abs() < 1e-12, "ranks are their own ranks");
        assert!(found.p_two_sided > 0.5);
    }

    #[test]
    fn ties_share_the_middle_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn bursts_count_for_less_than_independent_intervals() {
        let slow: Vec<f64> = (0..40).map(|at| f64::from((at / 10) % 2)).collect();
        let fast: Vec<f64> = (0..40).map(|at| f64::from(at * 7919 % 41)).collect();
        let of_bursts = correlate(&slow, &slow).unwrap();
        let of_noise = correlate(&fast, &fast).unwrap();
        assert!(of_bursts.independent < 10.0 && of_noise.independent > 30.0, "{of_bursts:?} {of_noise:?}");
        // Six values that agree in their order: 2 of 720.
        assert!((of_bursts.p_two_sided - 2.0 / 720.0).abs() < 1e-12, "{of_bursts:?}");
    }

    #[test]
    fn nothing_is_said_of_what_never_changes_or_of_few_intervals() {
        assert_eq!(correlate(&[3.0; 20], &(0..20).map(f64::from).collect::<Vec<_>>()), None);
        assert_eq!(correlate(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(correlate(&[], &[]), None);
        assert_eq!(correlate(&[f64::NAN; 9], &[1.0; 9]), None);
    }

    #[test]
    fn best_of_many_is_less_sure_than_the_only_one() {
        assert_eq!((among(0.01, 7), among(0.3, 7), among(0.01, 0)), (0.07, 1.0, 0.01));
    }

    proptest! {
        #[test]
        fn order_is_all_that_ranks_see_and_swapping_changes_nothing(
            pairs in prop::collection::vec((0_u16..500, 0_u16..500), 12..60),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            let squares: Vec<f64> = a.iter().map(|value| value * value).collect();
            let found = correlate(&a, &b);
            prop_assert_eq!(found.map(|each| each.spearman), correlate(&squares, &b).map(|each| each.spearman));
            let (there, back) = (found.map(|each| each.p_two_sided), correlate(&b, &a).map(|each| each.p_two_sided));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!((there - back).abs() < 1e-9 && (0.0..=1.0).contains(&there));
            }
        }
    }
}
