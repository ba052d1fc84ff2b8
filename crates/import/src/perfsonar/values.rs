//! Times, durations and numbers, as pScheduler writes them.

use std::time::Duration;

use serde_json::Value;
use units::{DataRate, PacketCount, WallTime};

use crate::limits::{MAX_RATE, MAX_SECONDS};
use crate::stamp;

/// Why a document is no result.
#[derive(Debug, thiserror::Error)]
pub enum ArchivedError {
    /// It is no JSON.
    #[error("the document is no JSON")]
    Json(#[from] serde_json::Error),
    /// It lacks what every run has.
    #[error("the document has no `{0}`: the archiver is to post what pScheduler gives it, without a transform")]
    Lacks(&'static str),
    /// Nothing here measures what this type of test does.
    #[error("results of type `{0}` are not taken: throughput, rtt, latency, latencybg, mtu and trace are")]
    Type(String),
    /// A time or a number is none.
    #[error("`{0}` is none that pScheduler writes")]
    Value(&'static str),
}

/// A part of a document that is to be an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'a>(pub(super) &'a Value);

impl<'a> Object<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn object(&self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| value.is_object()).map(Object)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Hosts of a run: names, or in documents of older versions objects with one.
    pub(super) fn names(&self, key: &str) -> Vec<String> {
        let of = |value: &Value| {
            let name = value.as_str().or_else(|| Object(value).text("host")).or_else(|| Object(value).text("name"));
            name.map(ToOwned::to_owned)
        };
        let all = self.get(key).and_then(Value::as_array).into_iter().flatten();
        all.take(MOST_PARTICIPANTS).filter_map(of).collect()
    }

    pub(super) fn count(&self, key: &str) -> Option<PacketCount> {
        let value = self.get(key)?;
        let whole = value.as_u64().or_else(|| rounded(value.as_f64()?));
        whole.map(PacketCount::new)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64().filter(|number| number.is_finite())
    }

    pub(super) fn rate(&self, key: &str) -> Option<DataRate> {
        rounded(self.number(key)?).map(DataRate::from_bps).filter(|rate| *rate <= MAX_RATE)
    }

    /// A duration of ISO 8601, in microseconds.
    pub(super) fn micros(&self, key: &str) -> Option<u64> {
        seconds(self.text(key)?).map(units::duration::micros)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between zero and 2^53")]
fn rounded(value: f64) -> Option<u64> {
    (0.0..9e15).contains(&value).then(|| value.round() as u64)
}

/// Reads `PT10S`, `PT0.000012S`, `P1DT6H`; years and months have no length of their own.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let rest = text.strip_prefix('P')?;
    let (days, times) = rest.split_once('T').unwrap_or((rest, ""));
    if days.is_empty() && times.is_empty() {
        return None;
    }
    let total =
        sum(days, &[("W", 604_800.0), ("D", 86_400.0)])? + sum(times, &[("H", 3_600.0), ("M", 60.0), ("S", 1.0)])?;
    Duration::try_from_secs_f64(total).ok().filter(|time| time.as_secs() <= MAX_SECONDS)
}

/// The sum of `1H30M`, each unit once and in order.
fn sum(mut text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let mut total = 0.0;
    for (unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(unit) {
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            total += is_number.then(|| number.parse::<f64>().ok())?? * seconds;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

/// Reads `2026-11-24T12:00:00Z`, `2026-11-24T12:00:00.25+01:00`.
pub(super) fn moment(text: &str) -> Option<WallTime> {
    let (date, clock) = text.split_once('T')?;
    let zone = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone);
    let clock = clock.split('.').next()?;
    let utc = stamp::calendar(&format!("{date} {clock}"))?;
    let offset = match zone.as_bytes().first() {
        None | Some(b'Z') => 0,
        Some(sign) => {
            let (hours, minutes) = zone[1..].split_once(':').or_else(|| zone[1..].split_at_checked(2))?;
            let minutes: i64 = if minutes.is_empty() { 0 } else { minutes.parse().ok()? };
            let hours: i64 = hours.parse().ok()?;
            ((0..=14).contains(&hours) && (0..60).contains(&minutes)).then_some(())?;
            let seconds = (hours * 60 + minutes) * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
    };
    let seconds = i64::try_from(utc.unix_nanos() / SECOND).ok()? - offset;
    u64::try_from(seconds).ok()?.checked_mul(SECOND).map(WallTime::from_unix_nanos)
}

/// Names of strangers go into messages and rows.
pub(super) fn shortened(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect()
}

const SECOND: u64 = 1_000_000_000;
/// The longest name of DNS.
const LONGEST_NAME: usize = 253;
/// Tests of perfSONAR have two.
const MOST_PARTICIPANTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_with_any_zone_are_one_instant() {
        let noon = moment("2026-11-24T12:00:00Z").unwrap();
        assert_eq!(noon.unix_nanos(), 1_795_521_600 * SECOND);
        for no_zone in ["2026-11-24T12:00:00+9223372036854775807:00", "2026-11-24T12:00:00-00:9223372036854775807"] {
            assert_eq!(moment(no_zone), None);
        }
        for same in ["2026-11-24T13:00:00+01:00", "2026-11-24T06:30:00-0530", "2026-11-24T12:00:00.999+00:00"] {
            assert_eq!(moment(same), Some(noon), "{same}");
        }
        for none in ["", "2026-11-24", "2026-11-24T12", "2026-13-24T12:00:00Z", "2026-11-24T12:00:00+99:00", "T+é"] {
            assert_eq!(moment(none), None, "{none}");
        }
    }

    #[test]
    fn durations_keep_their_microseconds() {
        assert_eq!(seconds("PT0.000012S").map(units::duration::micros), Some(12));
        assert_eq!(seconds("P1DT6H").map(|time| time.as_secs()), Some(108_000));
        for none in ["", "P", "PT", "P1Y", "PT-1S", "PT1e3S", "P9999999W"] {
            assert_eq!(seconds(none), None, "{none}");
        }
    }
}
