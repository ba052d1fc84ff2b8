//! Durations of ISO 8601 and numbers with SI prefixes, as pScheduler has them.

use std::time::Duration;

use serde_json::Value;

/// Reads `PT10S`, `P1DT6H`, `PT1.5S`; years and months have no length of their own and are refused, and so is what no test
/// or interval lasts.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let rest = text.strip_prefix('P')?;
    let (days, times) = rest.split_once('T').map_or((rest, None), |(days, times)| (days, Some(times)));
    let units = [("W", 604_800.0), ("D", 86_400.0)];
    let seconds = sum(days, &units)? + times.map_or(Some(0.0), |times| sum(times, &TIMES))?;
    let empty = days.is_empty() && times.is_none_or(str::is_empty);
    if empty { None } else { of_seconds(seconds) }
}

fn of_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= LONGEST)
}

const LONGEST: Duration = Duration::from_secs(366 * 86_400);

const TIMES: [(&str, f64); 3] = [("H", 3_600.0), ("M", 60.0), ("S", 1.0)];

/// The sum of `1H30M`, each unit once and in order.
fn sum(mut text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let mut total = 0.0;
    for (unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(unit) {
            let is_number = !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
            total += is_number.then(|| number.parse::<f64>().ok())?? * seconds;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

/// Writes a duration; a part of a nanosecond there is not.
pub(super) fn written(time: Duration) -> String {
    let (seconds, nanos) = (time.as_secs(), time.subsec_nanos());
    if nanos > 0 {
        return format!("PT{}S", format!("{seconds}.{nanos:09}").trim_end_matches('0'));
    }
    match seconds {
        0 => "PT0S".to_owned(),
        days if days % 86_400 == 0 => format!("P{}D", days / 86_400),
        hours if hours % 3_600 == 0 => format!("PT{}H", hours / 3_600),
        minutes if minutes % 60 == 0 => format!("PT{}M", minutes / 60),
        _ => format!("PT{seconds}S"),
    }
}

/// Reads `10`, `"10G"`, `"512Ki"`.
pub(super) fn number(value: &Value) -> Option<u64> {
    let Some(text) = value.as_str() else { return value.as_u64() };
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (digits, prefix) = text.split_at(end);
    let factor: u64 = match prefix.trim() {
        "" => 1,
        "K" | "k" => 1_000,
        "M" | "m" => 1_000_000,
        "G" | "g" => 1_000_000_000,
        "T" | "t" => 1_000_000_000_000,
        "Ki" | "ki" => 1 << 10,
        "Mi" | "mi" => 1 << 20,
        "Gi" | "gi" => 1 << 30,
        "Ti" | "ti" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    rounded(digits.parse::<f64>().ok()? * exact(factor))
}

/// Seconds as a number, which is how pScheduler writes the time between packets.
pub(super) fn seconds(value: &Value) -> Option<Duration> {
    value.as_f64().and_then(of_seconds)
}

#[expect(clippy::cast_precision_loss, reason = "a power of ten or of two below 2^53")]
fn exact(factor: u64) -> f64 {
    factor as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between zero and 2^53")]
fn rounded(value: f64) -> Option<u64> {
    (0.0..9e15).contains(&value).then(|| value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_iso_8601_without_years_and_months() {
        let read = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(read("PT10S"), Some(10_000));
        assert_eq!(read("P1DT6H"), Some(108_000_000));
        assert_eq!(read("PT1.5S"), Some(1_500));
        assert_eq!(read("PT1H30M"), Some(5_400_000));
        for text in [
            "P1Y",
            "P1M",
            "10S",
            "P",
            "PT",
            "PT5",
            "PTS",
            "PT-5S",
            "PT1S1H",
            "PT1e3S",
            "P367D",
            "PT4611686018427387904S",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for millis in [0, 1, 1_500, 10_000, 60_000, 21_600_000, 86_400_000, 90_061_001] {
            let time = Duration::from_millis(millis);
            assert_eq!(duration(&written(time)), Some(time), "{}", written(time));
        }
    }

    #[test]
    fn numbers_may_have_a_prefix() {
        let read = |text: &str| number(&Value::from(text));
        assert_eq!(read("26G"), Some(26_000_000_000));
        assert_eq!(read("1.5M"), Some(1_500_000));
        assert_eq!(read("64Ki"), Some(65_536));
        assert_eq!(number(&Value::from(5)), Some(5));
        for text in ["", "G", "5X", "-5", "99999999999T"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
