//! Whether two sets of values differ: the Mann-Whitney test and the shift between them.
//!
//! It asks only for the order of the values, so one wild measurement costs it little.

use crate::normal::two_sided_tail;
use crate::summary::Ordered;

/// The outcome of comparing set `b` with set `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Pairs in which the value of `b` is the greater, ties by half (U of Mann and Whitney 1947).
    pub u: f64,
    /// Probability of a U at least this far from its mean if both sets came from one distribution.
    pub p_two_sided: f64,
    /// How `p_two_sided` was found.
    pub method: Method,
    /// What has to be added to `a` to get `b`: the median of all differences between a value of `b` and one of `a`
    /// (Hodges and Lehmann 1963).
    pub shift: f64,
}

/// The test alone, without by how much the sets differ, which takes several times as long to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// As in [`Comparison`].
    pub u: f64,
    /// As in [`Comparison`].
    pub p_two_sided: f64,
    /// How `p_two_sided` was found.
    pub method: Method,
}

/// How a probability was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Every order of the values was counted.
    Exact,
    /// By the normal approximation, corrected for ties and for continuity.
    Normal,
}

/// Compares `b` with `a`. NaN and infinities are no measurements and are left out; `None` where a set has no values
/// left.
#[must_use]
pub fn compare(a: &[f64], b: &[f64]) -> Option<Comparison> {
    let (a, b) = (finite(a), finite(b));
    let shift = median_difference(a.values(), b.values())?;
    let RankTest { u, p_two_sided, method } = of_ordered(a.values(), b.values());
    Some(Comparison { u, p_two_sided, method, shift })
}

/// The test of [`compare`] alone.
#[must_use]
pub fn test(a: &[f64], b: &[f64]) -> Option<RankTest> {
    let (a, b) = (finite(a), finite(b));
    (!a.values().is_empty() && !b.values().is_empty()).then(|| of_ordered(a.values(), b.values()))
}

fn finite(values: &[f64]) -> Ordered {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

/// Neither set is empty; both ascend.
fn of_ordered(a: &[f64], b: &[f64]) -> RankTest {
    let (u, ties) = u_and_ties(a, b);
    let sizes = Sizes { a: a.len(), b: b.len() };
    let (p_two_sided, method) = if ties == 0.0 && sizes.a + sizes.b <= EXACT_UP_TO {
        (exact_p(u, sizes), Method::Exact)
    } else {
        (normal_p(u, ties, sizes), Method::Normal)
    };
    RankTest { u, p_two_sided, method }
}

#[derive(Clone, Copy)]
struct Sizes {
    a: usize,
    b: usize,
}

/// U of `b`, and the sum of t³ − t over groups of t equal values. Both sets ascend.
#[expect(clippy::cast_precision_loss, reason = "no set has 2^53 values")]
fn u_and_ties(a: &[f64], b: &[f64]) -> (f64, f64) {
    let mut u = 0.0;
    let mut ties = 0.0;
    let (mut i, mut j) = (0, 0);
    while let Some(value) = least(a.get(i), b.get(j)) {
        let in_a = a[i..].iter().take_while(|other| **other == value).count();
        let in_b = b[j..].iter().take_while(|other| **other == value).count();
        u += in_b as f64 * (i as f64 + in_a as f64 / 2.0);
        let group = (in_a + in_b) as f64;
        ties += group * group * group - group;
        i += in_a;
        j += in_b;
    }
    (u, ties)
}

fn least(a: Option<&f64>, b: Option<&f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(*b)),
        (one, other) => one.or(other).copied(),
    }
}

/// Twice the smaller tail of the distribution of U over all orders. Without ties U is whole.
///
/// The number of orders with each U is a coefficient of the Gaussian binomial ∏ (1 − x^(b+i)) / (1 − x^i), i to a
/// (Mann and Whitney 1947, section 3, in closed form).
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53 for up to EXACT_UP_TO values")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "U is whole, 0 to a * b")]
fn exact_p(u: f64, sizes: Sizes) -> f64 {
    let pairs = sizes.a * sizes.b;
    let mut orders = vec![0_i64; pairs + 1];
    orders[0] = 1;
    for i in 1..=sizes.a {
        let factor = sizes.b + i;
        for power in (factor..=pairs).rev() {
            orders[power] -= orders[power - factor];
        }
        for power in i..=pairs {
            orders[power] += orders[power - i];
        }
    }
    let u = u as usize;
    let tail: i64 = orders[..=u.min(pairs - u)].iter().sum();
    let all: i64 = orders.iter().sum();
    (2.0 * tail as f64 / all as f64).min(1.0)
}

/// Variance with ties after Lehmann 1975, Nonparametrics, section 1.4; half a step towards the mean for continuity.
#[expect(clippy::cast_precision_loss, reason = "no set has 2^53 values")]
fn normal_p(u: f64, ties: f64, sizes: Sizes) -> f64 {
    let pairs = sizes.a as f64 * sizes.b as f64;
    let all = (sizes.a + sizes.b) as f64;
    let variance = pairs / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = ((u - pairs / 2.0).abs() - 0.5).max(0.0);
    // All values equal: the sets cannot be told apart.
    if variance <= 0.0 { 1.0 } else { two_sided_tail(distance / variance.sqrt()) }
}

/// The median of all `b - a`. Both sets ascend.
fn median_difference(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = a.len() * b.len();
    let lower = nth_difference(a, b, pairs.checked_sub(1)? / 2 + 1)?;
    let upper = if pairs % 2 == 1 { lower } else { nth_difference(a, b, pairs / 2 + 1)? };
    // Adding zero turns the negative zero, which sorts first among zeros, into the usual one.
    Some(f64::midpoint(lower, upper) + 0.0)
}

/// The difference that `rank` pairs are at most, found by halving the range of all doubles: 64 passes over the sets
/// instead of a list of all pairs.
fn nth_difference(a: &[f64], b: &[f64], rank: usize) -> Option<f64> {
    let (mut low, mut high) = (key(b.first()? - a.last()?), key(b.last()? - a.first()?));
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_at_most(a, b, from_key(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(from_key(low))
}

/// How many `b - a` are at most `limit`. The subtraction is monotone in both, so one pass suffices.
fn pairs_at_most(a: &[f64], b: &[f64], limit: f64) -> usize {
    let mut low_enough = 0;
    let mut pairs = 0;
    for from in a {
        low_enough += b[low_enough..].iter().take_while(|value| **value - from <= limit).count();
        pairs += low_enough;
    }
    pairs
}

/// Maps doubles to integers in the same order, as `f64::total_cmp` does.
const fn key(value: f64) -> i128 {
    let bits = value.to_bits().cast_signed();
    (bits ^ (((bits >> 63).cast_unsigned()) >> 1).cast_signed()) as i128
}

/// The inverse of [`key`].
#[expect(clippy::cast_possible_truncation, reason = "between two keys, which have 64 bits")]
const fn from_key(key: i128) -> f64 {
    let bits = key as i64;
    f64::from_bits((bits ^ (((bits >> 63).cast_unsigned()) >> 1).cast_signed()).cast_unsigned())
}

/// Values in both sets together up to which every order is counted: C(50, 25) is below 2^53.
const EXACT_UP_TO: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_exact_probability_agrees_with_the_published_table() {
        // Mann and Whitney 1947, table I: n = 4, m = 4, P(U <= 2) = 0.057; n = 5, m = 5, P(U <= 4) = 0.048.
        let four = exact_p(2.0, Sizes { a: 4, b: 4 });
        assert!((four / 2.0 - 4.0 / 70.0).abs() < 1e-12, "{four}");
        let five = exact_p(4.0, Sizes { a: 5, b: 5 });
        assert!((five / 2.0 - 12.0 / 252.0).abs() < 1e-12, "{five}");
    }

    #[test]
    fn a_shift_is_found_with_its_sign() {
        let before = [9.41, 9.38, 9.40, 9.42, 9.39];
        let after: Vec<f64> = before.iter().map(|rate| rate - 2.0).collect();
        let comparison = compare(&before, &after).unwrap();
        assert_eq!((comparison.u, comparison.method), (0.0, Method::Exact));
        assert!((comparison.shift + 2.0).abs() < 1e-9);
        assert!((comparison.p_two_sided - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn ties_use_the_corrected_normal_approximation() {
        let comparison = compare(&[1.0, 2.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 3.0, 4.0, 5.0, 5.0]).unwrap();
        assert_eq!((comparison.u, comparison.method), (23.5, Method::Normal));
        // By hand: 2 + 3.5 + 3.5 + 4.5 + 5 + 5; variance 30/12 * (12 - (24 + 24 + 6 + 6)/110), z = 8/sqrt(variance).
        let variance: f64 = 2.5 * (12.0 - 60.0 / 110.0);
        assert!((comparison.p_two_sided - two_sided_tail(8.0 / variance.sqrt())).abs() < 1e-15);
    }

    #[test]
    fn equal_values_cannot_be_told_apart() {
        let comparison = compare(&[5.0; 4], &[5.0; 6]).unwrap();
        assert_eq!((comparison.p_two_sided, comparison.shift), (1.0, 0.0));
    }

    #[test]
    fn a_set_without_numbers_cannot_be_compared() {
        assert_eq!(compare(&[f64::NAN, f64::INFINITY], &[1.0]), None);
        assert_eq!(compare(&[1.0], &[]), None);
        assert_eq!(test(&[f64::NAN, f64::INFINITY], &[1.0]), None);
        assert_eq!(test(&[1.0], &[]), None);
    }

    proptest! {
        #[test]
        fn u_and_shift_are_what_the_definitions_say(
            a in prop::collection::vec(-20_i32..20, 1..12),
            b in prop::collection::vec(-20_i32..20, 1..12),
        ) {
            let a: Vec<f64> = a.into_iter().map(f64::from).collect();
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let pairs = || b.iter().flat_map(|b| a.iter().map(move |a| b - a));
            let u: f64 = pairs().map(|d| if d > 0.0 { 1.0 } else if d == 0.0 { 0.5 } else { 0.0 }).sum();
            let found = compare(&a, &b).unwrap();
            prop_assert_eq!(found.u, u);
            let alone = test(&a, &b).unwrap();
            prop_assert_eq!((alone.u, alone.p_two_sided, alone.method), (found.u, found.p_two_sided, found.method));
            prop_assert_eq!(Some(found.shift), pairs().collect::<Ordered>().median());
        }

        #[test]
        fn swapping_the_sets_keeps_the_probability_and_turns_the_shift(
            a in prop::collection::vec(-1e6_f64..1e6, 1..40),
            b in prop::collection::vec(-1e6_f64..1e6, 1..40),
        ) {
            let there = compare(&a, &b).unwrap();
            let back = compare(&b, &a).unwrap();
            prop_assert!((there.p_two_sided - back.p_two_sided).abs() < 1e-12);
            prop_assert_eq!(there.shift, -back.shift);
        }

        #[test]
        fn exact_and_normal_agree_where_both_hold(u in 100_u32..500) {
            let sizes = Sizes { a: 25, b: 25 };
            let (exact, normal) = (exact_p(f64::from(u), sizes), normal_p(f64::from(u), 0.0, sizes));
            // The approximation is good to a few parts in a hundred of p, and worse far out; see Lehmann 1975.
            prop_assert!((exact - normal).abs() < 0.005, "{} {}", exact, normal);
        }
    }
}
