//! Sockets of `ss -ti` as evidence of a transfer: of a test that is there as well, or as a run of their own.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{DirectionTotal, End, Flow, Heading, Latency, Measurement, RttSummary, SteadyState, Whose};
use model::run::{Outcome, Peer, RunId};
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use model::spec::Limit;
use units::{ByteCount, DataRate, PacketCount, WallTime};

use super::declared::UserFacts;
use super::evidence::Socket;
use super::merge::Stored;
use super::seen::Seen;

/// Adds what a socket shows to the test whose connection it is; whether it was.
pub(crate) fn complete(found: &mut Measurement, socket: &Socket) -> bool {
    if socket.local.is_empty() || socket.peer.is_empty() {
        return false;
    }
    let mut flows = found.flows.iter_mut();
    let Some(flow) = flows.find(|flow| {
        (flow.local_address == socket.local && flow.peer_address == socket.peer)
            || (flow.local_address == socket.peer && flow.peer_address == socket.local)
    }) else {
        return false;
    };
    flow.mss = value(socket, Field::SndMss).and_then(|mss| u32::try_from(mss).ok()).or(flow.mss);
    flow.congestion_control = socket.congestion_control.clone().or(flow.congestion_control.take());
    if found.latency.is_none() {
        found.latency = latency(socket);
    }
    true
}

/// The least RTT is that of the idle path, as near as the socket came to it.
fn latency(socket: &Socket) -> Option<Latency> {
    let summary = |field| {
        let micros = value(socket, field)?;
        Some(RttSummary {
            min_us: Some(micros),
            median_us: Some(micros),
            max_us: Some(micros),
            sent: PacketCount::new(1),
            ..RttSummary::default()
        })
    };
    let (idle, loaded) = (summary(Field::MinRtt), summary(Field::Rtt));
    (idle.is_some() || loaded.is_some()).then_some(Latency { idle, loaded, packet_times: None })
}

/// A socket that has sent a good part of its time, as a run: what it delivered over the time in which it had data to send.
/// One that was idle or young says nothing of a path's rate.
pub(crate) fn run(socket: &Socket, id: RunId, at: WallTime, host: Option<&str>, facts: &UserFacts) -> Option<Stored> {
    let busy = Duration::from_micros(value(socket, Field::BusyTime)?);
    let acked = value(socket, Field::BytesAcked).filter(|bytes| *bytes >= LEAST_BYTES && busy >= LEAST_TIME)?;
    if is_interactive(socket) {
        return None;
    }
    let bytes = ByteCount::new(acked);
    let heading = Heading::Outbound;
    let retransmits = value(socket, Field::TotalRetrans).unwrap_or(0);
    let goodput = DataRate::of(bytes, busy)?;
    // A rate that doubles in every RTT has become any other by then: what the socket got is no matter of its start.
    let has_settled = value(socket, Field::SndSsthresh).is_some()
        || value(socket, Field::MinRtt)
            .is_some_and(|rtt| busy >= Duration::from_micros(rtt).saturating_mul(SLOW_START));
    let steady =
        if has_settled { SteadyState::Reached { ramp_up: Duration::ZERO, goodput } } else { SteadyState::NotReached };
    let flow = Flow {
        stream: 1,
        heading,
        local_address: socket.local.clone(),
        peer_address: socket.peer.clone(),
        mss: value(socket, Field::SndMss).and_then(|mss| u32::try_from(mss).ok()),
        congestion_control: socket.congestion_control.clone(),
        sent_by: None,
        copy_fallback: None,
        received_by: None,
        sent: value(socket, Field::BytesSent).map(ByteCount::new).or(Some(bytes)),
        received: Some(bytes),
        retransmits: Some(PacketCount::new(retransmits)),
        datagrams: None,
    };
    let total = DirectionTotal {
        heading,
        sent: flow.sent,
        received: flow.received,
        elapsed: busy,
        goodput,
        retransmits: flow.retransmits,
        datagrams: None,
        steady,
    };
    let measurement = Measurement {
        totals: vec![total],
        flows: vec![flow],
        latency: latency(socket),
        anomalies: vec!["a socket of ss: its rate is the data acknowledged over the time with data to send".to_owned()],
        ..Measurement::default()
    };
    let target = if socket.peer.is_empty() { "the other host".to_owned() } else { socket.peer.clone() };
    let seen = Seen {
        id,
        at,
        limit: Limit::Time(busy),
        local: HostIdentity { name: host.map(str::to_owned), ..HostIdentity::default() },
        peer: Peer {
            target,
            address: Some(socket.peer.clone()).filter(|peer| !peer.is_empty()),
            host: HostIdentity::default(),
        },
        outcome: Outcome::Complete,
        measurement,
    };
    let columns = socket.fields.iter().map(|known| Column { field: known.field, values: vec![known.value] }).collect();
    let at_us = vec![i64::try_from(busy.as_micros()).unwrap_or(i64::MAX)];
    let stream = StreamSamples { stream: 1, heading, end: end_of(heading), whose: Whose::Local, at_us, columns };
    Some((seen.into_run(facts), RunSamples { streams: vec![stream], ..RunSamples::default() }))
}

/// Whether its segments are half empty on average: a person types, or a program answers, and no path is filled.
fn is_interactive(socket: &Socket) -> bool {
    let segments = value(socket, Field::DataSegsOut).filter(|segments| *segments > 0);
    let (Some(sent), Some(segments), Some(mss)) =
        (value(socket, Field::BytesSent), segments, value(socket, Field::SndMss))
    else {
        return false;
    };
    (sent / segments).saturating_mul(2) < mss
}

/// Less than a slow start moves.
const LEAST_BYTES: u64 = 1_000_000;
const LEAST_TIME: Duration = Duration::from_millis(500);
/// RTTs of slow start from ten segments to more than any path holds.
const SLOW_START: u32 = 20;

/// Whether a field belongs to the end of a flow that a socket is.
pub(crate) const fn end_of(heading: Heading) -> End {
    match heading {
        Heading::Outbound => End::Sender,
        Heading::Inbound => End::Receiver,
    }
}

/// The value of a field of a socket.
pub(crate) fn value(socket: &Socket, field: Field) -> Option<u64> {
    socket.fields.iter().find(|known| known.field == field).map(|known| known.value)
}
