//! Claims that hold for whatever a run may have recorded: sums are exact, nothing panics, what is missing is unknown.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::time::Duration;

use diagnose::balance::part::Certainty;
use diagnose::balance::{Balance, balance};
use diagnose::waterfall::cause::Cause;
use diagnose::waterfall::line::{LineRate, LineRateSource};
use diagnose::waterfall::{Waterfall, explain};
use model::counters::{CounterReadings, Reading};
use model::measurement::{
    ClockRelation, CpuUse, DatagramCounts, DirectionTotal, End, Heading, Measurement, SteadyState, Whose,
};
use model::run::Run;
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use model::spec::{Offload, Protocol, TestSpec};
use proptest::prelude::*;
use units::{ByteCount, DataRate, PacketCount};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn shares_add_up_to_the_gap_whatever_was_sampled(
        samples in samples(),
        measurement in measurement(),
        spec in spec(),
        rate in prop_oneof![Just(0), 1_u64..400_000_000_000, any::<u64>()],
    ) {
        let line_rate = LineRate { rate: DataRate::from_bps(rate), source: LineRateSource::Declared };
        let run = run(&spec, measurement);
        for waterfall in explain(&run, &samples, line_rate) {
            prop_assert_eq!(sum(&waterfall), u128::from(waterfall.gap.get()));
            for share in &waterfall.shares {
                let because: u128 = share.because.iter().map(|because| u128::from(because.bytes.get())).sum();
                prop_assert_eq!(because, u128::from(share.bytes.get()));
                prop_assert!((0.0..=1.0).contains(&share.part_of_line_rate));
            }
            prop_assert!(waterfall.facts.len() <= 3);
            prop_assert!(waterfall.losses.worst.windows(2).all(|pair| pair[0].lost >= pair[1].lost));
        }
    }

    #[test]
    fn without_samples_all_but_headers_is_unknown(measurement in measurement(), rate in 1_u64..400_000_000_000) {
        let line_rate = LineRate { rate: DataRate::from_bps(rate), source: LineRateSource::Nic };
        for waterfall in explain(&run(&TestSpec::default(), measurement), &RunSamples::default(), line_rate) {
            prop_assert_eq!(sum(&waterfall), u128::from(waterfall.gap.get()));
            let known = waterfall.bytes_of(Cause::ProtocolOverhead).get() + waterfall.bytes_of(Cause::Unknown).get();
            prop_assert_eq!(known, waterfall.gap.get());
        }
    }

    #[test]
    fn a_waterfall_can_be_stored_and_read_back(samples in samples(), measurement in measurement()) {
        let line_rate = LineRate { rate: DataRate::from_bps(10_000_000_000), source: LineRateSource::Nic };
        for waterfall in explain(&run(&TestSpec::default(), measurement), &samples, line_rate) {
            let text = serde_json::to_string(&waterfall).unwrap();
            prop_assert_eq!(serde_json::from_str::<Waterfall>(&text).unwrap(), waterfall);
        }
    }

    #[test]
    fn a_balance_adds_up_whatever_was_counted(
        counts in datagrams(),
        local in prop::option::of(counters()),
        peer in prop::option::of(counters()),
        offloads in any::<(bool, bool, bool)>(),
    ) {
        let offload = |on| if on { Offload::On } else { Offload::Off };
        let spec = TestSpec {
            protocol: Protocol::Udp,
            udp_gso: offload(offloads.0),
            udp_gro: offload(offloads.1),
            ..TestSpec::default()
        };
        let told = offloads.2.then_some(ByteCount::ZERO);
        let total = DirectionTotal { received: told, datagrams: Some(counts), ..total(Duration::from_secs(1), 0) };
        let measurement =
            Measurement { totals: vec![total], local_counters: local, peer_counters: peer, ..Measurement::default() };
        let balances = balance(&run(&spec, measurement));
        prop_assert_eq!(balances.len(), 1);
        for balance in balances {
            let behind = [&balance.lost_on_path, &balance.dropped_in_receiver].map(|part| part.packets.is_some());
            if told.is_some() {
                prop_assert_eq!(added_up(&balance), u128::from(balance.handed.get()));
                prop_assert!(behind[0]);
            } else {
                prop_assert_eq!(behind, [false; 2], "a receiver that reported nothing lost nothing that is known");
                prop_assert!(balance.dropped_in_sender.known() <= balance.handed.get());
            }
            for part in [&balance.dropped_in_sender, &balance.dropped_in_receiver] {
                prop_assert_eq!(part.packets.is_none(), part.certainty == Certainty::Unknown);
                prop_assert_eq!(part.packets.is_none() || part.certainty == Certainty::AtMost, part.because.is_some());
            }
            let text = serde_json::to_string(&balance).unwrap();
            prop_assert_eq!(serde_json::from_str::<Balance>(&text).unwrap(), balance);
        }
    }
}

fn sum(waterfall: &Waterfall) -> u128 {
    waterfall.shares.iter().map(|share| u128::from(share.bytes.get())).sum()
}

fn added_up(balance: &Balance) -> u128 {
    [&balance.dropped_in_sender, &balance.lost_on_path, &balance.dropped_in_receiver]
        .map(|part| u128::from(part.known()))
        .into_iter()
        .sum::<u128>()
        + u128::from(balance.received.get())
}

fn run(spec: &TestSpec, measurement: Measurement) -> Run {
    let run = serde_json::json!({
        "format": Run::FORMAT,
        "id": "00000000000000000000000000",
        "started_unix_ns": 0,
        "role": "client",
        "command": [],
        "spec": spec,
        "local": {},
        "peer": { "target": "peer" },
        "outcome": { "state": "complete" },
    });
    Run { measurement: Some(measurement), ..serde_json::from_value(run).unwrap() }
}

fn total(elapsed: Duration, bytes: u64) -> DirectionTotal {
    DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(ByteCount::new(bytes)),
        received: Some(ByteCount::new(bytes)),
        elapsed,
        goodput: DataRate::of(ByteCount::new(bytes), elapsed).unwrap_or_default(),
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotReached,
    }
}

fn measurement() -> impl Strategy<Value = Measurement> {
    let elapsed = prop_oneof![Just(0), 1_u64..200_000_000, any::<u64>()].prop_map(Duration::from_micros);
    let bytes = prop_oneof![0_u64..10_000_000_000, any::<u64>()];
    let cpu = prop::option::of((0.0..3.0, 0.0..3.0).prop_map(|(user, system)| CpuUse { user, system }));
    (elapsed, bytes, cpu.clone(), cpu, any::<bool>(), any::<bool>()).prop_map(
        |(elapsed, bytes, one, other, both, clock)| {
            let first = total(elapsed, bytes);
            let second = DirectionTotal { heading: Heading::Inbound, received: None, ..first.clone() };
            Measurement {
                totals: if both { vec![first, second] } else { vec![first] },
                local_cpu: one,
                peer_cpu: other,
                clock: clock.then_some(ClockRelation {
                    offset_ns: 0,
                    uncertainty_ns: 1,
                    drift_ppb: None,
                    exchanges: 1,
                }),
                ..Measurement::default()
            }
        },
    )
}

fn spec() -> impl Strategy<Value = TestSpec> {
    let rate = || prop::option::of(any::<u64>().prop_map(DataRate::from_bps));
    (rate(), rate(), 0_u16..5).prop_map(|(rate, pace, streams)| TestSpec { rate, pace, streams, ..TestSpec::default() })
}

fn samples() -> impl Strategy<Value = RunSamples> {
    prop::collection::vec(stream(), 0..5).prop_map(|streams| RunSamples { streams, ..RunSamples::default() })
}

fn stream() -> impl Strategy<Value = StreamSamples> {
    let heading = prop_oneof![Just(Heading::Outbound), Just(Heading::Inbound)];
    let end = prop_oneof![3 => Just(End::Sender), 1 => Just(End::Receiver)];
    (1_u32..4, heading, end, times(), prop::collection::vec((field(), shape()), 0..20)).prop_map(
        |(stream, heading, end, at_us, columns)| {
            let column = |(field, shape): (Field, Shape)| Column { field, values: shape.values(at_us.len()) };
            let columns = columns.into_iter().map(column).collect();
            StreamSamples { stream, heading, end, whose: Whose::Local, at_us, columns }
        },
    )
}

/// Mostly the fields that the rules read.
fn field() -> impl Strategy<Value = Field> {
    let read = [
        Field::AppBytes,
        Field::BytesAcked,
        Field::BytesReceived,
        Field::BytesRetrans,
        Field::BusyTime,
        Field::RwndLimited,
        Field::SndbufLimited,
        Field::Unacked,
        Field::SndCwnd,
        Field::SndSsthresh,
        Field::SndWnd,
        Field::SndMss,
        Field::Notsent,
        Field::Rtt,
        Field::MinRtt,
        Field::CaState,
        Field::TotalRetrans,
        Field::PacingRate,
        Field::MaxPacingRate,
        Field::Options,
    ];
    prop_oneof![4 => prop::sample::select(read.to_vec()), 1 => prop::sample::select(Field::ALL.to_vec())]
}

/// Steady sampling with gaps, or anything at all.
fn times() -> impl Strategy<Value = Vec<i64>> {
    let steady =
        (-20_000_i64..20_000, prop::collection::vec(prop_oneof![9 => 900_i64..12_000, 1 => 0_i64..900_000], 0..80));
    prop_oneof![
        5 => steady.prop_map(|(start, steps)| {
            steps.into_iter().scan(start, |at, step| { *at += step; Some(*at) }).collect::<Vec<i64>>()
        }),
        1 => prop::collection::vec(any::<i64>(), 0..20),
    ]
}

/// How a column's values go.
#[derive(Debug, Clone)]
enum Shape {
    Growing(Vec<u32>),
    Any(Vec<u64>),
    Cut(Vec<u64>),
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        4 => prop::collection::vec(0_u32..2_000_000, 1..80).prop_map(Shape::Growing),
        2 => prop::collection::vec(prop_oneof![0_u64..5, any::<u64>()], 1..80).prop_map(Shape::Any),
        1 => prop::collection::vec(any::<u64>(), 0..5).prop_map(Shape::Cut),
    ]
}

impl Shape {
    fn values(&self, length: usize) -> Vec<u64> {
        match self {
            Self::Growing(steps) => {
                let grow = |sum: &mut u64, step: &u32| {
                    *sum += u64::from(*step);
                    Some(*sum)
                };
                steps.iter().cycle().scan(0, grow).take(length).collect()
            }
            Self::Any(values) => values.iter().copied().cycle().take(length).collect(),
            Self::Cut(values) => values.clone(),
        }
    }
}

fn datagrams() -> impl Strategy<Value = DatagramCounts> {
    let count = || prop_oneof![0_u64..100_000, any::<u64>()].prop_map(PacketCount::new);
    (count(), count(), prop::option::of(count())).prop_map(|(sent, received, dropped_at_socket)| DatagramCounts {
        sent,
        received,
        lost: sent.saturating_sub(received),
        dropped_at_socket,
        ..DatagramCounts::default()
    })
}

fn counters() -> impl Strategy<Value = CounterReadings> {
    let names = [
        "Udp.SndbufErrors",
        "Udp6.SndbufErrors",
        "Udp.RcvbufErrors",
        "Udp6.RcvbufErrors",
        "qdisc.eth0.1:.drops",
        "qdisc.eth0.2:.drops",
        "qdisc.eth0.100.0:.drops",
        "qdisc..drops",
        "dev.eth0.rx_drop",
        "dev.eth0.tx_drop",
        "dev.lo.rx_drop",
        "nic.eth0.rx_missed",
        "softnet.cpu0.dropped",
        "softnet.cpu1.dropped",
    ];
    let value = || prop_oneof![0_u64..50_000, any::<u64>()];
    let values = prop::collection::btree_map(
        prop::sample::select(names.map(str::to_owned).to_vec()),
        (value(), value()).prop_map(|(before, after)| Reading { before, after }),
        0..14,
    );
    let groups = ["snmp", "snmp6", "qdisc", "dev", "softnet"].map(str::to_owned).to_vec();
    let unreadable = prop::collection::btree_map(prop::sample::select(groups), Just("no right".to_owned()), 0..2);
    (values, unreadable).prop_map(|(values, unreadable)| CounterReadings { values, unreadable })
}
