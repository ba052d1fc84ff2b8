//! Chance, from a seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where all chance on a path comes from: the same seed gives the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of a part of what this one is for, independent of that of every other part.
    #[must_use]
    pub fn part(self, number: u64) -> Self {
        // A step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which spreads neighbouring numbers.
        let mut mixed = self.0.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(mixed ^ (mixed >> 31))
    }
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct SeededRng(Xoshiro256PlusPlus);

impl SeededRng {
    /// SeededRng that fall as the seed says.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.0))
    }

    /// Evenly from 0 to below 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds")]
        let numerator = (self.0.next_u64() >> 11) as f64;
        numerator / (1_u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    pub fn hits(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// How many trials of this probability fail before the next succeeds: one draw where one for each trial would do
    /// the same.
    pub fn failures(&mut self, probability: f64) -> u64 {
        if probability >= 1.0 {
            return 0;
        }
        if probability <= 0.0 {
            return u64::MAX;
        }
        // The inverse of the geometric distribution: ln(1 - u) / ln(1 - p).
        let failures = (-self.unit()).ln_1p() / (-probability).ln_1p();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
        let whole = failures as u64;
        whole
    }

    /// Evenly from 0 to below `end`; 0 for none.
    pub fn below(&mut self, end: u64) -> u64 {
        // Lemire's multiplication (ACM TOMACS 29(1), 2019) without its correction: the error is below end / 2^64.
        u64::try_from((u128::from(self.0.next_u64()) * u128::from(end)) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_gaps_have_the_rate_of_single_draws() {
        let mut rng = SeededRng::new(Seed(1));
        let (mut trials, mut hits) = (0, 0_u64);
        while trials < 1_000_000 {
            trials += rng.failures(0.01) + 1;
            hits += 1;
        }
        // Six standard deviations of a binomial: sqrt(10^6 x 0.01 x 0.99) = 99.5.
        assert!((9_400..10_600).contains(&hits), "{hits}");
        assert_eq!(rng.failures(1.0), 0);
        assert_eq!(rng.failures(0.0), u64::MAX);
        assert!(rng.failures(1e-12) > 1_000_000);
    }

    #[test]
    fn parts_of_a_seed_differ_and_are_the_same_again() {
        let draw = |seed: Seed| SeededRng::new(seed).unit();
        assert_eq!(draw(Seed(3).part(1)).to_bits(), draw(Seed(3).part(1)).to_bits());
        assert_ne!(draw(Seed(3).part(1)).to_bits(), draw(Seed(3).part(2)).to_bits());
        assert_ne!(draw(Seed(3).part(1)).to_bits(), draw(Seed(4).part(1)).to_bits());
    }
}
