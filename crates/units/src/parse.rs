//! The one reader of `NUMBER UNIT` texts, shared by every quantity.
//!
//! The number is decimal with an optional fraction; the product with the unit must be an integer of the quantity's
//! base unit after rounding, and must fit in 64 bits. No floating point is used, so `0.1Gbit/s` is exact.

/// Why a text is not the quantity it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text does not start with a number.
    #[error("`{text}` does not start with a number; write for example `{example}`")]
    NoNumber {
        /// What was read.
        text: String,
        /// A text that would have been right.
        example: &'static str,
    },
    /// A number alone: which unit was meant is a guess, and linerate does not guess.
    #[error("`{text}` has no unit; write for example `{example}`")]
    NoUnit {
        /// What was read.
        text: String,
        /// A text that would have been right.
        example: &'static str,
    },
    /// The unit is unknown, or could mean two things.
    #[error("`{unit}` in `{text}` is not a unit of {quantity}: {hint}")]
    UnknownUnit {
        /// What was read.
        text: String,
        /// The part that should be a unit.
        unit: String,
        /// What was to be read.
        quantity: &'static str,
        /// What to write instead.
        hint: String,
    },
    /// The value is larger than 64 bits of the base unit.
    #[error("`{text}` is too large")]
    TooLarge {
        /// What was read.
        text: String,
    },
}

/// One accepted unit of a quantity and its value in base units, as a fraction for units below the base.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) factor: u64,
}

/// How one quantity is written.
pub(crate) struct Grammar {
    pub(crate) quantity: &'static str,
    pub(crate) example: &'static str,
    pub(crate) units: &'static [Unit],
    /// Explains a unit that is not in the table.
    pub(crate) hint: fn(unit: &str) -> String,
}

impl Grammar {
    /// Reads `text` into base units of this quantity.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let trimmed = text.trim();
        let digits_end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits_end);
        let unit = unit.trim_start();
        let Some((whole, fraction)) = split_decimal(number) else {
            return Err(ParseError::NoNumber { text: text.to_owned(), example: self.example });
        };
        if unit.is_empty() {
            return Err(ParseError::NoUnit { text: text.to_owned(), example: self.example });
        }
        let Some(known) = self.units.iter().find(|known| known.name == unit) else {
            return Err(ParseError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                quantity: self.quantity,
                hint: (self.hint)(unit),
            });
        };
        scale(whole, fraction, known.factor).ok_or_else(|| ParseError::TooLarge { text: text.to_owned() })
    }
}

/// Splits `12.5` into `("12", "5")`; `None` where there is no digit or a second point.
fn split_decimal(number: &str) -> Option<(&str, &str)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let no_digit = whole.is_empty() && fraction.is_empty();
    let second_point = fraction.contains('.');
    (!no_digit && !second_point).then_some((whole, fraction))
}

/// `whole.fraction * factor`, rounded half up, without leaving integers.
fn scale(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    /// More digits than these cannot change a 64-bit result.
    const MAX_FRACTION_DIGITS: usize = 18;
    let fraction = &fraction[..fraction.len().min(MAX_FRACTION_DIGITS)];
    let factor = u128::from(factor);
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let denominator = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let numerator: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let value = whole.checked_mul(factor)? + (numerator * factor + denominator / 2) / denominator;
    u64::try_from(value).ok()
}

/// Writes `value` with three significant digits in the largest of `scales` that keeps it at or above one.
/// `scales` descends; the last entry is the base unit.
pub(crate) fn write_scaled(
    f: &mut std::fmt::Formatter<'_>,
    value: u64,
    scales: &[(u64, &'static str)],
) -> std::fmt::Result {
    let &(factor, unit) =
        scales.iter().find(|(factor, _)| value >= *factor).or_else(|| scales.last()).unwrap_or(&(1, ""));
    let text = if factor == 1 {
        format!("{value} {unit}")
    } else {
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let scaled = value as f64 / factor as f64;
        let decimals = match scaled {
            s if s < 9.995 => 2,
            s if s < 99.95 => 1,
            _ => 0,
        };
        format!("{scaled:.decimals$} {unit}")
    };
    f.pad(&text)
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn fractions_are_exact() {
        assert_eq!(scale("0", "1", 1_000_000_000), Some(100_000_000));
        assert_eq!(scale("", "5", 3), Some(2));
        assert_eq!(scale("18446744073709551615", "", 1), Some(u64::MAX));
        assert_eq!(scale("18446744073709551616", "", 1), None);
    }
}
