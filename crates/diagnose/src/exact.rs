//! Sums that are exact: a whole split in proportion, with nothing lost to rounding.

/// Splits `total` in proportion to `weights`. The parts add up to `total` exactly, unless all weights are zero, when
/// every part is zero.
///
/// Each part is the difference of two rounded running sums, so that it is within one of its true value.
pub(crate) fn apportion(total: u64, weights: &[u64]) -> Vec<u64> {
    let whole: u128 = weights.iter().copied().map(u128::from).sum();
    if whole == 0 {
        return vec![0; weights.len()];
    }
    let (mut sum, mut given) = (0_u128, 0_u64);
    let part = |weight: &u64| {
        sum += u128::from(*weight);
        let until = product_over(total, sum, whole);
        let part = until.saturating_sub(given);
        given = until;
        part
    };
    weights.iter().map(part).collect()
}

/// `total` × `part` / `whole`, rounded down, where `part` is at most `whole`.
fn product_over(total: u64, part: u128, whole: u128) -> u64 {
    // Sums of many 64-bit weights may need more than 64 bits; both are cut alike, so that the last part still ends at
    // `total`.
    let shift = 64_u32.saturating_sub(whole.leading_zeros());
    let (part, whole) = (part >> shift, (whole >> shift).max(1));
    u64::try_from(u128::from(total) * part / whole).unwrap_or(u64::MAX).min(total)
}

/// `value` × `numerator` / `denominator`, rounded down; zero where the denominator is, and never more than 64 bits.
pub(crate) fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    (u128::from(value) * u128::from(numerator))
        .checked_div(u128::from(denominator))
        .map_or(0, |scaled| u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// `part` of `whole` from 0 to 1, for display: to a millionth, so that its text form reads back as the same number.
#[expect(clippy::cast_precision_loss, reason = "shown, never counted with")]
pub(crate) fn fraction(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e6).round() / 1e6 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thirds_of_a_hundred_add_up() {
        assert_eq!(apportion(100, &[1, 1, 1]).iter().sum::<u64>(), 100);
        assert_eq!(apportion(100, &[0, 3, 1]), [0, 75, 25]);
        assert_eq!(apportion(100, &[0, 0]), [0, 0]);
        assert_eq!(
            apportion(u64::MAX, &[u64::MAX, u64::MAX]).iter().map(|p| u128::from(*p)).sum::<u128>(),
            u64::MAX.into()
        );
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(total: u64, weights in prop::collection::vec(any::<u64>(), 1..20)) {
            let sum: u128 = apportion(total, &weights).into_iter().map(u128::from).sum();
            let expected = if weights.iter().all(|weight| *weight == 0) { 0 } else { total };
            prop_assert_eq!(sum, u128::from(expected));
        }
    }
}
