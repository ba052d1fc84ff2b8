//! Metrics of Prometheus: the text that an exporter shows, and the JSON of `query` and `query_range`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::reading::{Field, Reading};
use crate::calibrate::Read;

/// Which metric is which number of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    fields: Vec<(String, Field)>,
    /// The label that names a gateway.
    pub label: String,
}

/// Names of metrics that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no FIELD=METRIC; fields are since, in-flight, begun, moved, refused, memory, memory-limit, load, deletion"
)]
pub struct MetricError(String);

impl Default for Metrics {
    fn default() -> Self {
        let known =
            Field::ALL.iter().flat_map(|(field, _, names)| names.iter().map(|name| ((*name).to_owned(), *field)));
        Self { fields: known.collect(), label: "instance".to_owned() }
    }
}

impl Metrics {
    /// Reads a further metric as a field: `in-flight=my_connections`. Those that are usual for that field are read no more.
    ///
    /// # Errors
    /// A text that is no such pair.
    pub fn add(&mut self, text: &str) -> Result<(), MetricError> {
        let wrong = || MetricError(text.to_owned());
        let (name, metric) = text.split_once('=').ok_or_else(wrong)?;
        let field = Field::named(name).ok_or_else(wrong)?;
        self.fields.retain(|(known, of)| *of != field || !is_usual(known));
        self.fields.push((metric.to_owned(), field));
        Ok(())
    }

    fn field(&self, metric: &str) -> Option<Field> {
        self.fields.iter().find(|(name, _)| name == metric).map(|(_, field)| *field)
    }
}

fn is_usual(metric: &str) -> bool {
    Field::ALL.iter().any(|(_, _, names)| names.contains(&metric))
}

/// One number of one metric.
struct Sample<'a> {
    metric: &'a str,
    gateway: &'a str,
    at_s: f64,
    value: f64,
}

/// Reads either form; `now_s` is when a text without times was taken.
#[must_use]
pub fn read(text: &str, metrics: &Metrics, now_s: f64) -> Read<Reading> {
    let mut readings = Readings { metrics, of: BTreeMap::new(), read: Read::default() };
    if text.trim_start().starts_with('{') {
        readings.json(text);
    } else {
        readings.exposition(text, now_s);
    }
    let Readings { of, mut read, .. } = readings;
    of.into_values().for_each(|reading| read.keep(reading));
    read
}

struct Readings<'a> {
    metrics: &'a Metrics,
    /// By gateway and millisecond.
    of: BTreeMap<(String, i64), Reading>,
    read: Read<Reading>,
}

/// The answer of a query.
#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<(f64, String)>,
    value: Option<(f64, String)>,
}

impl Readings<'_> {
    fn json(&mut self, text: &str) {
        let answer: Answer = match serde_json::from_str(text) {
            Ok(answer) => answer,
            Err(error) => return self.read.wrong(format!("no answer of Prometheus: {error}")),
        };
        if answer.status != "success" {
            return self.read.wrong(format!("Prometheus answers {}: {}", cut(&answer.status), cut(&answer.error)));
        }
        for series in answer.data.into_iter().flat_map(|data| data.result) {
            let metric = series.metric.get("__name__").map_or("", String::as_str);
            let Some(gateway) = series.metric.get(&self.metrics.label).cloned() else {
                self.read.wrong(format!("a series of `{}` has no label `{}`", cut(metric), self.metrics.label));
                continue;
            };
            for (at_s, value) in series.values.iter().chain(&series.value) {
                match value.parse::<f64>() {
                    Ok(value) => self.take(&Sample { metric, gateway: &gateway, at_s: *at_s, value }),
                    Err(_) => self.read.wrong(format!("`{}` is no number of `{}`", cut(value), cut(metric))),
                }
            }
        }
    }

    fn exposition(&mut self, text: &str, now_s: f64) {
        let label = self.metrics.label.clone();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(parsed) = parse(line, Label(&label)) else {
                self.read.wrong(format!("line {}: no metric", number + 1));
                continue;
            };
            let (metric, gateway, value, at_ms) = (parsed.metric, parsed.gateway, parsed.value, parsed.at_ms);
            let at_s = at_ms.map_or(now_s, |at_ms| at_ms / 1000.0);
            // A text of one gateway's own exporter does not name it.
            self.take(&Sample { metric, gateway: gateway.as_deref().unwrap_or(""), at_s, value });
        }
    }

    fn take(&mut self, sample: &Sample<'_>) {
        let Some(field) = self.metrics.field(sample.metric) else { return };
        let is_sane = sample.value.is_finite() && sample.value >= 0.0 && (0.0..1e11).contains(&sample.at_s);
        if !is_sane || sample.gateway.len() > LONGEST_NAME {
            return self.read.wrong(format!(
                "`{}` of {}: no number that it can have",
                cut(sample.metric),
                cut(sample.gateway)
            ));
        }
        if self.of.len() >= crate::calibrate::MOST_RECORDS {
            return self.read.wrong("more readings than are read");
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked to be below 1e11 s")]
        let key = (sample.gateway.to_owned(), (sample.at_s * 1000.0) as i64);
        let empty = || Reading { gateway: sample.gateway.to_owned(), at_s: sample.at_s, ..Reading::default() };
        let place = self.of.entry(key).or_insert_with(empty).field(field);
        // Bytes in and out are two metrics of one number.
        *place = Some(if field == Field::Moved { place.unwrap_or(0.0) + sample.value } else { sample.value });
    }
}

const LONGEST_NAME: usize = 256;

/// So much of a foreign name as an anomaly shows.
fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The label that names a gateway.
#[derive(Clone, Copy)]
struct Label<'a>(&'a str);

struct Parsed<'a> {
    metric: &'a str,
    gateway: Option<String>,
    value: f64,
    at_ms: Option<f64>,
}

/// `name{label="value",...} number [milliseconds]`.
fn parse<'a>(line: &'a str, label: Label<'_>) -> Option<Parsed<'a>> {
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (metric, rest) = line.split_at(name_end);
    let (gateway, rest) = match rest.strip_prefix('{') {
        Some(labels) => labelled(labels, label)?,
        None => (None, rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    let at_ms = words.next().map(str::parse).transpose().ok()?;
    words.next().is_none().then_some(Parsed { metric, gateway, value, at_ms })
}

/// The value of a label, and what follows the closing brace.
fn labelled<'a>(mut text: &'a str, label: Label<'_>) -> Option<(Option<String>, &'a str)> {
    let mut found = None;
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((found, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = rest.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        if name.trim() == label.0 {
            found = Some(value);
        }
        text = &rest[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_exporter_is_read_and_what_is_no_metric_is_named() {
        let text = "# HELP x y\ngateway_in_flight{instance=\"gw1:1094\",a=\"b\\\"},c\"} 12\nxrootd_link_in{instance=\"gw1:1094\"} 5\n\
                    xrootd_link_out{instance=\"gw1:1094\"} 7\nother 3\ngateway_in_flight{instance=\"gw2\" 4\n";
        let read = read(text, &Metrics::default(), 100.0);
        assert_eq!(read.records.len(), 1);
        let one = &read.records[0];
        assert_eq!((one.gateway.as_str(), one.in_flight, one.moved_bytes), ("gw1:1094", Some(12.0), Some(12.0)));
        assert_eq!(one.memory_bytes, None, "what nobody said is absent");
        assert_eq!(read.anomalies, ["line 6: no metric"]);
    }

    #[test]
    fn a_range_of_values_becomes_a_reading_each() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"process_resident_memory_bytes","instance":"gw1"},"values":[[10,"4e9"],[20.5,"5e9"]]},
            {"metric":{"__name__":"conns","instance":"gw1"},"values":[[10,"30"],[20.5,"NaN"]]},
            {"metric":{"__name__":"conns"},"value":[10,"30"]}]}}"#;
        let mut metrics = Metrics::default();
        metrics.add("in-flight=conns").unwrap();
        let read = read(text, &metrics, 0.0);
        let pairs: Vec<_> = read.records.iter().map(|one| (one.at_s, one.memory_bytes, one.in_flight)).collect();
        assert_eq!(pairs, [(10.0, Some(4e9), Some(30.0)), (20.5, Some(5e9), None)]);
        assert_eq!(read.anomalies.len(), 2, "{:?}", read.anomalies);
        assert!(metrics.add("inflight=x").is_err());
    }

    #[test]
    fn an_error_of_prometheus_is_no_empty_answer() {
        let read = read(r#"{"status":"error","error":"bad query"}"#, &Metrics::default(), 0.0);
        assert_eq!((read.records.len(), read.anomalies.len()), (0, 1));
    }
}
