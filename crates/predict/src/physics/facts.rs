//! Loss, RTT and segment size of one direction of a run, as far as it tells them.

use std::time::Duration;

use model::measurement::{DirectionTotal, Interval};
use model::run::Run;

use super::start::LossOfStart;

/// What TCP's models are reckoned from.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpFacts {
    /// Segments that were retransmitted.
    pub retransmits: u64,
    /// Segments that were sent.
    pub segments: u64,
    /// The RTT, with a range where it is estimated.
    pub rtt: RttRange,
    /// Payload of a segment.
    pub segment_bytes: u32,
    /// Parallel streams, each with a window of its own.
    pub streams: u16,
    /// The congestion control, by its kernel name.
    pub congestion_control: Option<String>,
}

/// An RTT, between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RttRange {
    /// The least that it may be.
    pub low: Duration,
    /// The most that it may be, not below `low`.
    pub high: Duration,
    /// How it is known.
    pub source: RttSource,
}

/// How an RTT is known, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RttSource {
    /// The user says so.
    Given,
    /// Measured before the flow.
    Idle,
    /// The kernel's smoothed RTT during the flow.
    Sampled,
    /// The congestion window over the rate: what a sender that fills its window has.
    WindowOverRate,
}

impl TcpFacts {
    /// Those of one direction; `None` where retransmits or the RTT are not known.
    #[must_use]
    pub fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        let measurement = run.measurement.as_ref()?;
        let flows = || measurement.flows.iter().filter(|flow| flow.heading == total.heading);
        let printed = flows().find_map(|flow| flow.mss).or(run.declared.mss);
        let segment_bytes = printed.filter(|bytes| *bytes > 0).unwrap_or(ETHERNET);
        let sent = total.sent.or(total.received)?.get();
        // What overflows a queue at the start is over: the losses that limit a rate are those that go on.
        let start = LossOfStart::of(run, total);
        let (retransmits, sent) =
            start.map_or((total.retransmits?.get(), sent), |start| (start.later, start.bytes.get()));
        let control = flows().find_map(|flow| flow.congestion_control.clone());
        Some(Self {
            retransmits,
            segments: sent / u64::from(segment_bytes),
            rtt: rtt(run, total)?,
            segment_bytes,
            streams: run.spec.streams,
            congestion_control: control
                .or_else(|| run.spec.congestion_control.clone())
                .or_else(|| run.declared.congestion_control.clone()),
        })
    }

    /// The part of the segments that was retransmitted, 0 to 1. Where that is much, what was retransmitted counts among what was sent,
    /// which a rate of the application leaves out.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
    pub fn loss(&self) -> f64 {
        let is_much = self.retransmits > self.segments / MUCH;
        let sent = self.segments.saturating_add(if is_much { self.retransmits } else { 0 });
        if sent == 0 { 0.0 } else { self.retransmits as f64 / sent as f64 }
    }
}

/// The RTT of a direction, from the most trusted source that knows it.
#[must_use]
pub fn rtt(run: &Run, total: &DirectionTotal) -> Option<RttRange> {
    let measurement = run.measurement.as_ref()?;
    let exactly = |rtt: Duration, source| RttRange { low: rtt, high: rtt, source };
    if let Some(given) = run.declared.rtt.filter(|rtt| !rtt.is_zero()) {
        return Some(exactly(given, RttSource::Given));
    }
    let idle = measurement.latency.as_ref().and_then(|latency| latency.idle);
    if let Some(micros) = idle.and_then(|idle| idle.min_us.or(idle.median_us)) {
        return Some(exactly(Duration::from_micros(micros), RttSource::Idle));
    }
    let intervals: Vec<&Interval> =
        measurement.intervals.iter().filter(|interval| interval.heading == total.heading).collect();
    let mut sampled: Vec<Duration> =
        intervals.iter().filter_map(|interval| interval.rtt).filter(|rtt| !rtt.is_zero()).collect();
    sampled.sort_unstable();
    if let (Some(low), Some(high)) = (sampled.first(), sampled.get(sampled.len() / 2)) {
        return Some(RttRange { low: *low, high: *high, source: RttSource::Sampled });
    }
    window_over_rate(&intervals)
}

/// Windows are read at the ends of intervals and rates are means, so that single quotients scatter by a factor of two: the least
/// and the median of several bound the RTT.
fn window_over_rate(intervals: &[&Interval]) -> Option<RttRange> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let quotient = |interval: &&Interval| {
        let window = interval.cwnd?.get() as f64 * 8.0;
        (interval.rate.bps() > 0 && window > 0.0).then(|| window / interval.rate.bps() as f64)
    };
    let mut quotients: Vec<f64> = intervals.iter().filter_map(quotient).collect();
    quotients.sort_by(f64::total_cmp);
    if quotients.len() < FEWEST {
        return None;
    }
    let (low, median) = (quotients.first()?, quotients.get(quotients.len() / 2)?);
    Some(RttRange { low: seconds(*low), high: seconds(*median), source: RttSource::WindowOverRate })
}

/// One segment of so many is much loss.
const MUCH: u64 = 10;
/// Fewer intervals are no estimate.
const FEWEST: usize = 3;
/// Payload of an Ethernet frame with IPv4, TCP and timestamps.
const ETHERNET: u32 = 1448;

/// A positive number of seconds as a time.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
