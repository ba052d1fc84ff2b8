//! Sums for each direction, and when the rate settled.

use std::time::Duration;

use model::measurement::{DatagramCounts, DirectionTotal, Heading, SteadyState};
use stats::steady::{Steady, detect};
use units::{ByteCount, DataRate, PacketCount};

use crate::PeerTime;
use crate::flows::TwoEnds;
use crate::timeline::Timeline;
use wire::extension::FlowReport;

/// What the sums of a direction are made of besides its flows.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Its payload over time, where there are samples.
    pub timeline: Option<&'a Timeline<'a>>,
    /// The peer's clock, where it is known.
    pub peer_time: Option<PeerTime>,
    /// From our start to the end of our part, for a peer that tells no times.
    pub our_time: Duration,
    /// The round-trip time, where it is known: no step of the rate is shorter.
    pub round_trip: Option<Duration>,
    /// Payload that the peer's kernel acknowledged, where ours tells.
    pub acknowledged: Option<ByteCount>,
}

/// The sums of one direction; `None` where it has no stream.
#[must_use]
pub fn total(flows: &[TwoEnds], heading: Heading, frame: Frame<'_>) -> Option<DirectionTotal> {
    let flows: Vec<&TwoEnds> = flows.iter().filter(|flow| flow.heading == heading).collect();
    if flows.is_empty() {
        return None;
    }
    let sum = |end: fn(&TwoEnds) -> Option<&FlowReport>| -> Option<ByteCount> {
        flows.iter().map(|flow| end(flow).map(|end| ByteCount::new(end.bytes))).sum()
    };
    let (sent, received) = (sum(TwoEnds::sender), sum(TwoEnds::receiver));
    let elapsed = elapsed(&flows, heading, frame);
    // What lies in the send buffer when a test is cut short was sent, and has not arrived.
    let arrived = sent.map(|sent| frame.acknowledged.map_or(sent, |acknowledged| acknowledged.min(sent)));
    let moved = received.or(arrived).unwrap_or_default();
    Some(DirectionTotal {
        heading,
        sent,
        received,
        elapsed,
        goodput: DataRate::of(moved, elapsed).unwrap_or_default(),
        retransmits: flows.iter().map(|flow| flow.sender()?.retransmits.map(PacketCount::new)).sum(),
        datagrams: datagrams(&flows),
        steady: match frame.timeline {
            None => SteadyState::NotReached,
            Some(timeline) if timeline.is_as_sent() && misses(sent, received) => SteadyState::NotCounted,
            Some(timeline) => steady(timeline, elapsed, frame.round_trip),
        },
    })
}

/// Whether more than a hundredth of what was sent is not known to have arrived: then a rate of sending is no goodput. Less of
/// it is within what a test loses at its end.
fn misses(sent: Option<ByteCount>, received: Option<ByteCount>) -> bool {
    let (sent, received) = (sent.unwrap_or_default().get(), received.unwrap_or_default().get());
    sent.saturating_sub(received) > sent / 100
}

/// From the sender's start to the receiver's last byte.
fn elapsed(flows: &[&TwoEnds], heading: Heading, frame: Frame<'_>) -> Duration {
    let last_byte = flows.iter().filter_map(|flow| Some(flow.receiver()?.elapsed_us)).max();
    let ours = match (heading, last_byte, frame.peer_time) {
        (Heading::Outbound, Some(last), Some(peer)) => peer.from_peer_us(i64::try_from(last).unwrap_or(i64::MAX)),
        (Heading::Inbound, Some(last), peer) => {
            let sender_started = peer.map_or(0, |peer| peer.peer_start_ns() / 1_000);
            i64::try_from(last).unwrap_or(i64::MAX).saturating_sub(sender_started)
        }
        _ => 0,
    };
    match u64::try_from(ours) {
        Ok(micros) if micros > 0 => Duration::from_micros(micros),
        _ => frame.our_time,
    }
}

fn datagrams(flows: &[&TwoEnds]) -> Option<DatagramCounts> {
    let counts: Vec<DatagramCounts> = flows.iter().filter_map(|flow| flow.flow().datagrams).collect();
    let jitters: Duration = counts.iter().map(|count| count.jitter).sum();
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
        jitter: jitters / streams,
    })
}

/// Where the ramp-up ends, in steps that are no shorter than a round trip.
fn steady(timeline: &Timeline<'_>, elapsed: Duration, round_trip: Option<Duration>) -> SteadyState {
    const STEPS: u32 = 100;
    let step = (elapsed / STEPS).max(round_trip.unwrap_or_default()).max(Duration::from_millis(10));
    let step_us = i64::try_from(step.as_micros()).unwrap_or(i64::MAX);
    let end_us = i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX).min(timeline.end_us());
    let steps = timeline.steps(step_us, end_us);
    match detect(&steps) {
        Steady::NotReached(_) => SteadyState::NotReached,
        Steady::From(first) => {
            let bytes: ByteCount = steps[first..].iter().copied().sum();
            let count = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
            SteadyState::Reached {
                ramp_up: step * count(first),
                goodput: DataRate::of(bytes, step * count(steps.len() - first)).unwrap_or_default(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::measurement::{ClockRelation, End, Whose};
    use model::series::field::Field;
    use model::series::{Column, StreamSamples};
    use units::MonoTime;

    use super::*;

    fn flow(heading: Heading, local: FlowReport, peer: Option<FlowReport>) -> TwoEnds {
        TwoEnds { stream: 1, heading, local_address: String::new(), peer_address: String::new(), local, peer }
    }

    fn end(bytes: u64, elapsed_us: u64) -> FlowReport {
        FlowReport { bytes, elapsed_us, ..FlowReport::default() }
    }

    fn frame(peer_start: u64) -> Frame<'static> {
        let relation = ClockRelation { offset_ns: 0, uncertainty_ns: 0, drift_ppb: None, exchanges: 1 };
        let peer_time = PeerTime {
            relation,
            peer_start: MonoTime::from_nanos(peer_start),
            local_start: MonoTime::from_nanos(1_000_000_000),
        };
        Frame {
            timeline: None,
            peer_time: Some(peer_time),
            our_time: Duration::from_secs(9),
            round_trip: None,
            acknowledged: None,
        }
    }

    #[test]
    fn completion_is_the_receivers_last_byte_from_the_senders_start() {
        // The peer started 100 ms before us, since its word took that long to arrive.
        let frame = frame(900_000_000);
        let outbound = flow(Heading::Outbound, end(1_000, 50_000), Some(end(1_000, 400_000)));
        assert_eq!(total(&[outbound], Heading::Outbound, frame).unwrap().elapsed, Duration::from_millis(300));
        let inbound = flow(Heading::Inbound, end(1_000, 300_000), Some(end(1_000, 50_000)));
        assert_eq!(total(&[inbound], Heading::Inbound, frame).unwrap().elapsed, Duration::from_millis(400));
    }

    #[test]
    fn a_rate_of_which_a_part_was_lost_is_no_steady_goodput() {
        let at_us: Vec<i64> = (0..=100).map(|step| step * 10_000).collect();
        let sent = at_us.iter().map(|at| u64::try_from(*at).unwrap()).collect();
        let samples = [StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Sender,
            whose: Whose::Local,
            at_us,
            columns: vec![Column { field: Field::AppBytes, values: sent }],
        }];
        let timeline = Timeline::new(&samples, Heading::Outbound).unwrap();
        let frame = Frame { timeline: Some(&timeline), our_time: Duration::from_secs(1), ..frame(1_000_000_000) };
        let of = |received| {
            let flow = flow(Heading::Outbound, end(1_000_000, 1_000_000), Some(end(received, 1_000_000)));
            total(&[flow], Heading::Outbound, frame).unwrap().steady
        };
        assert_eq!(of(800_000), SteadyState::NotCounted);
        assert!(matches!(of(1_000_000), SteadyState::Reached { .. }));
    }

    #[test]
    fn a_silent_receiver_leaves_only_what_was_sent() {
        let one_sided = flow(Heading::Outbound, end(9_000, 50_000), None);
        let total = total(&[one_sided], Heading::Outbound, frame(1_000_000_000)).unwrap();
        assert_eq!(total.received, None);
        assert_eq!(total.goodput, DataRate::from_bps(8_000));
    }

    #[test]
    fn what_a_silent_receiver_acknowledged_is_the_goodput() {
        let of = |acknowledged| {
            let one_sided = flow(Heading::Outbound, end(9_000, 50_000), None);
            let frame = Frame { acknowledged: Some(ByteCount::new(acknowledged)), ..frame(1_000_000_000) };
            total(&[one_sided], Heading::Outbound, frame).unwrap()
        };
        assert_eq!(of(4_500).goodput, DataRate::from_bps(4_000), "half of it was still in the send buffer");
        assert_eq!(of(4_500).sent, Some(ByteCount::new(9_000)));
        // Acknowledgements of what was omitted, or of a handshake, are of no more than was sent.
        assert_eq!(of(90_000).goodput, DataRate::from_bps(8_000));
    }
}
