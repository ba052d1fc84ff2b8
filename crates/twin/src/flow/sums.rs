//! Totals of a direction, its intervals, and whether its rate settled.

use std::time::Duration;

use model::measurement::End;
use model::measurement::{DatagramCounts, DirectionTotal, Flow, Interval, SteadyState};
use model::series::StreamSamples;
use model::series::field::Field;
use stats::steady::{Steady, detect};
use units::{ByteCount, DataRate, PacketCount};

use super::Direction;
use crate::convert::micros;

/// The sums of a direction whose path has this round trip.
pub(super) fn total(direction: &Direction, round_trip: Option<Duration>) -> DirectionTotal {
    let sum = |of: fn(&Flow) -> Option<ByteCount>| direction.flows.iter().map(of).sum::<Option<ByteCount>>();
    let (sent, received) = (sum(|flow| flow.sent), sum(|flow| flow.received));
    let moved = received.or(sent).unwrap_or_default();
    let retransmits: Option<PacketCount> = direction.flows.iter().map(|flow| flow.retransmits).sum();
    DirectionTotal {
        heading: direction.heading,
        sent,
        received,
        elapsed: direction.elapsed,
        goodput: DataRate::of(moved, direction.elapsed).unwrap_or_default(),
        retransmits,
        datagrams: datagrams(&direction.flows),
        steady: steady(direction, round_trip),
    }
}

fn datagrams(flows: &[Flow]) -> Option<DatagramCounts> {
    let counts: Vec<DatagramCounts> = flows.iter().filter_map(|flow| flow.datagrams).collect();
    let streams = u32::try_from(counts.len()).ok().filter(|streams| *streams > 0)?;
    let sum = |part: fn(&DatagramCounts) -> PacketCount| counts.iter().map(part).sum();
    Some(DatagramCounts {
        sent: sum(|count| count.sent),
        received: sum(|count| count.received),
        lost: sum(|count| count.lost),
        lost_at_tail: sum(|count| count.lost_at_tail),
        reordered: sum(|count| count.reordered),
        duplicated: sum(|count| count.duplicated),
        dropped_at_socket: counts.iter().map(|count| count.dropped_at_socket).sum(),
        jitter: counts.iter().map(|count| count.jitter).sum::<Duration>() / streams,
    })
}

/// In steps no shorter than a round trip, as a live test looks for it.
fn steady(direction: &Direction, round_trip: Option<Duration>) -> SteadyState {
    const STEPS: u32 = 100;
    let shortest = round_trip.unwrap_or_default().max(Duration::from_millis(10));
    let step = (direction.elapsed / STEPS).max(shortest);
    let count = u32::try_from(direction.elapsed.as_nanos() / step.as_nanos().max(1)).unwrap_or(0);
    let edges: Vec<u64> = (0..=count).map(|edge| received_by(direction, step * edge)).collect();
    let steps: Vec<ByteCount> = edges.windows(2).map(|edge| ByteCount::new(edge[1].saturating_sub(edge[0]))).collect();
    match detect(&steps) {
        Steady::NotReached(_) => SteadyState::NotReached,
        Steady::From(first) => {
            let ramp_up = step * u32::try_from(first).unwrap_or(u32::MAX);
            let all = received_by(direction, direction.elapsed);
            let bytes = all.saturating_sub(received_by(direction, ramp_up));
            let time = direction.elapsed.saturating_sub(ramp_up);
            let goodput = DataRate::of(ByteCount::new(bytes), time).unwrap_or_default();
            SteadyState::Reached { ramp_up, goodput }
        }
    }
}

/// Payload that had come by an instant, on the straight line between two samples.
fn received_by(direction: &Direction, at: Duration) -> u64 {
    let points = &direction.received;
    let after = points.partition_point(|(when, _)| *when <= at);
    let before = after.checked_sub(1).map_or((Duration::ZERO, 0), |index| (points[index].0, points[index].1.get()));
    let Some(next) = points.get(after) else { return before.1 };
    let span = (next.0 - before.0).as_nanos().max(1);
    let part = u128::from(next.1.get().saturating_sub(before.1)) * at.saturating_sub(before.0).as_nanos() / span;
    before.1 + u64::try_from(part).unwrap_or(0)
}

/// The direction in steps of `length`; the last may be shorter, but not shorter than a tenth.
pub(super) fn intervals(direction: &Direction, length: Duration) -> Vec<Interval> {
    let (length, end) = (length.max(Duration::from_millis(1)), direction.elapsed);
    let mut intervals = Vec::new();
    let mut from = Duration::ZERO;
    while from < end {
        let mut to = (from + length).min(end);
        if end - to < length / 10 {
            to = end;
        }
        let bytes = ByteCount::new(received_by(direction, to).saturating_sub(received_by(direction, from)));
        let senders = || direction.samples.iter().filter(|samples| samples.end == End::Sender);
        let receivers = || direction.samples.iter().filter(|samples| samples.end == End::Receiver);
        intervals.push(Interval {
            start: from,
            end: to,
            heading: direction.heading,
            bytes,
            rate: DataRate::of(bytes, to - from).unwrap_or_default(),
            retransmits: growth(senders(), Field::TotalRetrans, from, to),
            rtt: mean(senders(), Field::Rtt, to).map(Duration::from_micros),
            cwnd: windows(senders(), to),
            lost: growth(receivers(), Field::AppLost, from, to),
            datagrams: growth(receivers(), Field::AppPackets, from, to),
        });
        from = to;
    }
    intervals
}

fn value(samples: &StreamSamples, field: Field, at: Duration) -> Option<u64> {
    let after = samples.at_us.partition_point(|when| *when <= micros(at));
    samples.column(field)?.get(after.checked_sub(1)?).copied()
}

fn growth<'a>(
    streams: impl Iterator<Item = &'a StreamSamples>,
    field: Field,
    from: Duration,
    to: Duration,
) -> Option<PacketCount> {
    let grown: Option<Vec<u64>> = streams
        .map(|samples| Some(value(samples, field, to)?.saturating_sub(value(samples, field, from).unwrap_or(0))))
        .collect();
    grown.filter(|grown| !grown.is_empty()).map(|grown| PacketCount::new(grown.iter().sum()))
}

fn mean<'a>(streams: impl Iterator<Item = &'a StreamSamples>, field: Field, at: Duration) -> Option<u64> {
    let values: Vec<u64> = streams.filter_map(|samples| value(samples, field, at)).collect();
    values.iter().sum::<u64>().checked_div(values.len() as u64)
}

fn windows<'a>(streams: impl Iterator<Item = &'a StreamSamples>, at: Duration) -> Option<ByteCount> {
    let windows: Option<Vec<u64>> =
        streams.map(|samples| Some(value(samples, Field::SndCwnd, at)? * value(samples, Field::SndMss, at)?)).collect();
    windows.filter(|windows| !windows.is_empty()).map(|windows| ByteCount::new(windows.iter().sum()))
}
