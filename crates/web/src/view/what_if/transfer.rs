//! A transfer over time, as it was measured or as it is predicted.

use std::time::Duration;

use model::expectation::{Bound, Inputs};
use model::series::RunSamples;
use predict::case::Case;
use predict::progress::Progress;
use predict::words;
use report::timeline::Timeline;
use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount};

use super::basis::unpredictable;
use crate::source::SourceError;

/// What a run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredTransfer {
    /// Payload per second over the whole run, all streams together.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// Segments that were retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// End of each interval, in microseconds since the start of the run.
    pub at_us: Vec<u64>,
    /// Goodput of each interval in bit/s.
    pub interval_bps: Vec<u64>,
}

/// What a simulated transfer reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedTransfer {
    /// Payload per second over the whole time, all streams together.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// The same once the start is over.
    #[serde(rename = "steady_bps")]
    pub steady: DataRate,
    /// What limits it.
    pub limit: Bound,
    /// The same in words, with its size.
    pub because: String,
    /// Segments that were retransmitted in what was simulated.
    pub retransmits: PacketCount,
    /// How much of the time was simulated; the rest is taken to go on as the end of that.
    #[serde(rename = "simulated_us", with = "units::duration::as_us")]
    pub simulated: Duration,
    /// Whether the permitted work ended first: the prediction is of the beginning alone.
    pub is_cut: bool,
    /// End of each interval, in microseconds since the connection stood.
    pub at_us: Vec<u64>,
    /// Goodput of each interval in bit/s.
    pub interval_bps: Vec<u64>,
    /// Smoothed RTT of the first stream at the end of each interval.
    pub rtt_us: Vec<u64>,
    /// Congestion window of the first stream at the end of each interval.
    pub cwnd_bytes: Vec<u64>,
}

impl MeasuredTransfer {
    pub(super) fn of(case: &Case<'_>, samples: &RunSamples) -> Self {
        let total = case.total;
        let step = (total.elapsed / MOST_INTERVALS).max(SHORTEST_INTERVAL);
        let sampled =
            Timeline::new(&samples.streams, total.heading).map(|timeline| timeline.intervals(step, total.elapsed));
        let stored = || {
            let intervals = case.measurement.intervals.iter();
            intervals.filter(|interval| interval.heading == total.heading).cloned().collect()
        };
        let intervals = sampled.unwrap_or_else(stored);
        Self {
            goodput: total.goodput,
            retransmits: total.retransmits,
            at_us: intervals.iter().map(|interval| units::duration::micros(interval.end)).collect(),
            interval_bps: intervals.iter().map(|interval| interval.rate.bps()).collect(),
        }
    }
}

impl PredictedTransfer {
    pub(super) fn of(inputs: &Inputs) -> Result<Self, SourceError> {
        let Progress { reckoned, points, retransmits, is_cut } =
            Progress::of(inputs, MOST_STEPS).map_err(|error| unpredictable(&error))?;
        Ok(Self {
            goodput: reckoned.goodput,
            steady: reckoned.steady,
            limit: reckoned.bound,
            because: words::because(reckoned.bound, inputs),
            retransmits,
            simulated: reckoned.simulated,
            is_cut,
            at_us: points.iter().map(|point| units::duration::micros(point.at)).collect(),
            interval_bps: points.iter().map(|point| point.goodput.bps()).collect(),
            rtt_us: points.iter().map(|point| units::duration::micros(point.rtt)).collect(),
            cwnd_bytes: points.iter().map(|point| point.cwnd.get()).collect(),
        })
    }
}

/// About a second of one core in an optimised build.
const MOST_STEPS: u64 = 12_000_000;
/// More would not be seen in a picture.
const MOST_INTERVALS: u32 = 200;
/// Shorter intervals show the rhythm of samples, and not that of the transfer.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);
