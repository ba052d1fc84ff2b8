//! The samples of a run, thinned to what a screen can show: of each bucket of time the least and the greatest value, so
//! that no spike is lost.

use model::measurement::{End, Heading, Whose};
use model::run::RunId;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use serde::{Deserialize, Serialize};

use crate::query::Query;
use crate::source::StoredRun;

/// Samples of a run within a window of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplesView {
    /// Name of the run.
    pub run: RunId,
    /// From here on, in microseconds since the start of the test.
    pub from_us: i64,
    /// Until here.
    pub until_us: i64,
    /// One for each stream, end and quantity.
    pub series: Vec<Series>,
}

/// A quantity of one stream over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it is, with its unit: `goodput_bps`, `rtt_us`, `probe_rtt_us`.
    pub quantity: String,
    /// Number of the stream, from 1; 0 for probes, which belong to none.
    pub stream: u32,
    /// Which way its payload goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<Heading>,
    /// Which host took the samples.
    pub whose: Whose,
    /// When, in microseconds since the start of the test: the first sample of each bucket.
    pub at_us: Vec<i64>,
    /// The least value of each bucket.
    pub low: Vec<f64>,
    /// The greatest value of each bucket.
    pub high: Vec<f64>,
}

/// Which samples are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    from_us: i64,
    until_us: i64,
    buckets: usize,
}

impl Window {
    pub(crate) fn of(query: &Query) -> Self {
        Self {
            from_us: query.number("from_us").unwrap_or(i64::MIN),
            until_us: query.number("until_us").unwrap_or(i64::MAX),
            buckets: query.number("points").unwrap_or(600).clamp(10, 4_000),
        }
    }
}

impl SamplesView {
    pub(crate) fn of(stored: &StoredRun, window: &Window) -> Self {
        let samples = &stored.samples;
        let times = || samples.streams.iter().flat_map(|stream| &stream.at_us).chain(&samples.probes.sent_us).copied();
        let from_us = window.from_us.max(times().min().unwrap_or(0));
        let until_us = window.until_us.min(times().max().unwrap_or(0)).max(from_us);
        let window = Window { from_us, until_us, ..*window };
        let mut series: Vec<Series> = samples.streams.iter().flat_map(|stream| of_stream(stream, &window)).collect();
        series.extend(probes(samples, &window));
        Self { run: stored.run.id, from_us, until_us, series }
    }
}

fn of_stream(stream: &StreamSamples, window: &Window) -> Vec<Series> {
    let series = |quantity: &str, points: Vec<Point>| {
        let thinned = thin(&points, window);
        (!thinned.is_empty()).then(|| {
            let mut series = Series {
                quantity: quantity.to_owned(),
                stream: stream.stream,
                heading: Some(stream.heading),
                whose: stream.whose,
                at_us: Vec::new(),
                low: Vec::new(),
                high: Vec::new(),
            };
            series.extend(&thinned);
            series
        })
    };
    let gauge = |field: Field, factor: f64| {
        let values = stream.column(field)?;
        Some(stream.at_us.iter().zip(values).map(|(at, value)| Point::at(*at, exact(*value) * factor)).collect())
    };
    let mut found = Vec::new();
    let counted = match stream.end {
        End::Receiver => [Field::BytesReceived, Field::AppBytes],
        End::Sender => [Field::BytesAcked, Field::AppBytes],
    };
    let counter = counted.into_iter().find_map(|field| stream.column(field));
    found.extend(counter.and_then(|values| series("goodput_bps", rates(&stream.at_us, values, window))));
    if stream.end == End::Sender {
        let mss = stream.column(Field::SndMss).and_then(|column| column.last()).map_or(1448.0, |mss| exact(*mss));
        let gauges = [
            (Field::SndCwnd, "cwnd_bytes", mss),
            (Field::Rtt, "rtt_us", 1.0),
            (Field::SndWnd, "peer_window_bytes", 1.0),
            (Field::TotalRetrans, "retransmits_so_far", 1.0),
        ];
        for (field, quantity, factor) in gauges {
            found.extend(gauge(field, factor).and_then(|points| series(quantity, points)));
        }
    } else {
        for (field, quantity) in [(Field::RcvWnd, "own_window_bytes"), (Field::SocketDrops, "socket_drops_so_far")] {
            found.extend(gauge(field, 1.0).and_then(|points| series(quantity, points)));
        }
    }
    found
}

/// The rate at which a counter grows, over steps that are no shorter than a bucket: shorter ones show bursts of
/// acknowledgements, not the path.
fn rates(at_us: &[i64], values: &[u64], window: &Window) -> Vec<Point> {
    let width = window.width_us().max(LEAST_RATE_US);
    let mut points = Vec::new();
    let mut last: Option<(i64, u64)> = None;
    for (at, value) in at_us.iter().copied().zip(values.iter().copied()) {
        match last {
            None => last = Some((at, value)),
            Some((then, before)) if at - then >= width => {
                points.push(Point::at(then, exact(value.saturating_sub(before)) * 8e6 / span(at - then)));
                last = Some((at, value));
            }
            Some(_) => {}
        }
    }
    points
}

fn probes(samples: &RunSamples, window: &Window) -> Option<Series> {
    let probes = samples.probes.sent_us.iter().zip(&samples.probes.rtt_us);
    let points: Vec<Point> = probes.filter_map(|(at, rtt)| Some(Point::at(*at, f64::from((*rtt)?)))).collect();
    let mut series = Series {
        quantity: "probe_rtt_us".to_owned(),
        stream: 0,
        heading: None,
        whose: Whose::Local,
        at_us: Vec::new(),
        low: Vec::new(),
        high: Vec::new(),
    };
    series.extend(&thin(&points, window));
    (!series.at_us.is_empty()).then_some(series)
}

impl Series {
    fn extend(&mut self, buckets: &[Bucket]) {
        for bucket in buckets {
            self.at_us.push(bucket.at_us);
            self.low.push(bucket.low);
            self.high.push(bucket.high);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Point {
    at_us: i64,
    value: f64,
}

impl Point {
    const fn at(at_us: i64, value: f64) -> Self {
        Self { at_us, value }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bucket {
    at_us: i64,
    low: f64,
    high: f64,
}

impl Window {
    fn width_us(&self) -> i64 {
        let buckets = i64::try_from(self.buckets).unwrap_or(i64::MAX);
        (self.until_us.saturating_sub(self.from_us) / buckets).max(1)
    }
}

/// The least and the greatest value of each bucket that has any.
fn thin(points: &[Point], window: &Window) -> Vec<Bucket> {
    let width = window.width_us();
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut number = i64::MIN;
    let inside = points.iter().filter(|point| (window.from_us..=window.until_us).contains(&point.at_us));
    for point in inside {
        let this = (point.at_us - window.from_us) / width;
        match buckets.last_mut().filter(|_| this == number) {
            Some(bucket) => {
                bucket.low = bucket.low.min(point.value);
                bucket.high = bucket.high.max(point.value);
            }
            None => buckets.push(Bucket { at_us: point.at_us, low: point.value, high: point.value }),
        }
        number = this;
    }
    buckets
}

#[expect(clippy::cast_precision_loss, reason = "shown, never counted with")]
fn exact(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "shown, never counted with")]
fn span(us: i64) -> f64 {
    us as f64
}

/// Rates of shorter steps are bursts.
const LEAST_RATE_US: i64 = 50_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spike_is_lost_by_thinning_and_nothing_outside_is_shown() {
        let mut points: Vec<Point> = (0..10_000).map(|at| Point::at(at, 1.0)).collect();
        points[7_777].value = 9.0;
        let window = Window { from_us: 1_000, until_us: 9_000, buckets: 100 };
        let found = thin(&points, &window);
        assert!(found.len() <= 101);
        assert_eq!(found.iter().filter(|bucket| bucket.high > 8.0).count(), 1);
        assert!(found.iter().all(|bucket| (1_000..=9_000).contains(&bucket.at_us)));
        assert!(thin(&points, &Window { from_us: 20_000, until_us: 30_000, buckets: 10 }).is_empty());
    }
}
