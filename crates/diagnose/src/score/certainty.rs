//! How sure a score is: intervals of its shares, and how far probabilities are from what they turned out to be.

use serde::{Deserialize, Serialize};
use stats::proportion::Proportion;

use super::judge::{Claim, Verdict};
use super::summary::CountOf;

/// From where to where a number lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Computed over all plays.
    pub value: f64,
    /// From where to where it lies with 95 % confidence.
    pub interval: Interval,
}

/// The interval of a share (Wilson 1927); [`None`] of nothing.
#[must_use]
pub fn interval(part: CountOf) -> Option<Interval> {
    part.share()?;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (from, to) = Proportion { some: count(part.count), of: count(part.of) }.interval();
    Some(Interval { from, to })
}

/// The expected calibration error: by how much the probability of a first name misses how often such names are right, as the
/// mean over ten bands of equal width (Naeini, Cooper, Hauskrecht, AAAI 2015).
#[must_use]
pub fn calibration_error(plays: &[Verdict]) -> Option<Estimate> {
    estimate(plays, error_of)
}

/// The mean of the squares by which the probability of a first name misses what it turned out to be (Brier 1950).
#[must_use]
pub fn brier(plays: &[Verdict]) -> Option<Estimate> {
    estimate(plays, brier_of)
}

fn firsts(plays: &[&Verdict]) -> Vec<Claim> {
    plays.iter().flat_map(|play| play.claims.iter().copied()).filter(|claim| claim.is_first).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of claims")]
fn brier_of(plays: &[&Verdict]) -> Option<f64> {
    let claims = firsts(plays);
    let misses = claims.iter().map(|claim| (claim.probability - f64::from(u8::from(claim.is_right))).powi(2));
    (!claims.is_empty()).then(|| misses.sum::<f64>() / claims.len() as f64)
}

#[expect(clippy::cast_precision_loss, reason = "counts of claims")]
fn error_of(plays: &[&Verdict]) -> Option<f64> {
    let claims = firsts(plays);
    if claims.is_empty() {
        return None;
    }
    let mut error = 0.0;
    for band in 0..BANDS {
        let (from, to) = (band as f64 / BANDS as f64, (band + 1) as f64 / BANDS as f64);
        let inside = |claim: &&Claim| {
            claim.probability >= from && (claim.probability < to || (band + 1 == BANDS && claim.probability <= to))
        };
        let (said, right) = claims.iter().filter(inside).fold((0.0, 0.0), |(said, right), claim| {
            (said + claim.probability, right + f64::from(u8::from(claim.is_right)))
        });
        error += f64::abs(said - right) / claims.len() as f64;
    }
    Some(error)
}

/// A number with its interval by a jackknife over groups of plays (Tukey 1958).
#[expect(clippy::cast_precision_loss, reason = "few groups")]
fn estimate(plays: &[Verdict], of: impl Fn(&[&Verdict]) -> Option<f64>) -> Option<Estimate> {
    let all: Vec<&Verdict> = plays.iter().collect();
    let value = of(&all)?;
    let without = |group: usize| {
        let others = all.iter().enumerate().filter(|(number, _)| number % GROUPS != group);
        of(&others.map(|(_, play)| *play).collect::<Vec<_>>())
    };
    let others: Vec<f64> = (0..GROUPS.min(plays.len())).filter_map(without).collect();
    let groups = others.len() as f64;
    let mean = others.iter().sum::<f64>() / groups.max(1.0);
    let variance =
        others.iter().map(|other| (other - mean).powi(2)).sum::<f64>() * (groups - 1.0).max(0.0) / groups.max(1.0);
    let half = Z * variance.sqrt();
    Some(Estimate { value, interval: Interval { from: (value - half).max(0.0), to: (value + half).min(1.0) } })
}

/// 95 % of a normal distribution lie within so many standard deviations.
const Z: f64 = 1.96;
const BANDS: usize = 10;
const GROUPS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_share_and_shrinks_with_more_plays() {
        let of = |count, of| interval(CountOf { count, of }).unwrap();
        let (few, many) = (of(9, 10), of(900, 1_000));
        assert!(few.from < 0.9 && 0.9 < few.to && few.to - few.from > many.to - many.from, "{few:?} {many:?}");
        assert!((few.from - 0.596).abs() < 0.002, "Wilson's own interval: {few:?}");
        assert!(interval(CountOf { count: 0, of: 0 }).is_none());
    }
}
