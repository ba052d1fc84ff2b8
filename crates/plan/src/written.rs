//! Values as TOML and the text forms of `units` have them, exactly: what is written is read as the same.

use std::time::Duration;

use units::{ByteCount, DataRate};

/// A text between quotes.
pub(crate) fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}

/// A flag that is set.
pub(crate) fn set() -> String {
    "true".to_owned()
}

/// A list of texts.
pub(crate) fn texts<T: AsRef<str>>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(|value| text(value.as_ref())).collect();
    format!("[{}]", values.join(", "))
}

/// A key, between quotes where TOML needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { text(name) }
}

/// A rate: `"10Gbit/s"`.
pub(crate) fn rate(value: DataRate) -> String {
    scaled(
        u128::from(value.bps()),
        &[(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")],
    )
}

/// An amount: `"64KiB"`.
pub(crate) fn bytes(value: ByteCount) -> String {
    scaled(
        u128::from(value.get()),
        &[(1 << 30, "GiB"), (1_000_000_000, "GB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1, "B")],
    )
}

/// A time: `"10s"`.
pub(crate) fn time(value: Duration) -> String {
    scaled(
        value.as_nanos(),
        &[
            (3_600_000_000_000, "h"),
            (60_000_000_000, "min"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ],
    )
}

/// In the largest unit in which it is a whole number.
fn scaled(value: u128, units: &[(u128, &str)]) -> String {
    let fits = units.iter().find(|(factor, _)| value >= *factor && value.is_multiple_of(*factor)).or(units.last());
    fits.map_or_else(String::new, |(factor, unit)| text(&format!("{}{unit}", value / factor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_the_largest_unit_that_loses_nothing() {
        assert_eq!(rate(DataRate::from_bps(26_000_000_000)), "\"26Gbit/s\"");
        assert_eq!(rate(DataRate::from_bps(1_000_001)), "\"1000001bit/s\"");
        assert_eq!(time(Duration::from_secs(21_600)), "\"6h\"");
        assert_eq!(time(Duration::ZERO), "\"0ns\"");
        assert_eq!(bytes(ByteCount::new(65_536)), "\"64KiB\"");
        assert_eq!((key("a-1").as_str(), key("dtn.example").as_str()), ("a-1", "\"dtn.example\""));
    }
}
