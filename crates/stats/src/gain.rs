//! Whether a change made something larger by more than noise.

use crate::rank::{self, Comparison};
use crate::summary::Ordered;

/// What measurements before and after a change say of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// In one word.
    pub verdict: Verdict,
    /// The rank test behind it.
    pub comparison: Comparison,
    /// The median before.
    pub before: f64,
    /// The median after.
    pub after: f64,
}

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is larger, and by more than noise.
    Gain,
    /// It is smaller, and by more than noise.
    Loss,
    /// What there is of a difference may be noise.
    Noise,
}

/// Judges measurements at a confidence such as 0.95: chance alone would show such a difference in at most 1 - 0.95 of all
/// cases. [`None`] where a set has no values.
#[must_use]
pub fn judge(before: &[f64], after: &[f64], confidence: f64) -> Option<Judgement> {
    let comparison = rank::compare(before, after)?;
    let medians = Ordered::new(before.to_vec()).median().zip(Ordered::new(after.to_vec()).median());
    let (before, after) = medians?;
    let more_than_noise = comparison.p_two_sided <= 1.0 - confidence;
    let verdict = match comparison.shift {
        shift if more_than_noise && shift > 0.0 => Verdict::Gain,
        shift if more_than_noise && shift < 0.0 => Verdict::Loss,
        _ => Verdict::Noise,
    };
    Some(Judgement { verdict, comparison, before, after })
}

/// How many measurements on each side it takes for the clearest of all results, every value after above every value before,
/// to have that confidence. [`None`] where no number that anybody waits for is enough.
#[must_use]
pub fn fewest(confidence: f64) -> Option<u32> {
    (1..=MOST).find(|&count| smallest_p(count) <= 1.0 - confidence)
}

/// The smallest two-sided probability that the rank test can give with so many values on each side: two of all the
/// C(2n, n) orders are the clearest.
#[must_use]
pub fn smallest_p(each: u32) -> f64 {
    let orders: f64 = (1..=each).map(|i| f64::from(each + i) / f64::from(i)).product();
    (2.0 / orders).min(1.0)
}

/// With twenty values on each side the smallest probability is below 10^-10.
const MOST: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: [f64; 5] = [100.0, 103.0, 98.0, 101.0, 99.0];

    #[test]
    fn what_is_clearly_larger_is_a_gain_and_what_is_clearly_smaller_a_loss() {
        let larger = BEFORE.map(|value| value * 3.0);
        let judged = judge(&BEFORE, &larger, 0.95).unwrap();
        assert_eq!((judged.verdict, judged.before, judged.after), (Verdict::Gain, 100.0, 300.0));
        assert_eq!(judge(&larger, &BEFORE, 0.95).unwrap().verdict, Verdict::Loss);
        assert!((judged.comparison.p_two_sided - smallest_p(5)).abs() < 1e-12);
    }

    #[test]
    fn what_may_be_noise_is_no_gain_even_where_the_median_is_larger() {
        let after = [104.0, 99.5, 101.5, 100.5, 102.0];
        let judged = judge(&BEFORE, &after, 0.95).unwrap();
        assert!(judged.after > judged.before);
        assert_eq!(judged.verdict, Verdict::Noise);
        assert_eq!(judge(&BEFORE, &BEFORE, 0.95).unwrap().verdict, Verdict::Noise);
        assert!(judge(&BEFORE, &[], 0.95).is_none());
    }

    #[test]
    fn more_confidence_takes_more_measurements() {
        // 2 / C(8, 4) = 2/70; 2 / C(10, 5) = 2/252.
        assert!((smallest_p(4) - 2.0 / 70.0).abs() < 1e-15 && (smallest_p(5) - 2.0 / 252.0).abs() < 1e-15);
        assert_eq!((fewest(0.9), fewest(0.95), fewest(0.99), fewest(0.999)), (Some(4), Some(4), Some(5), Some(7)));
        assert_eq!(fewest(1.0), None);
        let three = judge(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0], 0.95).unwrap();
        assert_eq!(three.verdict, Verdict::Noise, "three pairs cannot show it");
    }
}
