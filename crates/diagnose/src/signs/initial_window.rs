//! With how large a window a transfer began, and what that cost it.

use std::time::Duration;

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;
use super::flow::{Complaint, Flow};

/// Adds it to a flow whose sender was looked at before an acknowledgement of its data can have come: from then on the window grows.
pub(super) fn add(flow: &mut Flow, senders: &[&StreamSamples], elapsed: Duration) {
    let Some(rtt) = flow.rtt else { return };
    let first = |stream: &&StreamSamples| {
        let at = Duration::from_micros((*stream.at_us.first()?).unsigned_abs());
        stream.column(Field::SndCwnd)?.first().copied().filter(|_| at < rtt)
    };
    let segments = senders.iter().filter_map(first).min().filter(|segments| *segments > 0);
    let Some(segments) = segments.and_then(|segments| u32::try_from(segments).ok()) else { return };
    let is_small = segments < USUAL;
    let state = if is_small { "small" } else { "usual" };
    let noun = if segments == 1 { "segment" } else { "segments" };
    let says = format!("its congestion window began with {segments} {noun}");
    flow.observations.extend(Observation::of("initial-window", state, says));
    if is_small && flow.complaint.is_none() {
        judge(flow, rtt.mul_f64((f64::from(USUAL) / f64::from(segments)).log2()), elapsed);
    }
}

/// A start is forgiven, but not that it was slower than it had to be: the window doubles in each round trip (RFC 5681 section 3.1), so
/// that each halving of the first one costs a round trip.
fn judge(flow: &mut Flow, cost: Duration, elapsed: Duration) {
    let part = cost.as_secs_f64() / elapsed.as_secs_f64().max(1e-6);
    if part >= MUCH {
        flow.complaint = Some(Complaint::Slow);
        flow.attained = flow.attained.map(|attained| attained.min(1.0 - part.min(1.0)));
    }
}

/// `TCP_INIT_CWND` (include/net/tcp.h; RFC 6928).
const USUAL: u32 = 10;
/// From this part of its time on a transfer is slow because of its start.
const MUCH: f64 = 0.2;
