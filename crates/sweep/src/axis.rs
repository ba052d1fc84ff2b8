//! Lists and ranges of values.

use std::collections::HashSet;
use std::time::Duration;

use units::{ByteCount, DataRate};

use crate::parameter::Parameter;
use crate::value::Value;

/// All values that are written for a parameter: one, a list of them, or a range `{ from, to, step }` with both ends.
///
/// # Errors
/// What is wrong with it.
pub fn values(parameter: &Parameter, written: &toml::Value) -> Result<Vec<Value>, String> {
    let values = match written {
        toml::Value::Array(each) => each.iter().map(|one| parameter.read(one)).collect::<Result<Vec<_>, _>>()?,
        toml::Value::Table(range) => range_of(parameter, range)?,
        one => vec![parameter.read(one)?],
    };
    if values.is_empty() {
        return Err("an empty list leaves no transfer; leave the line out for the usual value".to_owned());
    }
    let mut seen = HashSet::new();
    match values.iter().find(|value| !seen.insert(value.exact())) {
        Some(twice) => Err(format!("{twice} is in the list twice")),
        None => Ok(values),
    }
}

/// Values of the longest range.
const MOST: u64 = 100_000;

fn range_of(parameter: &Parameter, range: &toml::Table) -> Result<Vec<Value>, String> {
    let other = range.keys().find(|key| !["from", "to", "step"].contains(&key.as_str()));
    if let Some(other) = other {
        return Err(format!("a range has `from`, `to` and `step`, and not `{other}`"));
    }
    let part = |name: &str| {
        let written = range.get(name).ok_or_else(|| format!("the range has no `{name}`"))?;
        let value = parameter.kind.read(written)?;
        base(&value).map(|number| (value, number)).ok_or_else(|| "only quantities have ranges; write a list".to_owned())
    };
    let ((from, first), (to, last), (step, width)) = (part("from")?, part("to")?, part("step")?);
    if width == 0 || last < first {
        return Err(format!("a range from {from} to {to} in steps of {step} has no end"));
    }
    if (last - first) / width >= MOST {
        return Err(format!("a range from {from} to {to} in steps of {step} has more than {MOST} values"));
    }
    let steps = (0..=(last - first) / width).map(|number| first + number * width);
    Ok(steps.map(|number| with_base(&from, number)).collect())
}

/// The value in whole units of which no step is a part.
fn base(value: &Value) -> Option<u64> {
    match value {
        Value::Time(time) => u64::try_from(time.as_nanos()).ok(),
        Value::Bytes(bytes) => Some(bytes.get()),
        Value::Rate(rate) => Some(rate.bps()),
        Value::Count(count) => Some(*count),
        Value::None | Value::Share(_) | Value::Flag(_) | Value::Word(_) => None,
    }
}

fn with_base(like: &Value, number: u64) -> Value {
    match like {
        Value::Time(_) => Value::Time(Duration::from_nanos(number)),
        Value::Bytes(_) => Value::Bytes(ByteCount::new(number)),
        Value::Rate(_) => Value::Rate(DataRate::from_bps(number)),
        _ => Value::Count(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parameter: &str, written: &str) -> Result<Vec<String>, String> {
        let table: toml::Table = toml::from_str(&format!("x = {written}")).unwrap();
        let (_, parameter) = Parameter::find(parameter).unwrap();
        values(parameter, &table["x"]).map(|values| values.iter().map(Value::exact).collect())
    }

    #[test]
    fn one_value_a_list_and_a_range_are_lists() {
        assert_eq!(read("rtt", r#""209ms""#).unwrap(), ["209000000ns"]);
        assert_eq!(read("loss", "[0, 0.5]").unwrap(), ["0.0", "0.5"]);
        let range = read("burst-start", r#"{ from = "1.5s", to = "2.7s", step = "500ms" }"#).unwrap();
        assert_eq!(range, ["1500000000ns", "2000000000ns", "2500000000ns"]);
        assert_eq!(read("initial-window", "{ from = 10, to = 30, step = 10 }").unwrap(), ["10", "20", "30"]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_would_be_right() {
        for (parameter, written, part) in [
            ("rtt", "209", "write a text such as \"209ms\""),
            ("rtt", r#""209""#, "no unit"),
            ("rtt", "[]", "empty list"),
            ("rtt", r#"["1s", "1000ms"]"#, "twice"),
            ("rtt", r#""none""#, "cannot be `none`"),
            ("rtt", r#"{ from = "1s", to = "2s" }"#, "no `step`"),
            ("rtt", r#"{ from = "2s", to = "1s", step = "1s" }"#, "no end"),
            ("rtt", r#"{ from = "0s", to = "1s", step = "0s" }"#, "no end"),
            ("rtt", r#"{ from = "0s", to = "1h", step = "1ns" }"#, "more than"),
            ("loss", "{ from = 0, to = 1, step = 1 }", "write a list"),
            ("loss", "2.5", "between 0 and 1"),
            ("initial-window", "-1", "below zero"),
        ] {
            let error = read(parameter, written).unwrap_err();
            assert!(error.contains(part), "{written}: {error}");
        }
    }
}
