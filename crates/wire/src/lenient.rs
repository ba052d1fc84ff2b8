//! Numbers and flags as iperf3 writes them: its JSON library prints whole numbers as `1e+15` above 10^15, and flags
//! as `true` or `1`, depending on the key.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a whole number that may be written as a float.
pub(crate) fn whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(None),
        value => whole_of(&value).map(Some).ok_or_else(|| wrong::<D>("a whole number", &value)),
    }
}

/// Reads a whole number that may be negative. An iperf3 receiver writes its -1 as the unsigned 2^64 - 1.
pub(crate) fn signed<'de, D: Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(input)?;
    let read = match &value {
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_u64().map(u64::cast_signed)).or_else(|| float_to_i64(number.as_f64()?))
        }
        _ => None,
    };
    read.ok_or_else(|| wrong::<D>("a whole number", &value))
}

/// Reads a flag: absent, `false` and `0` are off.
pub(crate) fn flag<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        value => whole_of(&value).map(|number| number != 0).ok_or_else(|| wrong::<D>("true or false", &value)),
    }
}

fn whole_of(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    number.as_u64().or_else(|| float_to_i64(number.as_f64()?).and_then(|whole| u64::try_from(whole).ok()))
}

/// The float as an integer where it is one; the largest exact float of this size is 2^63.
fn float_to_i64(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    (float.fract() == 0.0 && float.abs() < LIMIT).then_some(float as i64)
}

fn wrong<'de, D: Deserializer<'de>>(expected: &str, found: &Value) -> D::Error {
    use serde::de::Error;
    let mut shown = found.to_string();
    if let Some((cut, _)) = shown.char_indices().nth(60) {
        shown.truncate(cut);
        shown.push('…');
    }
    D::Error::custom(format_args!("expected {expected}, found `{shown}`"))
}

#[cfg(test)]
mod tests {
    #[derive(serde::Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "super::whole")]
        number: Option<u64>,
        #[serde(default, deserialize_with = "super::flag")]
        flag: bool,
    }

    fn read(text: &str) -> Result<(Option<u64>, bool), String> {
        serde_json::from_str::<Sample>(text).map(|s| (s.number, s.flag)).map_err(|e| e.to_string())
    }

    #[test]
    fn floats_that_are_whole_are_numbers_and_ones_are_flags() {
        assert_eq!(read(r#"{"number":1e+15,"flag":1}"#), Ok((Some(1_000_000_000_000_000), true)));
        assert_eq!(read(r#"{"number":7,"flag":false}"#), Ok((Some(7), false)));
        assert_eq!(read("{}"), Ok((None, false)));
    }

    #[test]
    fn an_unsigned_minus_one_is_minus_one() {
        #[derive(serde::Deserialize)]
        struct Signed(#[serde(deserialize_with = "super::signed")] i64);
        let read = |text: &str| serde_json::from_str::<Signed>(text).map(|signed| signed.0).ok();
        assert_eq!(read("18446744073709551615"), Some(-1));
        assert_eq!(read("-1"), Some(-1));
        assert_eq!(read("1e18"), Some(1_000_000_000_000_000_000));
        assert_eq!(read("null"), None);
    }

    #[test]
    fn wrong_types_are_named() {
        assert!(read(r#"{"number":"7"}"#).unwrap_err().contains("expected a whole number, found `\"7\"`"));
        assert!(read(r#"{"number":1.5}"#).is_err());
        assert!(read(r#"{"number":-1}"#).is_err());
        assert!(read(r#"{"number":1e300}"#).is_err());
        assert!(read(r#"{"flag":"yes"}"#).is_err());
    }
}
