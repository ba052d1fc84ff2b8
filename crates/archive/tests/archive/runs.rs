//! Runs to store.

use std::collections::BTreeMap;
use std::time::Duration;

use model::counters::{CounterReadings, Reading};
use model::host::HostIdentity;
use model::measurement::{
    CpuUse, DirectionTotal, End, Heading, Interval, Latency, Measurement, RttSummary, SteadyState, Whose,
};
use model::run::{Failure, FailureKind, Outcome, Peer, Role, Run, RunId};
use model::series::field::Field;
use model::series::packed::three_digits;
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};
use model::spec::TestSpec;
use proptest::prelude::*;
use units::{ByteCount, DataRate, PacketCount, WallTime};

/// What `make soak` changes from one time to the next (`LINERATE_SEED`); 0 in the ordinary tests.
pub(crate) fn seed() -> u64 {
    std::env::var("LINERATE_SEED").map_or(0, |text| text.parse().unwrap())
}

/// A complete run of a client, `seconds` after the start of 2026.
pub(crate) fn at(seconds: u64) -> Run {
    let started = WallTime::from_unix_nanos((1_767_225_600 + seconds) * 1_000_000_000);
    Run {
        format: Run::FORMAT,
        id: RunId::new(started, u128::from(seconds)),
        started,
        role: Role::Client,
        command: ["linerate", "test", "dtn2"].map(str::to_owned).into(),
        spec: TestSpec::default(),
        declared_line_rate: None,
        declared: model::run::Declared::default(),
        batch: None,
        local: HostIdentity::default(),
        peer: Peer { target: "dtn2".to_owned(), address: None, host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Some(Measurement { totals: vec![total(9_410_000_000)], ..Measurement::default() }),
    }
}

pub(crate) fn failed(mut run: Run) -> Run {
    run.outcome = Outcome::Failed(Failure { kind: FailureKind::Refused, detail: "the peer said no".to_owned() });
    run.measurement = None;
    run
}

/// Samples that differ from run to run.
pub(crate) fn samples(seed: u64) -> RunSamples {
    let rows = 200_u32;
    let stream = StreamSamples {
        stream: 1,
        heading: Heading::Outbound,
        end: End::Sender,
        whose: Whose::Local,
        at_us: (0..rows).map(|row| i64::from(row) * 10_000).collect(),
        columns: vec![
            Column { field: Field::Rtt, values: (0..u64::from(rows)).map(|row| 50_000 + (row * seed) % 977).collect() },
            Column { field: Field::SndMss, values: (0..rows).map(|_| 8948).collect() },
        ],
    };
    RunSamples { streams: vec![stream], probes: ProbeSamples::default() }
}

fn total(bps: u64) -> DirectionTotal {
    DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(ByteCount::new(1)),
        received: None,
        elapsed: Duration::from_micros(10_000_001),
        goodput: DataRate::from_bps(bps),
        retransmits: Some(PacketCount::new(bps % 1000)),
        datagrams: None,
        steady: SteadyState::NotReached,
    }
}

fn interval() -> impl Strategy<Value = Interval> {
    (any::<[u32; 4]>(), any::<[Option<u32>; 5]>()).prop_map(|([start, end, bytes, rate], known)| Interval {
        start: Duration::from_micros(start.into()),
        end: Duration::from_micros(end.into()),
        heading: Heading::Inbound,
        bytes: ByteCount::new(bytes.into()),
        rate: DataRate::from_bps(rate.into()),
        retransmits: known[0].map(|count| PacketCount::new(count.into())),
        rtt: known[1].map(|time| Duration::from_micros(time.into())),
        cwnd: known[2].map(|bytes| ByteCount::new(bytes.into())),
        lost: known[3].map(|count| PacketCount::new(count.into())),
        datagrams: known[4].map(|count| PacketCount::new(count.into())),
    })
}

fn measurement() -> impl Strategy<Value = Measurement> {
    let counters = prop::collection::btree_map("[A-Za-z.0-9:]{1,20}", any::<(u64, u64)>(), 0..20);
    let cpu = prop::option::of((0.0..64.0, 0.0..64.0).prop_map(|(user, system)| CpuUse { user, system }));
    let totals = prop::collection::vec(any::<u64>().prop_map(total), 0..3);
    (
        totals,
        prop::collection::vec(interval(), 0..5),
        counters,
        cpu,
        prop::option::of(any::<u64>()),
        any::<Vec<String>>(),
    )
        .prop_map(|(totals, intervals, counters, local_cpu, rtt, anomalies)| Measurement {
            totals,
            intervals,
            latency: rtt.map(|rtt| Latency {
                idle: Some(RttSummary { min_us: Some(rtt), ..RttSummary::default() }),
                ..Latency::default()
            }),
            local_counters: Some(CounterReadings {
                values: counters.into_iter().map(|(name, (before, after))| (name, Reading { before, after })).collect(),
                unreadable: BTreeMap::new(),
            }),
            local_cpu,
            anomalies,
            ..Measurement::default()
        })
}

/// Any run.
pub(crate) fn any_run() -> impl Strategy<Value = Run> {
    let outcome = prop_oneof![
        Just(Outcome::Complete),
        ".*".prop_map(|detail| Outcome::Failed(Failure { kind: FailureKind::Lost, detail })),
    ];
    let role = prop_oneof![Just(Role::Client), Just(Role::Server)];
    (0..1_u64 << 43, any::<u128>(), role, outcome, ".*", prop::option::of(measurement()), any::<Vec<String>>())
        .prop_map(|(ms, random, role, outcome, target, measurement, command)| {
            let started = WallTime::from_unix_nanos(ms * 1_000_000);
            Run {
                id: RunId::new(started, random),
                started,
                role,
                command,
                peer: Peer { target, address: None, host: HostIdentity::default() },
                outcome,
                measurement,
                ..at(0)
            }
        })
}

/// Any samples, with rates as they are stored.
pub(crate) fn any_samples() -> impl Strategy<Value = RunSamples> {
    let stream = (any::<u32>(), prop::collection::vec(any::<(i64, u64, u64)>(), 0..20)).prop_map(|(stream, rows)| {
        StreamSamples {
            stream,
            heading: Heading::Inbound,
            end: End::Receiver,
            whose: Whose::Peer,
            at_us: rows.iter().map(|row| row.0).collect(),
            columns: vec![
                Column { field: Field::BytesReceived, values: rows.iter().map(|row| row.1).collect() },
                Column { field: Field::PacingRate, values: rows.iter().map(|row| three_digits(row.2)).collect() },
            ],
        }
    });
    let probes = prop::collection::vec(any::<(i64, Option<u32>, Option<i32>)>(), 0..20).prop_map(|rows| ProbeSamples {
        sent_us: rows.iter().map(|row| row.0).collect(),
        rtt_us: rows.iter().map(|row| row.1).collect(),
        there_us: rows.iter().map(|row| row.2).collect(),
    });
    (prop::collection::vec(stream, 0..3), probes).prop_map(|(streams, probes)| RunSamples { streams, probes })
}
