//! Order statistics of a set of values.

/// A set of values in ascending order.
///
/// A NaN is no value: it is left out and counted in [`Ordered::not_numbers`]. Infinities are values and stay.
/// What cannot be told of an empty set is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ordered {
    values: Vec<f64>,
    not_numbers: usize,
}

impl Ordered {
    /// Sorts `values`.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Self {
        let given = values.len();
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        Self { not_numbers: given - values.len(), values }
    }

    /// The values, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many NaN were left out.
    #[must_use]
    pub const fn not_numbers(&self) -> usize {
        self.not_numbers
    }

    /// Least value; `None` of an empty set.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.values.first().copied()
    }

    /// Greatest value; `None` of an empty set.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// The value that half are at most.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The value that the share `p` of the set is at most: linear between the two nearest order statistics, at
    /// position (n − 1)p from zero (type 7 of Hyndman and Fan 1996, The American Statistician 50:361, and the default
    /// of R and numpy). `p` outside 0 to 1 is taken as the nearer of the two; a NaN `p` gives `None`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no set has 2^53 values")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n - 1 by construction")]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let last = self.values.len().checked_sub(1)?;
        if p.is_nan() {
            return None;
        }
        let position = p.clamp(0.0, 1.0) * last as f64;
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        let (low, high) = (*self.values.get(below)?, *self.values.get(above)?);
        let part = position - below as f64;
        // Where the neighbours are equal, infinities included, there is nothing between them.
        if part == 0.0 || low == high { Some(low) } else { Some(low + (high - low) * part) }
    }

    /// The median distance from the median, not scaled. Times [`MAD_TO_SIGMA`] it estimates the standard deviation.
    #[must_use]
    pub fn mad(&self) -> Option<f64> {
        let median = self.median()?;
        let distances = self.values.iter().map(|value| if *value == median { 0.0 } else { (value - median).abs() });
        Self::new(distances.collect()).median()
    }
}

impl FromIterator<f64> for Ordered {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self::new(values.into_iter().collect())
    }
}

/// The standard deviation of a normal distribution over its MAD: 1/Φ⁻¹(3/4) (Rousseeuw and Croux 1993, JASA 88:1273).
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

#[cfg(test)]
mod tests {
    use super::*;

    fn set(values: &[f64]) -> Ordered {
        values.iter().copied().collect()
    }

    #[test]
    fn quantiles_agree_with_the_default_of_r() {
        // R 4: quantile(c(1, 3, 4, 8, 20), c(0, .1, .25, .5, .9, 1)) is 1.0 1.8 3.0 4.0 15.2 20.0
        let set = set(&[20.0, 1.0, 8.0, 3.0, 4.0]);
        for (p, expected) in [(0.0, 1.0), (0.1, 1.8), (0.25, 3.0), (0.5, 4.0), (0.9, 15.2), (1.0, 20.0)] {
            let quantile = set.quantile(p).unwrap();
            assert!((quantile - expected).abs() < 1e-12, "p {p}: {quantile}");
        }
    }

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(set(&[4.0, 1.0, 3.0, 2.0]).median(), Some(2.5));
    }

    #[test]
    fn one_wild_value_does_not_move_the_mad() {
        assert_eq!(set(&[1.0, 2.0, 3.0, 4.0, 5.0]).mad(), Some(1.0));
        assert_eq!(set(&[1.0, 2.0, 3.0, 4.0, 5e9]).mad(), Some(1.0));
    }

    #[test]
    fn a_nan_is_left_out_and_counted() {
        let set = set(&[f64::NAN, 2.0, 1.0]);
        assert_eq!((set.values(), set.not_numbers()), ([1.0, 2.0].as_slice(), 1));
        assert_eq!(set.quantile(f64::NAN), None);
    }

    #[test]
    fn an_empty_set_tells_nothing() {
        let empty = Ordered::default();
        assert_eq!((empty.min(), empty.max(), empty.median(), empty.mad()), (None, None, None, None));
    }

    #[test]
    fn infinities_are_values() {
        let set = set(&[1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
        assert_eq!(set.median(), Some(f64::INFINITY));
        assert_eq!(set.mad(), Some(0.0));
    }
}
