//! The rows of iperf3's JSON: intervals, and both ends of each stream at the end.

use std::fmt;
use std::time::Duration;

use model::measurement::{End, Heading};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use units::{ByteCount, DataRate};

use crate::limits::MAX_ANOMALIES;
use crate::parsed::{Datagrams, EndRow, Label, ParsedTest, PrintedAmount, Row};
use crate::quantity::{signed, time, whole};

/// The rows of `intervals`.
#[derive(Debug, Clone, Default)]
pub(crate) struct IntervalRows {
    rows: Vec<Row>,
    /// Intervals read so far.
    count: usize,
    /// What was no row, by the number of its interval.
    broken: Vec<(usize, String)>,
}

impl IntervalRows {
    /// Reads one interval.
    pub(crate) fn take(&mut self, interval: &Value) {
        self.count += 1;
        let streams = interval.get("streams").and_then(Value::as_array).into_iter().flatten();
        let sums = ["sum", "sum_bidir_reverse"].into_iter().filter_map(|key| interval.get(key));
        for value in streams.chain(sums) {
            match row(value) {
                Some(row) => self.rows.push(row),
                None if self.broken.len() < MAX_ANOMALIES => self.broken.push((self.count, value.to_string())),
                None => {}
            }
        }
    }

    /// Moves the rows into `parsed`.
    pub(crate) fn into_test(self, parsed: &mut ParsedTest) {
        parsed.rows = self.rows;
        for (number, found) in self.broken {
            let expected = format!("`start`, `end` and `bytes` in interval {number}");
            parsed.anomalies.add(parsed.line, expected, &found);
        }
    }
}

/// Rows that are filled as they are read.
pub(crate) struct FilledRows<'a>(pub(crate) &'a mut IntervalRows);

impl<'de> DeserializeSeed<'de> for FilledRows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FilledRows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of intervals")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        while let Some(interval) = list.next_element::<Value>()? {
            self.0.take(&interval);
        }
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads `end`.
pub(crate) fn end(end: &Value, parsed: &mut ParsedTest) {
    for stream in end.get("streams").and_then(Value::as_array).into_iter().flatten() {
        for (key, whose) in [("sender", End::Sender), ("receiver", End::Receiver)] {
            let Some(value) = stream.get(key) else { continue };
            match row(value) {
                Some(row) => parsed.ends.push(EndRow { end: whose, row }),
                None => {
                    parsed.anomalies.add(parsed.line, format!("`bytes` in `{key}` of a stream"), &value.to_string());
                }
            }
        }
        if let Some(udp) = stream.get("udp") {
            match row(udp) {
                Some(row) => parsed.ends.extend(row.both_ends()),
                None => parsed.anomalies.add(parsed.line, "`bytes` in `udp` of a stream", &udp.to_string()),
            }
            if let Some(late) = udp.get("out_of_order").and_then(whole) {
                parsed.reordered = Some(parsed.reordered.unwrap_or(0).saturating_add(late));
            }
        }
    }
    sums(end, "", parsed);
    sums(end, "_bidir_reverse", parsed);
}

/// The sums of one direction.
fn sums(end: &Value, suffix: &str, parsed: &mut ParsedTest) {
    let of = |key: &str| end.get(format!("{key}{suffix}")).and_then(row);
    let (both, sent, received) = (of("sum"), of("sum_sent"), of("sum_received"));
    // UDP's `sum_sent` and `sum_received` have the flag as a constant; the ambiguous `sum` has it right.
    let heading = both.as_ref().or(sent.as_ref()).and_then(|row| row.heading);
    let named = [(sent, End::Sender), (received, End::Receiver)];
    let known = named.iter().any(|(row, _)| row.is_some());
    let named = named.into_iter().filter_map(|(row, end)| Some(EndRow { end, row: row? }));
    // Before 3.11 UDP has one sum for both ends.
    let ambiguous = both.filter(|_| !known).map(|row| row.both_ends()).into_iter().flatten();
    parsed.ends.extend(named.chain(ambiguous).map(|mut count| {
        count.row.heading = heading;
        count
    }));
}

/// A row; `null` stands for what iperf3 could not compute.
fn row(value: &Value) -> Option<Row> {
    let second = Duration::from_secs(1);
    let number = |key: &str| value.get(key).and_then(whole);
    let micros = |key: &str| number(key).map(Duration::from_micros);
    let label = match number("socket") {
        Some(socket) => Label::Stream(u32::try_from(socket).ok()?),
        None => Label::Sum,
    };
    let (start, end) = (time(value.get("start")?, second)?, time(value.get("end")?, second)?);
    let mut row = Row::new(label, start, end, ByteCount::new(number("bytes")?));
    row.heading = value
        .get("sender")
        .and_then(Value::as_bool)
        .map(|sends| if sends { Heading::Outbound } else { Heading::Inbound });
    row.rate = value.get("bits_per_second").and_then(Value::as_f64).and_then(rate);
    row.retransmits = number("retransmits");
    row.cwnd = number("snd_cwnd").map(|bytes| PrintedAmount { bytes: ByteCount::new(bytes), within: 0 });
    row.snd_wnd = number("snd_wnd").map(ByteCount::new);
    row.rtt = micros("rtt").filter(|rtt| !rtt.is_zero());
    row.rttvar = micros("rttvar").filter(|_| row.rtt.is_some());
    row.pmtu = number("pmtu").and_then(|pmtu| u32::try_from(pmtu).ok()).filter(|pmtu| *pmtu > 0);
    row.jitter = value.get("jitter_ms").and_then(|jitter| time(jitter, Duration::from_millis(1)));
    row.datagrams =
        number("packets").map(|total| Datagrams { lost: value.get("lost_packets").and_then(signed), total });
    row.omitted = value.get("omitted").and_then(Value::as_bool).unwrap_or(false);
    Some(row)
}

fn rate(float: f64) -> Option<DataRate> {
    /// The largest float below 2^64.
    const LIMIT: f64 = 1.8e19;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    (0.0..LIMIT).contains(&float).then(|| DataRate::from_bps(float.round() as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_unknown_and_zero_is_not() {
        let value = json!({"start": 0, "end": 1.5, "bytes": 1e15, "bits_per_second": null, "retransmits": 0, "rtt": 0});
        let row = row(&value).unwrap();
        assert_eq!((row.bytes.get(), row.rate, row.retransmits, row.rtt), (1_000_000_000_000_000, None, Some(0), None));
        assert_eq!(row.end, Duration::from_millis(1500));
        assert!(super::row(&json!({"start": 0, "end": null, "bytes": 1})).is_none());
    }
}
