//! Rates to three significant digits, as small numbers in the same order.
//!
//! 0 to 999 stand for themselves, then 900 codes for each power of ten.

/// `value` rounded half up to three significant digits, as the packed form keeps rates. The largest value, which the
/// kernel uses for "no limit", stays as it is.
#[must_use]
pub fn three_digits(value: u64) -> u64 {
    decode(encode(value))
}

/// The code of `value`.
pub(super) fn encode(value: u64) -> i64 {
    if value == u64::MAX {
        return NO_LIMIT;
    }
    let Some(power) = value.checked_ilog10().and_then(|digits| digits.checked_sub(2)).filter(|power| *power > 0) else {
        return value.cast_signed();
    };
    let unit = 10_u64.pow(power);
    // 999.5 rounds to 1000, which is the first code of the next power.
    let mantissa = value / unit + u64::from(value % unit >= unit / 2);
    (i64::from(power) - 1) * CODES_PER_POWER + EXACT_BELOW + mantissa.cast_signed() - 100
}

/// The value with this code. What no value has is taken as the nearest: codes come from files, too.
pub(super) fn decode(code: i64) -> u64 {
    if code < EXACT_BELOW {
        return u64::try_from(code).unwrap_or(0);
    }
    let (power, mantissa) = ((code - EXACT_BELOW) / CODES_PER_POWER + 1, (code - EXACT_BELOW) % CODES_PER_POWER + 100);
    u32::try_from(power)
        .ok()
        .and_then(|power| 10_u64.checked_pow(power))
        .and_then(|unit| unit.checked_mul(mantissa.cast_unsigned()))
        .unwrap_or(u64::MAX)
}

/// The code after that of the largest rounded value, 184 * 10^17.
const NO_LIMIT: i64 = 16 * CODES_PER_POWER + EXACT_BELOW + 85;

/// Three-digit numbers: 100 to 999.
const CODES_PER_POWER: i64 = 900;

/// Values with up to three digits.
const EXACT_BELOW: i64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_rounded_half_up() {
        for (value, rounded) in [
            (0, 0),
            (999, 999),
            (1_004, 1_000),
            (1_005, 1_010),
            (9_994, 9_990),
            (9_995, 10_000),
            (28_846_153, 28_800_000),
            (u64::MAX - 1, 18_400_000_000_000_000_000),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(three_digits(value), rounded, "{value}");
        }
    }

    #[test]
    fn every_code_stands_for_its_own_value() {
        for code in 0..=NO_LIMIT {
            assert_eq!(encode(decode(code)), code);
        }
    }

    proptest! {
        #[test]
        fn rounding_changes_less_than_a_part_in_two_hundred(value: u64) {
            let rounded = three_digits(value);
            prop_assert!(rounded.abs_diff(value) <= value / 200, "{} {}", value, rounded);
            prop_assert_eq!(three_digits(rounded), rounded);
        }

        #[test]
        fn no_code_panics(code: i64) {
            decode(code);
        }
    }
}
