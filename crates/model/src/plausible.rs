//! Limits of what a stranger's document may say: a host that lies, or a file that somebody wrote by hand, must not make
//! sums overflow nor pass for a measurement.
//!
//! Names of fields carry their unit, so a limit is of a unit. It is far above what any path or host has, and far below
//! where arithmetic in 64 bits ends.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::value;

/// A number that nothing real has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} is {found}, and {limit}")]
pub struct Implausible {
    /// Where it stands, as `namespaces[0].interfaces[2].mtu`.
    pub place: String,
    /// Number as it was found, with its unit.
    pub found: String,
    /// What the most is.
    pub limit: Limit,
}

/// Why a stranger's document is not taken.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// It is no JSON, or not of this form.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// A number in it is beyond what is real.
    #[error(transparent)]
    Implausible(#[from] Implausible),
}

/// The most that a number of a unit may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    suffix: &'static str,
    most: u64,
    words: &'static str,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}

/// Reads a stranger's JSON.
///
/// # Errors
/// Where it is not of the form, and where a number is beyond what is real.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, AdmitError> {
    check(&serde_json::from_slice(bytes)?)?;
    Ok(serde_json::from_slice(bytes)?)
}

/// Takes a stranger's JSON that is parsed already.
///
/// # Errors
/// Where it is not of the form, and where a number is beyond what is real.
pub fn of_value<T: DeserializeOwned>(value: &Value) -> Result<T, AdmitError> {
    check(value)?;
    Ok(value::read(value)?)
}

/// Checks all numbers of a document.
///
/// # Errors
/// The first that is beyond its limit, with its place.
pub fn check(value: &Value) -> Result<(), Implausible> {
    walk(value, &mut Vec::new())
}

/// One step into a document.
#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

fn walk<'a>(value: &'a Value, place: &mut Vec<Step<'a>>) -> Result<(), Implausible> {
    match value {
        Value::Number(number) => {
            let name = place.iter().rev().find_map(|step| match step {
                Step::Name(name) => Some(*name),
                Step::Index(_) => None,
            });
            let limit = limit_of(name.unwrap_or_default());
            let beyond = match (number.as_u64(), number.as_f64()) {
                (Some(whole), _) => whole > limit.most,
                #[expect(clippy::cast_precision_loss, reason = "a limit has a few digits")]
                (None, Some(real)) => !real.is_finite() || real.abs() > limit.most as f64,
                (None, None) => true,
            };
            if beyond && !is_any_number(name.unwrap_or_default()) {
                return Err(Implausible { place: written(place), found: number.to_string(), limit });
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                place.push(Step::Index(index));
                walk(value, place)?;
                place.pop();
            }
        }
        Value::Object(map) => {
            // A field of the kernel's answer beside its name: as `values`.
            let is_of_kernel = map.get("field").is_some_and(Value::is_string);
            for (name, value) in map.iter().filter(|(name, _)| !(is_of_kernel && *name == "value")) {
                place.push(Step::Name(name));
                walk(value, place)?;
                place.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    Ok(())
}

fn limit_of(name: &str) -> Limit {
    LIMITS.into_iter().find(|limit| name.ends_with(limit.suffix)).unwrap_or(ANY)
}

/// Seeds and identities are drawn from all 64 bits, and nobody reckons with them. Samples (`values`) are what the kernel
/// said, in which all ones stand for "no limit", as of the pacing rate (`tcpi_max_pacing_rate`).
fn is_any_number(name: &str) -> bool {
    name == "seed" || name == "values" || name.ends_with("_seed") || name.ends_with("cookie") || name.ends_with("inode")
}

fn written(place: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in place {
        match step {
            Step::Name(name) if text.is_empty() => text.push_str(name),
            Step::Name(name) => text.extend([".", name]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// By the ends of names; the first that fits counts. A path of 2026 carries 800 Gbit/s on one port; the memory of one host
/// moves some Tbit/s.
const LIMITS: [Limit; 6] = [
    Limit { suffix: "_bps", most: 100_000_000_000_000, words: "no path carries more than 100 Tbit/s" },
    Limit { suffix: "_bytes", most: 1 << 60, words: "nothing here counts more than 1 EiB" },
    Limit { suffix: "unix_ns", most: 1 << 62, words: "the calendar ends in the year 2116" },
    Limit { suffix: "_ns", most: 1 << 60, words: "no span is longer than 36 years" },
    Limit { suffix: "_us", most: 1 << 50, words: "no span is longer than 36 years" },
    Limit { suffix: "_ms", most: 1 << 40, words: "no span is longer than 36 years" },
];
const ANY: Limit = Limit { suffix: "", most: 1 << 62, words: "no count is above 4.6e18" };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_beyond_its_unit_is_refused_with_its_place() {
        let lie = json!({ "streams": [{ "goodput_bps": 1 }, { "goodput_bps": u64::MAX }] });
        let error = check(&lie).unwrap_err();
        assert_eq!(
            error.to_string(),
            "streams[1].goodput_bps is 18446744073709551615, and no path carries more than 100 Tbit/s"
        );
        for lie in [json!({ "sent": u64::MAX }), json!([-1e300]), json!({ "rtt_us": [1u64 << 51] })] {
            assert!(check(&lie).is_err(), "{lie}");
        }
    }

    #[test]
    fn what_is_real_passes() {
        let real = json!({
            "goodput_bps": 800_000_000_000u64, "sent_bytes": 1u64 << 50, "seed": u64::MAX, "taken_unix_ns": 1_795_185_000_000_000_000u64,
            "samples": { "columns": [{ "values": [u64::MAX] }] }, "rtt_us": 209_000, "share": 0.5, "offset_ns": -5
        });
        assert_eq!(check(&real), Ok(()));
    }

    #[test]
    fn a_download_with_what_the_kernel_says_of_its_connection_passes() {
        // No pacing rate is all ones; what stands beside such a list is held to its unit.
        let of_kernel = json!([{ "field": "max_pacing_rate_bytes_per_s", "value": u64::MAX }]);
        assert_eq!(check(&json!({ "body_bytes": 50_000_000, "tcp": of_kernel })), Ok(()));
        assert!(check(&json!({ "body_bytes": u64::MAX, "tcp": of_kernel })).is_err());
        assert!(check(&json!({ "value": u64::MAX })).is_err(), "a value of nobody's");
    }
}
