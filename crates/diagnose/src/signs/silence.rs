//! Whether there was one time in which nothing of a flow got through, while it did well before and after.

use model::measurement::{DirectionTotal, Interval, Measurement};
use units::DataRate;

use super::Observation;
use super::flow::{Flow, FlowKind};
use crate::silence::{SentSegments, Silence};

/// What the intervals of a flow say: nothing where they are too few, or where nobody knows why nothing arrived.
pub(super) fn silence(flow: &Flow, measurement: &Measurement, total: &DirectionTotal) -> Option<Observation> {
    let intervals = Silence::since_start(measurement, total.heading);
    if intervals.len() < FEWEST {
        return None;
    }
    let found = match flow.kind {
        FlowKind::Udp => Silence::of_datagrams(&intervals),
        FlowKind::Tcp | FlowKind::Http | FlowKind::Echo => Silence::only(&intervals, flow.rtt),
    };
    let Some(silence) = found else {
        let is_steady = intervals.iter().all(|of| of.bytes.get() > 0);
        return is_steady.then(|| Observation::of("silence", "none", "something of it arrived in each interval"))?;
    };
    let is_unanswered = match flow.kind {
        FlowKind::Tcp => silence.is_unanswered(SentSegments {
            payload: flow.shape.payload.unwrap_or(LARGEST),
            streams: flow.shape.streams,
        }),
        FlowKind::Udp => lost_as_long(flow, &silence, total),
        FlowKind::Http | FlowKind::Echo => false,
    };
    let (began, lasted) = (silence.began().as_secs_f64(), silence.lasted().as_secs_f64());
    let says = format!("nothing of it got through for {lasted:.1} s, from {began:.1} s on");
    let others: Vec<&Interval> = intervals.iter().copied().filter(|of| !silence.has(of)).collect();
    (is_unanswered && was_well(flow, &others)).then(|| Observation::of("silence", "once", says))?
}

/// Whether as large a part of its datagrams was lost as the part of the time that the silence lasted.
fn lost_as_long(flow: &Flow, silence: &Silence<'_>, total: &DirectionTotal) -> bool {
    let part = silence.lasted().as_secs_f64() / total.elapsed.as_secs_f64().max(1e-6);
    flow.lost.is_some_and(|lost| (part * LEAST..=part * MOST).contains(&lost))
}

/// Whether it did what it should for most of the time in which something arrived.
fn was_well(flow: &Flow, intervals: &[&Interval]) -> bool {
    let mut rates: Vec<DataRate> = intervals.iter().filter(|of| of.bytes.get() > 0).map(|of| of.rate).collect();
    rates.sort_unstable();
    let Some(typical) = rates.get(rates.len() / 2) else { return false };
    // Something else may hold it all the time: then it is as fast after the silence as before.
    let slow = rates.len() / 4;
    if rates.len() >= FEWEST && rates[slow].share_of(*typical).is_some_and(|part| part >= ALIKE) {
        return true;
    }
    flow.target.as_ref().and_then(|target| target.part(*typical, flow.shape.payload)).is_none_or(|part| part >= WELL)
}

/// Fewer intervals show no course.
const FEWEST: usize = 4;
/// The payload of a segment, where it is not known.
const LARGEST: u32 = 8_960;
/// Of the slower quarter of the intervals, in parts of the median: the first and the last one are cut.
const ALIKE: f64 = 0.8;
/// In parts of the target.
const WELL: f64 = 0.5;
/// A silence is as long as its intervals, and the link was down for up to one of them less or two more.
const LEAST: f64 = 0.6;
const MOST: f64 = 2.0;
