//! Tails and quantiles of the normal distribution.

/// The probability that a standard normal variable is farther from zero than `z`, to a relative error below 10⁻¹²
/// where the answer is above 10⁻³⁰⁰. A NaN gives NaN.
#[must_use]
pub fn two_sided_tail(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The value that a standard normal variable is below with probability `p`: by Newton's method, to 10⁻⁹ for `p` from 10⁻¹² to
/// 1 - 10⁻¹²; beyond, that of the nearer of the two. A NaN gives NaN.
#[must_use]
pub fn quantile(p: f64) -> f64 {
    if p.is_nan() {
        return f64::NAN;
    }
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    let tail = p.min(1.0 - p);
    // From the outside: the tail is convex there, so that Newton's steps never overshoot zero.
    let mut z = (-2.0 * tail.ln()).sqrt();
    for _ in 0..NEWTON_STEPS {
        let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let excess = if z > 0.0 { two_sided_tail(z) / 2.0 } else { 1.0 - two_sided_tail(z) / 2.0 } - tail;
        z += excess / density.max(f64::MIN_POSITIVE);
    }
    if p < 0.5 { -z } else { z }
}

/// Steps until the quantile no longer moves, from the farthest start.
const NEWTON_STEPS: u32 = 40;

/// The complementary error function of `x` at or above zero, by the series of erf for small `x` and the continued
/// fraction for large (Abramowitz and Stegun 1964, 7.1.6 and 7.1.14).
fn erfc(x: f64) -> f64 {
    if x < SERIES_UNTIL { 1.0 - erf_by_series(x) } else { erfc_by_fraction(x) }
}

/// erf(x) = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1)): all terms positive, so none cancel.
fn erf_by_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut odd = 1.0;
    while term > sum * f64::EPSILON {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// √π e^(x²) erfc(x) = 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), evaluated from the inside.
fn erfc_by_fraction(x: f64) -> f64 {
    let tail = (1..=FRACTION_LEVELS).rev().fold(x, |inner, level| x + f64::from(level) / 2.0 / inner);
    (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI / 2.0 / tail
}

/// Below this the series loses no digits to the subtraction from one that matter: erfc(1.5) is 0.034.
const SERIES_UNTIL: f64 = 1.5;

/// Levels until the fraction is exact to double precision at [`SERIES_UNTIL`].
const FRACTION_LEVELS: u32 = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_tables() {
        // Python 3.11: math.erfc(z / math.sqrt(2))
        for (z, expected) in [
            (0.0, 1.0),
            (1.0, 0.317_310_507_862_914_15),
            (1.959_963_984_540_054, 0.050_000_000_000_000_04),
            (-2.2, 0.027_806_895_026_997_22),
            (3.0, 0.002_699_796_063_260_191_3),
            (6.0, 1.973_175_290_075_402_4e-9),
            (20.0, 5.507_248_237_212_663e-89),
        ] {
            let tail = two_sided_tail(z);
            assert!((tail / expected - 1.0).abs() < 1e-12, "z {z}: {tail:e}, expected {expected:e}");
        }
    }

    #[test]
    fn quantiles_are_the_inverse_of_tails() {
        for p in [1e-9, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999_999] {
            let z = quantile(p);
            let below = if z < 0.0 { two_sided_tail(z) / 2.0 } else { 1.0 - two_sided_tail(z) / 2.0 };
            assert!((below / p - 1.0).abs() < 1e-8, "{p}: {z} has {below}");
        }
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-9);
    }

    #[test]
    fn nothing_lies_beyond_infinity() {
        assert!(two_sided_tail(f64::INFINITY) == 0.0);
        assert!(two_sided_tail(f64::NAN).is_nan());
    }
}
