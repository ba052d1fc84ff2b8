//! From what a session has gathered to the measurement and its samples.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::measurement::{Cadence, ClockRelation, CpuUse, End, Heading, Latency, Measurement, PacketTimes, Whose};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples, packed};
use model::spec::{Protocol, TestSpec};
use units::{ByteCount, MonoTime};

use super::part::{LocalFlow, LocalResult};
use crate::latency;
use crate::stamp::prober::Probe;
use report::PeerTime;
use report::claims::{self, Acknowledged, Knowledge};
use report::flows::{HasDatagrams, TwoEnds, from_iperf3};
use report::timeline::Timeline;
use report::totals::{Frame, total};
use wire::extension::Report;
use wire::results::Results;

/// What a session has gathered; each part may be missing where it ended early.
#[derive(Debug, Default)]
pub struct Gathered {
    /// What this host did.
    pub part: Option<LocalResult>,
    /// What the peer said of itself.
    pub peer: Option<Results>,
    /// Round-trip probes, in the order in which they were sent.
    pub probes: Vec<Probe>,
    /// What larger packets needed more than small ones, before the test.
    pub packet_times: Option<PacketTimes>,
    /// How the peer's clock relates to ours.
    pub clock: Option<ClockRelation>,
    /// The peer's stamps less its monotonic clock.
    pub stamp_minus_mono_ns: Option<i64>,
    /// The round trip of the control connection, where no probe was answered.
    pub round_trip: Option<Duration>,
}

/// The measurement and the samples, of what there is. The samples are not in `gathered` any more.
#[must_use]
pub fn assemble(gathered: &mut Gathered, spec: &TestSpec) -> (Option<Measurement>, RunSamples) {
    let latency =
        latency::latency(&gathered.probes).map(|latency| Latency { packet_times: gathered.packet_times, ..latency });
    let mut streams = gathered.part.as_mut().map(|part| std::mem::take(&mut part.samples)).unwrap_or_default();
    let Some(part) = &gathered.part else {
        let measurement = latency.map(|latency| Measurement { latency: Some(latency), ..Measurement::default() });
        return (measurement, RunSamples::default());
    };
    let report = gathered.peer.as_ref().and_then(|results| results.linerate.as_deref());
    let peer_time = gathered.clock.zip(report).map(|(relation, report)| PeerTime {
        relation,
        peer_start: MonoTime::from_nanos(report.start_ns),
        local_start: part.start,
    });
    let mut anomalies = part.anomalies.clone();
    if let Some(report) = report {
        anomalies.extend(report.anomalies.iter().map(|odd| format!("peer: {odd}")));
        streams.extend(peer_samples(report, peer_time, &mut anomalies));
    }
    let (flows, doubts) = two_ends(OwnSide { part, samples: &streams }, gathered.peer.as_ref(), spec);
    anomalies.extend(doubts);
    let mut measurement = Measurement {
        flows: flows.iter().map(TwoEnds::flow).collect(),
        latency,
        clock: gathered.clock,
        telemetry: part.cadence.into_iter().chain(report.and_then(|report| report.cadence).map(of_peer)).collect(),
        local_counters: Some(part.counters.clone()),
        peer_counters: report.map(|report| report.counters.clone()),
        local_cpu: Some(part.cpu),
        peer_cpu: gathered.peer.as_ref().and_then(peer_cpu),
        local_contention: Some(part.contention),
        peer_contention: report.and_then(|report| report.contention),
        peer_output: gathered.peer.as_ref().and_then(peer_output),
        anomalies,
        ..Measurement::default()
    };
    let idle = gathered.probes.iter().filter(|probe| probe.idle).filter_map(Probe::rtt).min();
    for heading in [Heading::Outbound, Heading::Inbound] {
        let timeline = Timeline::new(&streams, heading);
        let frame = Frame {
            timeline: timeline.as_ref(),
            peer_time,
            our_time: part.time,
            round_trip: idle.or(gathered.round_trip),
            acknowledged: acknowledged_in(OwnSide { part, samples: &streams }, heading),
        };
        let Some(total) = total(&flows, heading, frame) else { continue };
        if let Some(timeline) = &timeline {
            measurement.intervals.extend(timeline.intervals(spec.interval, total.elapsed));
        }
        measurement.totals.push(total);
    }
    let probes = latency::samples(&gathered.probes, part.start, peer_time.zip(gathered.stamp_minus_mono_ns));
    (Some(measurement), RunSamples { streams, probes })
}

/// What of the peer's counts cannot be true; nothing where all of it may be.
#[must_use]
pub fn disbelieved(part: &LocalResult, results: &Results, spec: &TestSpec) -> Option<String> {
    let (flows, doubts) = two_ends(OwnSide { part, samples: &part.samples }, Some(results), spec);
    doubts.into_iter().next().filter(|_| flows.iter().any(|flow| flow.peer.is_none()))
}

/// What this host did, and its samples, which may have been taken out of that.
#[derive(Clone, Copy)]
struct OwnSide<'a> {
    part: &'a LocalResult,
    samples: &'a [StreamSamples],
}

/// Each stream with what both sides say of it, and what of that was not believed.
fn two_ends(own: OwnSide<'_>, results: Option<&Results>, spec: &TestSpec) -> (Vec<TwoEnds>, Vec<String>) {
    let OwnSide { part, samples } = own;
    let mut doubts = Vec::new();
    let datagrams = if spec.protocol == Protocol::Udp { HasDatagrams::Yes } else { HasDatagrams::No };
    let extended = results.and_then(|results| results.linerate.as_ref());
    let omit = if extended.is_some() { Duration::ZERO } else { spec.omit };
    let known = Knowledge { protocol: spec.protocol, time: part.time, omit, acknowledged: None };
    let flows = part
        .flows
        .iter()
        .enumerate()
        .map(|(index, flow)| {
            let plain = results.and_then(|results| results.streams.get(index));
            let impossible = plain.filter(|_| extended.is_none()).and_then(claims::impossible);
            if let Some(wrong) = &impossible {
                doubts.push(format!("the peer {wrong} on stream {}; its counts are not used", flow.number));
            }
            let plain = || Some(from_iperf3(plain.filter(|_| impossible.is_none())?, datagrams));
            let mut ends = TwoEnds {
                stream: flow.number,
                heading: flow.heading,
                local_address: flow.local.to_string(),
                peer_address: flow.remote.to_string(),
                local: flow.report.clone(),
                peer: extended.and_then(|report| report.flows.get(index).cloned()).or_else(plain),
            };
            let acknowledged = acknowledged(samples, flow);
            doubts.extend(claims::hold_against(&mut ends, Knowledge { acknowledged, ..known }));
            ends
        })
        .collect();
    (flows, doubts)
}

/// What the peer's kernel acknowledged of a direction that this host sends.
fn acknowledged_in(own: OwnSide<'_>, heading: Heading) -> Option<ByteCount> {
    let flows = own.part.flows.iter().filter(|flow| flow.heading == heading);
    flows.map(|flow| Some(ByteCount::new(acknowledged(own.samples, flow)?.bytes))).sum()
}

/// What the peer's kernel acknowledged of a stream; [`None`] where ours does not tell.
fn acknowledged(samples: &[StreamSamples], flow: &LocalFlow) -> Option<Acknowledged> {
    let is_ours = |samples: &&StreamSamples| samples.whose == Whose::Local && samples.end == End::Sender;
    let is_of = |samples: &&StreamSamples| samples.stream == flow.number && samples.heading == flow.heading;
    let samples = samples.iter().filter(is_ours).find(is_of)?;
    let most = |field| samples.column(field).and_then(|values| values.iter().max().copied());
    Some(Acknowledged { bytes: most(Field::BytesAcked)?, widest_window: most(Field::SndWnd)? })
}

/// The peer's samples on our clock, with headings seen from here. Without a clock relation both starts are taken as
/// one moment, which is wrong by half a round trip.
fn peer_samples(report: &Report, peer_time: Option<PeerTime>, anomalies: &mut Vec<String>) -> Vec<StreamSamples> {
    let unpacked = BASE64
        .decode(&report.samples)
        .map_err(|error| error.to_string())
        .and_then(|bytes| packed::unpack(&bytes).map_err(|error| error.to_string()));
    let samples = match unpacked {
        Ok(samples) => samples,
        Err(error) => {
            anomalies.push(format!("the peer's samples cannot be read: {error}"));
            return Vec::new();
        }
    };
    let mirrored = samples.streams.into_iter().map(|stream| StreamSamples {
        heading: stream.heading.mirrored(),
        whose: Whose::Peer,
        at_us: stream.at_us.iter().map(|at| peer_time.map_or(*at, |peer| peer.from_peer_us(*at))).collect(),
        ..stream
    });
    mirrored.collect()
}

fn of_peer(cadence: Cadence) -> Cadence {
    Cadence { whose: Whose::Peer, ..cadence }
}

/// The peer's own word; `None` where no host has so many CPUs.
fn peer_cpu(results: &Results) -> Option<CpuUse> {
    const MOST_CPUS: f64 = 8_192.0;
    let share = |percent: f64| Some(percent / 100.0).filter(|share| (0.0..=MOST_CPUS).contains(share));
    Some(CpuUse { user: share(results.cpu_util_user)?, system: share(results.cpu_util_system)? })
}

fn peer_output(results: &Results) -> Option<String> {
    results.server_output_text.clone().or_else(|| Some(results.server_output_json.as_ref()?.to_string()))
}
