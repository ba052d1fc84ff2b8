//! What can be varied, as people write it: the names are those of the options of `linerate simulate flow`.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use model::expectation::{How, Inputs, KnownValue, Pacing, Writer};
use serde::{Deserialize, Serialize};
use sim::sender::HEADERS;
use sim::{Algorithm, Kernel};
use units::{ByteCount, DataRate};

use crate::query::Query;
use crate::source::SourceError;

/// Something that can be varied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name in an address, that of the option of `linerate simulate flow`.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// The value that is simulated, as a person would write it; empty where there is none.
    pub value: String,
    /// The value of the run; absent where no run is varied or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
    /// How the value is known; absent of an empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// The same in words.
    pub from: String,
    /// An example of what may be written.
    pub example: String,
    /// All values that there are; empty where there are too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// A row of the table of parameters.
struct Row {
    name: &'static str,
    label: &'static str,
    example: &'static str,
    /// The value with its source.
    shown: fn(&Inputs) -> Option<KnownValue<String>>,
    /// Reads a value and puts it in, or says what is wrong with it.
    put: fn(&mut Inputs, &str) -> Result<(), String>,
}

/// What somebody wants to be otherwise, by the names of parameters.
#[derive(Debug, Default)]
pub(super) struct Wished {
    values: BTreeMap<&'static str, String>,
    rate: Option<DataRate>,
    rtt: Option<Duration>,
}

/// Reads what an address varies.
pub(super) fn wished(query: &Query) -> Result<Wished, SourceError> {
    let mut wished = Wished::default();
    for row in ROWS {
        if let Some(text) = query.text(row.name) {
            wished.values.insert(row.name, text.trim().to_owned());
        }
    }
    if wished.values.contains_key("time") && wished.values.contains_key("bytes") {
        return Err(wrong("time", &"it ends after a time or after so many bytes: leave one of the two empty"));
    }
    let within = |name| wished.values.get(name).map(String::as_str);
    wished.rate = within("rate").map(rate).transpose().map_err(|error| wrong("rate", &error))?;
    wished.rtt = within("rtt").map(rtt).transpose().map_err(|error| wrong("rtt", &error))?;
    Ok(wished)
}

impl Wished {
    pub(super) const fn rate(&self) -> Option<DataRate> {
        self.rate
    }

    pub(super) const fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Inputs with all that is wished.
    pub(super) fn applied(&self, mut inputs: Inputs) -> Result<Inputs, SourceError> {
        for row in ROWS {
            if let Some(text) = self.values.get(row.name) {
                (row.put)(&mut inputs, text).map_err(|error| wrong(row.name, &error))?;
            }
        }
        Ok(inputs)
    }
}

/// Every parameter with the value that is simulated and that of the run.
pub(super) fn all(inputs: &Inputs, own: Option<&Inputs>, wished: &Wished) -> Vec<Parameter> {
    let of = |row: &Row| {
        let shown = (row.shown)(inputs);
        let choices: Vec<String> = match row.name {
            "congestion" => Algorithm::ALL.iter().map(|algorithm| algorithm.name().to_owned()).collect(),
            "pacing" => vec!["algorithm".to_owned(), "fq".to_owned()],
            _ => Vec::new(),
        };
        let is_wished = wished.values.contains_key(row.name);
        Parameter {
            name: row.name.to_owned(),
            label: row.label.to_owned(),
            value: shown.as_ref().map_or_else(String::new, |known| known.value.clone()),
            own: own.map(|own| (row.shown)(own).map_or_else(String::new, |known| known.value)),
            how: shown.as_ref().map(|known| known.how),
            from: if is_wished { "as typed".to_owned() } else { shown.map_or_else(String::new, |known| known.from) },
            example: row.example.to_owned(),
            choices,
        }
    };
    ROWS.iter().map(of).collect()
}

/// Empties parameters of which the values are placeholders.
pub(super) fn blank(parameters: &mut [Parameter], names: &[&str], wished: &Wished) {
    let is_placeholder = |one: &&mut Parameter| {
        let name = one.name.as_str();
        names.contains(&name) && !wished.values.contains_key(name)
    };
    for parameter in parameters.iter_mut().filter(is_placeholder) {
        (parameter.value, parameter.how, parameter.from) = (String::new(), None, "not known".to_owned());
    }
}

/// The command that simulates the same.
pub(super) fn command(inputs: &Inputs) -> String {
    let mut command = "linerate simulate flow".to_owned();
    let mut add = |name: &str, value: &str| {
        for part in [" --", name, if value.is_empty() { "" } else { " " }, value] {
            command.push_str(part);
        }
    };
    for row in ROWS {
        let Some(KnownValue { value, .. }) = (row.shown)(inputs) else { continue };
        match (row.name, value.as_str()) {
            ("pacing", "fq") => add("fq", ""),
            ("pacing", _) => {}
            ("time", _) if inputs.bytes.is_some() => {}
            (name, value) => add(name, value),
        }
    }
    add("rmem-default", &bytes_text(inputs.first_receive_buffer.value));
    add("writer", if inputs.writer.value == Writer::Polls { "polls" } else { "blocks" });
    add("kernel", if inputs.window_percent.value == Kernel::V6_6.window_percent() { "6.6" } else { "6.1" });
    if let Some(rate) = &inputs.application_rate {
        add("application-rate", &rate_text(rate.value));
    }
    command
}

/// A value that somebody typed.
pub(super) fn typed<T>(value: T) -> KnownValue<T> {
    KnownValue::new(value, How::Given, "as typed")
}

fn wrong(name: &str, error: &dyn std::fmt::Display) -> SourceError {
    let label = ROWS.iter().find(|row| row.name == name).map_or(name, |row| row.label);
    let example = ROWS.iter().find(|row| row.name == name).map_or("", |row| row.example);
    SourceError::Wrong { what: format!("{label}: {error}"), hint: format!("for instance `{example}`") }
}

fn known<T>(value: &KnownValue<T>, text: impl Fn(&T) -> String) -> KnownValue<String> {
    KnownValue::new(text(&value.value), value.how, value.from.clone())
}

/// A number that has to be within a range.
fn within<T: PartialOrd + Copy>(
    value: T,
    range: std::ops::RangeInclusive<T>,
    text: impl Fn(T) -> String,
) -> Result<T, String> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{} to {} can be simulated here", text(*range.start()), text(*range.end())))
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number"))
}

fn rate(text: &str) -> Result<DataRate, String> {
    let rate: DataRate = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    within(rate, DataRate::from_bps(1_000)..=DataRate::from_bps(1_000_000_000_000), rate_text)
}

fn span(text: &str) -> Result<Duration, String> {
    units::duration::parse(text).map_err(|error| error.to_string())
}

fn rtt(text: &str) -> Result<Duration, String> {
    within(span(text)?, Duration::from_micros(1)..=Duration::from_secs(10), span_text)
}

fn bytes(text: &str, most: ByteCount) -> Result<ByteCount, String> {
    let bytes: ByteCount = text.parse().map_err(|error: units::ParseError| error.to_string())?;
    within(bytes, ByteCount::new(1)..=most, bytes_text)
}

/// A rate without a digit lost.
fn rate_text(rate: DataRate) -> String {
    exact(rate.bps(), &[(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")], "bit/s")
}

/// A size without a digit lost: memory in powers of two where it is such, all else in powers of ten.
fn bytes_text(bytes: ByteCount) -> String {
    const UNITS: [(u64, &str); 6] =
        [(1 << 30, "GiB"), (1 << 20, "MiB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1_000, "kB")];
    exact(bytes.get(), &UNITS, "B")
}

/// A time to the microsecond, in the largest unit of which it has a whole one.
fn span_text(time: Duration) -> String {
    let us = units::duration::micros(time);
    let (size, name, digits) = match us {
        1_000_000.. => (1_000_000, "s", 6),
        1_000.. => (1_000, "ms", 3),
        _ => return format!("{us}us"),
    };
    let rest = format!("{:0digits$}", us % size);
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    format!("{}{point}{rest}{name}", us / size)
}

fn exact(number: u64, units: &[(u64, &str)], least: &str) -> String {
    let unit = units.iter().find(|(size, _)| number >= *size && number.is_multiple_of(*size));
    unit.map_or_else(|| format!("{number}{least}"), |(size, name)| format!("{}{name}", number / size))
}

const ROWS: &[Row] = &[
    Row {
        name: "rate",
        label: "Bottleneck rate",
        example: "10Gbit/s",
        shown: |inputs| Some(known(&inputs.path_rate, |rate| rate_text(*rate))),
        put: |inputs, text| rate(text).map(|rate| inputs.path_rate = typed(rate)),
    },
    Row {
        name: "rtt",
        label: "RTT without queueing",
        example: "100ms",
        shown: |inputs| Some(known(&inputs.rtt_us, |us| span_text(Duration::from_micros(*us)))),
        put: |inputs, text| rtt(text).map(|rtt| inputs.rtt_us = typed(units::duration::micros(rtt))),
    },
    Row {
        name: "queue",
        label: "Bottleneck queue limit",
        example: "20MB",
        shown: |inputs| Some(known(&inputs.queue, |bytes| bytes_text(*bytes))),
        put: |inputs, text| bytes(text, LARGEST).map(|bytes| inputs.queue = typed(bytes)),
    },
    Row {
        name: "loss",
        label: "Random loss probability",
        example: "0.0001",
        shown: |inputs| inputs.loss.as_ref().map(|loss| known(loss, f64::to_string)),
        put: |inputs, text| {
            let part: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
            let part = within(part, 0.0..=0.5, |part| part.to_string())?;
            inputs.loss = Some(typed(part));
            Ok(())
        },
    },
    Row {
        name: "congestion",
        label: "Congestion control",
        example: "cubic",
        shown: |inputs| Some(known(&inputs.congestion_control, String::clone)),
        put: |inputs, text| {
            let algorithm: Algorithm =
                text.parse().map_err(|error: sim::congestion::UnknownAlgorithm| error.to_string())?;
            inputs.congestion_control = typed(algorithm.name().to_owned());
            Ok(())
        },
    },
    Row {
        name: "flows",
        label: "Parallel streams",
        example: "4",
        shown: |inputs| Some(known(&inputs.streams, u16::to_string)),
        put: |inputs, text| {
            within(whole(text)?, 1..=256, |count: u16| count.to_string()).map(|count| inputs.streams = typed(count))
        },
    },
    Row {
        name: "wmem",
        label: "Maximum send buffer",
        example: "64MiB",
        shown: |inputs| Some(known(&inputs.send_buffer, |bytes| bytes_text(*bytes))),
        put: |inputs, text| bytes(text, LARGEST_BUFFER).map(|bytes| inputs.send_buffer = typed(bytes)),
    },
    Row {
        name: "rmem",
        label: "Maximum receive buffer",
        example: "128MiB",
        shown: |inputs| Some(known(&inputs.receive_buffer, |bytes| bytes_text(*bytes))),
        put: |inputs, text| bytes(text, LARGEST_BUFFER).map(|bytes| inputs.receive_buffer = typed(bytes)),
    },
    Row {
        name: "mtu",
        label: "MTU",
        example: "9000",
        shown: |inputs| Some(known(&inputs.segment_bytes, |bytes| bytes.saturating_add(HEADERS).to_string())),
        put: |inputs, text| {
            let mtu = within(whole(text)?, 576..=65_535, |bytes: u32| bytes.to_string())?;
            inputs.segment_bytes = typed(mtu - HEADERS);
            Ok(())
        },
    },
    Row {
        name: "initial-window",
        label: "Initial congestion window, segments",
        example: "10",
        shown: |inputs| Some(known(&inputs.initial_window_segments, u32::to_string)),
        put: |inputs, text| {
            within(whole(text)?, 1..=10_000, |count: u32| count.to_string())
                .map(|count| inputs.initial_window_segments = typed(count))
        },
    },
    Row {
        name: "nic-rate",
        label: "Link rate of the sending NIC",
        example: "25Gbit/s",
        shown: |inputs| Some(known(&inputs.adapter_rate, |rate| rate_text(*rate))),
        put: |inputs, text| rate(text).map(|rate| inputs.adapter_rate = typed(rate)),
    },
    Row {
        name: "pacing",
        label: "Pacing",
        example: "fq",
        shown: |inputs| {
            Some(known(&inputs.pacing, |pacing| {
                match pacing {
                    Pacing::Algorithm => "algorithm",
                    Pacing::Fq => "fq",
                }
                .to_owned()
            }))
        },
        put: |inputs, text| {
            inputs.pacing = typed(match text {
                "algorithm" => Pacing::Algorithm,
                "fq" => Pacing::Fq,
                _ => return Err(format!("`{text}` is neither `algorithm` nor `fq`")),
            });
            Ok(())
        },
    },
    Row {
        name: "pace",
        label: "Pacing rate per stream",
        example: "5Gbit/s",
        shown: |inputs| inputs.pace.as_ref().map(|pace| known(pace, |rate| rate_text(*rate))),
        put: |inputs, text| rate(text).map(|rate| inputs.pace = Some(typed(rate))),
    },
    Row {
        name: "time",
        label: "Time to send for",
        example: "60s",
        shown: |inputs| {
            let is_timed = inputs.bytes.is_none();
            is_timed.then(|| KnownValue::new(span_text(inputs.time), How::Given, "as the test asked"))
        },
        put: |inputs, text| {
            let time = within(span(text)?, Duration::from_millis(100)..=Duration::from_secs(3_600), span_text)?;
            (inputs.time, inputs.bytes) = (time, None);
            Ok(())
        },
    },
    Row {
        name: "bytes",
        label: "Bytes to send, all streams together",
        example: "13GiB",
        shown: |inputs| inputs.bytes.map(|bytes| KnownValue::new(bytes_text(bytes), How::Given, "as the test asked")),
        put: |inputs, text| bytes(text, LARGEST).map(|bytes| inputs.bytes = Some(bytes)),
    },
];

/// Enough for any queue and any transfer.
const LARGEST: ByteCount = ByteCount::new(1_000_000_000_000_000);
/// The most that the kernel sets is 2 GiB.
const LARGEST_BUFFER: ByteCount = ByteCount::new(1 << 31);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_reads_back_as_it_is_shown() {
        let path = (DataRate::from_bps(9_870_000_001), Duration::from_micros(209_417));
        let mut inputs = predict::untested::untested(path.0, path.1);
        inputs.loss = Some(typed(0.000_012_3));
        inputs.pace = Some(typed(DataRate::from_bps(5_000_000_000)));
        inputs.send_buffer = typed(ByteCount::new(6_291_457));
        let mut read = predict::untested::untested(DataRate::from_bps(1), Duration::from_secs(1));
        for row in ROWS {
            if let Some(shown) = (row.shown)(&inputs) {
                (row.put)(&mut read, &shown.value).unwrap_or_else(|error| panic!("{}: {error}", row.name));
                assert_eq!((row.shown)(&read).unwrap().value, shown.value, "{}", row.name);
            }
            let mut example = inputs.clone();
            (row.put)(&mut example, row.example).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        }
        assert_eq!((read.path_rate.value, read.loss.unwrap().value), (path.0, 0.000_012_3));
    }

    #[test]
    fn what_cannot_be_simulated_here_is_refused_with_its_range() {
        for (name, text) in [
            ("rate", "10Tbit/s"),
            ("rate", "0bit/s"),
            ("rtt", "11s"),
            ("rtt", "0s"),
            ("loss", "0.9"),
            ("loss", "NaN"),
            ("mtu", "100"),
            ("flows", "0"),
            ("flows", "1000"),
            ("initial-window", "0"),
            ("time", "2h"),
            ("rmem", "4GiB"),
            ("congestion", "vegas"),
            ("pacing", "red"),
            ("queue", "0B"),
        ] {
            let query = Query::parse(&format!("{name}={text}"));
            let refused = wished(&query).and_then(|wished| {
                wished.applied(predict::untested::untested(DataRate::from_bps(1_000_000), Duration::from_millis(1)))
            });
            let error = refused.map(|_| ()).unwrap_err();
            assert!(matches!(&error, SourceError::Wrong { .. }), "{name}={text}: {error}");
        }
        assert!(wished(&Query::parse("time=1s&bytes=1GB")).is_err());
    }
}
