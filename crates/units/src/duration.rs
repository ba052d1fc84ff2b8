//! Spans of time: the standard [`Duration`], with linerate's text form and unit-named serde forms.

use std::time::Duration;

use crate::parse::{Grammar, ParseError, Unit};

/// Reads `209ms`, `1.5s`, `2min`.
///
/// # Errors
/// If the text has no number, no unit, an unknown unit, or does not fit 64 bits of nanoseconds (584 years).
pub fn parse(text: &str) -> Result<Duration, ParseError> {
    GRAMMAR.parse(text).map(Duration::from_nanos)
}

/// Writes a span with three significant digits: `209 ms`, `1.50 s`, `31.2 µs`.
#[must_use]
pub fn show(time: Duration) -> String {
    Shown(nanos(time)).to_string()
}

/// Whole nanoseconds; as many as 64 bits hold, which are 584 years.
#[must_use]
#[inline]
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole microseconds; as many as 64 bits hold.
#[must_use]
#[inline]
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whole milliseconds; as many as 64 bits hold.
#[must_use]
#[inline]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

struct Shown(u64);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        crate::parse::write_scaled(f, self.0, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")])
    }
}

const GRAMMAR: Grammar = Grammar {
    quantity: "time",
    example: "10s",
    units: &[
        Unit { name: "ns", factor: 1 },
        Unit { name: "us", factor: 1_000 },
        Unit { name: "µs", factor: 1_000 },
        Unit { name: "ms", factor: 1_000_000 },
        Unit { name: "s", factor: 1_000_000_000 },
        Unit { name: "min", factor: 60_000_000_000 },
        Unit { name: "h", factor: 3_600_000_000_000 },
        Unit { name: "d", factor: 86_400_000_000_000 },
    ],
    hint: |unit| match unit {
        "m" | "M" => "write `min` for minutes or `ms` for milliseconds".to_owned(),
        _ => "write `us`, `ms`, `s`, `min`, `h` or `d`".to_owned(),
    },
};

/// The text form in files: `#[serde(deserialize_with = "units::duration::text::read")]`.
pub mod text {
    use std::borrow::Cow;
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, de};

    /// Reads a span.
    ///
    /// # Errors
    /// Where it is no text, or the text is not that of a span.
    pub fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        super::parse(&Cow::<str>::deserialize(input)?).map_err(de::Error::custom)
    }

    /// Reads a span that may be absent; the field has `#[serde(default)]` as well.
    ///
    /// # Errors
    /// See [`read`].
    pub fn read_some<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
        read(input).map(Some)
    }
}

macro_rules! serde_form {
    ($(#[$doc:meta])* $module:ident, $to:expr, $from:expr) => {
        $(#[$doc])*
        pub mod $module {
            use std::time::Duration;

            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            /// Writes the span as a whole number; a part smaller than the unit is cut.
            ///
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<S: Serializer>(time: &Duration, out: S) -> Result<S::Ok, S::Error> {
                let to: fn(&Duration) -> u128 = $to;
                u64::try_from(to(time)).unwrap_or(u64::MAX).serialize(out)
            }

            /// Reads the span from a whole number.
            ///
            /// # Errors
            /// Those of the deserializer.
            pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
                let from: fn(u64) -> Duration = $from;
                u64::deserialize(input).map(from)
            }

            /// The same for a span that may be absent.
            pub mod option {
                use std::time::Duration;

                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                /// Writes the span as a whole number, or null.
                ///
                /// # Errors
                /// Those of the serializer.
                pub fn serialize<S: Serializer>(time: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
                    let to: fn(&Duration) -> u128 = $to;
                    time.as_ref().map(|time| u64::try_from(to(time)).unwrap_or(u64::MAX)).serialize(out)
                }

                /// Reads the span from a whole number, or null.
                ///
                /// # Errors
                /// Those of the deserializer.
                pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
                    let from: fn(u64) -> Duration = $from;
                    Ok(Option::<u64>::deserialize(input)?.map(from))
                }
            }
        }
    };
}

serde_form!(
    /// For fields named `…_us`: whole microseconds.
    as_us,
    Duration::as_micros,
    Duration::from_micros
);
serde_form!(
    /// For fields named `…_ms`: whole milliseconds.
    as_ms,
    Duration::as_millis,
    Duration::from_millis
);
serde_form!(
    /// For fields named `…_ns`: whole nanoseconds.
    as_ns,
    Duration::as_nanos,
    Duration::from_nanos
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_shown() {
        assert_eq!(parse("209ms"), Ok(Duration::from_millis(209)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(show(Duration::from_millis(209)), "209 ms");
        assert_eq!(show(Duration::from_nanos(31_240)), "31.2 µs");
    }

    #[test]
    fn a_bare_m_is_neither_minutes_nor_milliseconds() {
        assert!(parse("5m").unwrap_err().to_string().contains("`min` for minutes"));
        assert!(parse("10").is_err());
    }
}
