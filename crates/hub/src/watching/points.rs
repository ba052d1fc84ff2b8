//! What a result says of which series.

use mesh::incident::{Metric, Series};
use model::measurement::{DirectionTotal, Heading, Measurement};
use model::played::Finding;
use model::quality::Quality;
use model::quality::disturbance::Grade;
use model::run::{Outcome, Run};
use predict::target::flow::settled;
use units::WallTime;

use super::PairTest;
use crate::api::record::RunResult;
use crate::store::rows::{Point, PointQuality};

/// A result, and where it is from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Number of the record in the hub's store.
    pub record: u64,
    /// The host whose agent has run it.
    pub agent: &'a str,
    /// The test and its pair.
    pub pair: &'a PairTest,
}

impl PairTest {
    /// The test of a run, by the name of the run: `label@group/from/to/second`.
    #[must_use]
    pub fn of(run: &str) -> Option<Self> {
        let mut parts = run.rsplitn(4, '/');
        let _period = parts.next()?;
        let (to, from, test) = (parts.next()?, parts.next()?, parts.next()?);
        let (test, group) = test.rsplit_once('@')?;
        let [test, group, from, to] = [test, group, from, to].map(str::to_owned);
        Some(Self { test, group, from, to })
    }
}

/// All that a result says. Failed runs say nothing: that they failed is theirs to keep.
#[must_use]
pub fn points(result: &RunResult, source: Source<'_>) -> Vec<Point> {
    let mut points = Points { source, at: result.began, good: PointQuality::Good, found: Vec::new() };
    let PairTest { from, to, .. } = source.pair;
    match &result.finding {
        Finding::Run(run) => points.run(run),
        Finding::Echo(echo) if echo.outcome == Outcome::Complete => {
            let rtt = &echo.summary.rtt;
            points.add(Metric::RttMin, Directed { from, to }, rtt.min_us.map(|us| us as f64));
            let loss = share(&Counted { part: rtt.lost.get(), all: rtt.sent.get() });
            points.add(Metric::Loss, Directed { from, to }, loss);
        }
        Finding::PathMtu(mtu) if mtu.outcome == Outcome::Complete => {
            let bytes = mtu.path_mtu.map(|mtu| f64::from(mtu.get()));
            points.add(Metric::Mtu, Directed { from, to }, bytes);
        }
        Finding::Downloads(downloads) => {
            let mut rates: Vec<f64> =
                downloads.iter().filter_map(|one| one.goodput).map(|rate| rate.bps() as f64).collect();
            rates.sort_by(f64::total_cmp);
            // The server sends.
            points.add(Metric::DownloadRate, Directed { from: to, to: from }, rates.get(rates.len() / 2).copied());
        }
        Finding::Echo(_) | Finding::PathMtu(_) | Finding::Hops(_) | Finding::Nothing { .. } => {}
    }
    points.found
}

#[derive(Clone, Copy)]
struct Directed<'a> {
    from: &'a str,
    to: &'a str,
}

struct Points<'a> {
    source: Source<'a>,
    at: WallTime,
    good: PointQuality,
    found: Vec<Point>,
}

impl Points<'_> {
    fn run(&mut self, run: &Run) {
        let (Outcome::Complete, Some(measurement)) = (&run.outcome, &run.measurement) else { return };
        if Quality::of_run(run).grade() == Grade::Poor {
            self.good = PointQuality::Poor;
        }
        for total in &measurement.totals {
            self.direction(run, measurement, total);
        }
    }

    fn direction(&mut self, run: &Run, measurement: &Measurement, total: &DirectionTotal) {
        let PairTest { from, to, .. } = self.source.pair;
        let (here, there) = if self.source.agent == *from { (from, to) } else { (to, from) };
        let ends = match total.heading {
            Heading::Outbound => Directed { from: here, to: there },
            Heading::Inbound => Directed { from: there, to: here },
        };
        self.add(Metric::Goodput, ends, Some(total.goodput.bps() as f64));
        if let Some(goodput) = self.found.last_mut() {
            goodput.settled = Some(settled(run, total).bps() as f64);
        }
        if let Some(datagrams) = &total.datagrams {
            self.add(Metric::Loss, ends, share(&Counted { part: datagrams.lost.get(), all: datagrams.sent.get() }));
            return;
        }
        let latency = measurement.latency.as_ref();
        let idle = latency.and_then(|latency| latency.idle.as_ref()).and_then(|rtt| rtt.min_us);
        self.add(Metric::RttMin, ends, idle.map(|us| us as f64));
        let loaded = latency.and_then(|latency| latency.loaded.as_ref()).and_then(|rtt| rtt.median_us);
        self.add(Metric::RttLoaded, ends, loaded.map(|us| us as f64));
        let segments = total.sent.map(|bytes| bytes.get() / SEGMENT);
        let retransmitted = total.retransmits.zip(segments).and_then(|(again, once)| {
            // What was sent again was sent besides: of many that are lost more is sent again than is delivered.
            share(&Counted { part: again.get(), all: once.saturating_add(again.get()) })
        });
        self.add(Metric::RetransmitShare, ends, retransmitted);
    }

    fn add(&mut self, metric: Metric, ends: Directed<'_>, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let series = Series {
            from: ends.from.to_owned(),
            to: ends.to.to_owned(),
            test: self.source.pair.test.clone(),
            family: None,
            metric,
        };
        self.found.push(Point {
            series,
            at: self.at,
            value,
            settled: None,
            good: self.good,
            record: self.source.record,
        });
    }
}

/// Packets lost or retransmitted, of those sent.
struct Counted {
    part: u64,
    all: u64,
}

fn share(counted: &Counted) -> Option<f64> {
    (counted.all > 0).then(|| counted.part as f64 / counted.all as f64)
}

/// Model: payload of a segment over Ethernet; a share that is a little off moves no baseline.
const SEGMENT: u64 = 1448;
