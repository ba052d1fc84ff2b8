//! A watched transfer as a run with samples: what the waterfall, the expectation and `why` read.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{
    DirectionTotal, End, Flow, Heading, Interval, Latency, Measurement, RttSummary, SteadyState, Whose,
};
use model::run::{Declared, Outcome, Peer, Role, Run};
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use model::spec::{Direction, Limit, TestSpec};
use model::transfer::Transfer;
use units::{ByteCount, DataRate};

use super::reading::FIELDS;
use super::series::Sample;
use super::span::Span;

/// The samples of a transfer at this host's end, in columns. A connection whose start was seen begins with a row of its
/// counters at zero: they count from there.
#[must_use]
pub(super) fn samples(span: &Span) -> RunSamples {
    let Some(first) = span.samples.first() else { return RunSamples::default() };
    let starts = span.start_within.is_some() && first.reading.at > span.start;
    let at = |sample: &Sample| i64::try_from(sample.reading.at.since(span.start).as_micros()).unwrap_or(i64::MAX);
    let mut at_us: Vec<i64> = span.samples.iter().map(at).collect();
    if starts {
        at_us.insert(0, 0);
    }
    let column = |field: Field, value: &dyn Fn(&Sample) -> Option<u64>| {
        let mut known = None;
        // What a last word does not have is as it was at the look before.
        let mut carried = |sample| {
            known = value(sample).or(known);
            known
        };
        let mut values = span.samples.iter().map(&mut carried).collect::<Option<Vec<u64>>>()?;
        if starts {
            let zero = if COUNTERS.contains(&field) { 0 } else { values.first().copied().unwrap_or(0) };
            values.insert(0, zero);
        }
        Some(Column { field, values })
    };
    let of_kernel = FIELDS.iter().filter_map(|&field| column(field, &|sample| sample.reading.get(field)));
    let of_program = column(Field::AppBytes, &|sample| {
        Some(match span.heading {
            Heading::Outbound => sample.reading.handed_over(),
            Heading::Inbound => sample.reading.received().saturating_sub(sample.unread),
        })
    });
    let stream = StreamSamples {
        stream: 1,
        heading: span.heading,
        end: if span.heading == Heading::Outbound { End::Sender } else { End::Receiver },
        whose: Whose::Local,
        at_us,
        columns: of_kernel.chain(of_program).collect(),
    };
    RunSamples { streams: vec![stream], ..RunSamples::default() }
}

/// A transfer as a run: one TCP stream of so many bytes that nobody asked for.
#[must_use]
pub fn run(transfer: &Transfer, samples: &RunSamples) -> Run {
    let watched = transfer.moved().saturating_sub(transfer.before_watch);
    let outbound = transfer.heading == Heading::Outbound;
    let peer = transfer.peer.to_string();
    let flow = Flow {
        stream: 1,
        heading: transfer.heading,
        local_address: transfer.local.to_string(),
        peer_address: peer.clone(),
        mss: transfer.mss,
        congestion_control: transfer.congestion_control.clone(),
        sent_by: None,
        copy_fallback: None,
        received_by: None,
        sent: outbound.then_some(watched),
        received: Some(watched),
        retransmits: outbound.then_some(transfer.retransmits),
        datagrams: None,
    };
    let total = DirectionTotal {
        heading: transfer.heading,
        sent: flow.sent,
        received: flow.received,
        elapsed: transfer.active,
        goodput: transfer.goodput,
        retransmits: flow.retransmits,
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    let idle =
        transfer.min_rtt.map(|rtt| RttSummary { min_us: Some(units::duration::micros(rtt)), ..RttSummary::default() });
    let measurement = Measurement {
        totals: vec![total],
        flows: vec![flow],
        intervals: intervals(transfer, samples),
        latency: idle.map(|idle| Latency { idle: Some(idle), ..Latency::default() }),
        ..Measurement::default()
    };
    Run {
        format: Run::FORMAT,
        id: transfer.id,
        started: transfer.started,
        role: if outbound { Role::Client } else { Role::Server },
        command: vec!["linerate".to_owned(), "watch".to_owned(), "flows".to_owned()],
        spec: TestSpec {
            direction: Direction::Forward,
            limit: Limit::Bytes(watched),
            sample_every: transfer.sample_every,
            probe_every: Duration::ZERO,
            ..TestSpec::default()
        },
        declared_line_rate: transfer.declared_line_rate,
        declared: Declared::default(),
        batch: None,
        local: transfer.host.clone(),
        peer: Peer { target: transfer.peer.ip().to_string(), address: Some(peer), host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Some(measurement),
    }
}

/// The rate from sample to sample, for pictures and tables.
fn intervals(transfer: &Transfer, samples: &RunSamples) -> Vec<Interval> {
    let field = match transfer.heading {
        Heading::Outbound => Field::BytesAcked,
        Heading::Inbound => Field::BytesReceived,
    };
    let Some(stream) = samples.streams.first() else { return Vec::new() };
    let Some(bytes) = stream.column(field) else { return Vec::new() };
    let again = stream.column(Field::TotalRetrans);
    let pairs = stream.at_us.windows(2).enumerate();
    let step = |(number, pair): (usize, &[i64])| {
        let time = |at: &i64| Duration::from_micros(u64::try_from(*at).unwrap_or(0));
        let (start, end) = (pair.first().map(time)?, pair.last().map(time)?);
        let grown = |values: &[u64]| Some(values.get(number + 1)?.saturating_sub(*values.get(number)?));
        let moved = ByteCount::new(grown(bytes)?);
        Some(Interval {
            start,
            end,
            heading: transfer.heading,
            bytes: moved,
            rate: DataRate::of(moved, end.saturating_sub(start)).unwrap_or(DataRate::ZERO),
            retransmits: again.and_then(grown).map(units::PacketCount::new),
            rtt: stream.column(Field::Rtt).and_then(|rtt| rtt.get(number + 1)).copied().map(Duration::from_micros),
            cwnd: None,
            lost: None,
            datagrams: None,
        })
    };
    pairs.filter_map(step).collect()
}

/// What grows from zero with the connection.
const COUNTERS: [Field; 12] = [
    Field::AppBytes,
    Field::BytesAcked,
    Field::BytesReceived,
    Field::BytesSent,
    Field::BytesRetrans,
    Field::BusyTime,
    Field::RwndLimited,
    Field::SndbufLimited,
    Field::TotalRetrans,
    Field::Delivered,
    Field::DataSegsIn,
    Field::Unacked,
];
