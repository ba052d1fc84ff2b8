//! A test over TCP or UDP, as `linerate test` stores it.

use std::net::IpAddr;
use std::time::Duration;

use model::measurement::{Cadence, ClockRelation, CpuUse, Heading, Measurement, PacketTimes, Whose};
use model::played::Finding;
use model::run::{Failure, FailureKind, Outcome, Peer, Role, Run, RunId};
use model::series::RunSamples;
use model::spec::{Direction as Asked, Protocol, TestSpec};
use path::Seed;
use plan::task::Flow as Task;
use scenario::Test;
use sim::ProbeTimes;
use units::WallTime;

pub(crate) use super::latency::summary;
use super::latency::{IDLE, IDLE_EVERY_US, latency};
use super::settings::{Link, seen_from_far_end};
use super::{Direction, OneWay, account, packet_times, sums, tcp, udp};
use crate::hosts::identity;
use crate::network::Network;
use crate::network::way::{Traffic, TrafficKind, Way};
use crate::probes::packets::Packets;
use crate::probes::rtt::{Fate, Pair, ask};

/// What a test found, and how long it took.
pub(crate) struct Tested {
    pub(crate) finding: Finding,
    pub(crate) samples: Option<Box<RunSamples>>,
    pub(crate) took: Duration,
}

/// What runs are named and dated by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    pub(crate) id: RunId,
    pub(crate) started: WallTime,
}

/// What is run between which addresses, and under which name.
#[derive(Debug, Clone, Copy)]
struct Request<'a> {
    task: &'a Task,
    addresses: [IpAddr; 2],
    stamp: Stamp,
}

/// Runs a test between two addresses, beginning now.
pub(crate) fn test(
    network: &mut Network<'_>,
    test: &Test,
    task: &Task,
    addresses: [IpAddr; 2],
    stamp: Stamp,
    seed: Seed,
) -> Tested {
    let spec = &task.spec;
    let request = Request { task, addresses, stamp };
    let length = task_length(spec);
    let kind = if spec.protocol == Protocol::Tcp { TrafficKind::Tcp } else { TrafficKind::Other };
    let traffic = Traffic { kind, overlay: overlay(test), hash: seed.part(7).0 >> 32 };
    let (from, to) = (test.from.host, test.to.host);
    let ways = (network.way([from, to], traffic, length), network.way([to, from], traffic, length));
    let (Some(there), Some(back)) = ways else {
        return failed(network, test, request, "no route to the host".to_owned());
    };
    let idle = idle(network, [&there, &back], seed.part(1));
    let packet_times = packet_times::of([&there, &back], seed.part(8));
    let shortest = idle.iter().flatten().min_by_key(|times| times.round_trip).copied();
    let base = shortest.map(|times| times.round_trip);
    let before = [network.tallies.hosts[from].clone(), network.tallies.hosts[to].clone()];
    let mut directions = Vec::new();
    for (number, heading) in headings(spec.direction).into_iter().enumerate() {
        let outbound = Link {
            sender: from,
            receiver: to,
            to: addresses[1],
            asked: from,
            overlay: overlay(test),
            base: shortest.unwrap_or_default(),
            there: &there,
            back: &back,
        };
        let link = match heading {
            Heading::Outbound => outbound,
            Heading::Inbound => outbound.reversed(addresses[0]),
        };
        match one(network, &link, OneWay { spec, heading }, seed.part(2 + number as u64)) {
            Ok(direction) => directions.push(direction),
            Err(why) => return failed(network, test, request, why),
        }
    }
    let took = directions.iter().map(|direction| direction.elapsed).max().unwrap_or_default()
        + base.unwrap_or_default() * ROUND_TRIPS_BESIDE
        + BESIDE;
    let (latency, probes) = beside(&directions, &idle, packet_times, spec);
    let mut measurement = Measurement {
        latency,
        clock: Some(clock(base)),
        telemetry: cadence(spec, &directions),
        local_counters: Some(account::readings(network, from, &before[0])),
        peer_counters: Some(account::readings(network, to, &before[1])),
        local_cpu: Some(cpu(&directions, Whose::Local)),
        peer_cpu: Some(cpu(&directions, Whose::Peer)),
        ..Measurement::default()
    };
    for direction in &directions {
        measurement.intervals.extend(sums::intervals(direction, spec.interval));
        measurement.totals.push(sums::total(direction, base));
    }
    let local = addresses[0].to_string();
    let mut streams = Vec::new();
    for direction in directions {
        let named = direction.flows.into_iter().map(|flow| model::measurement::Flow {
            local_address: format!("{local}:{}", 40_000 + flow.stream),
            peer_address: format!("{}:{PORT}", addresses[1]),
            ..flow
        });
        measurement.flows.extend(named);
        streams.extend(direction.samples);
    }
    let run = Run { measurement: Some(measurement), ..bare(network, test, request) };
    let samples = Some(Box::new(RunSamples { streams, probes }));
    Tested { finding: Finding::Run(Box::new(run)), samples, took }
}

/// The overlay that both ends are asked in.
pub(crate) fn overlay(test: &Test) -> Option<usize> {
    test.from.overlay.filter(|overlay| test.to.overlay == Some(*overlay))
}

/// One direction, with what it leaves in counters.
fn one(network: &mut Network<'_>, link: &Link<'_>, one_way: OneWay<'_>, seed: Seed) -> Result<Direction, String> {
    if one_way.spec.protocol == Protocol::Tcp {
        let simulated = tcp::simulate(network, link, one_way, seed)?;
        account::tcp(network, link, &simulated.outcomes, simulated.marked);
        Ok(simulated.direction)
    } else {
        let sent = udp::simulate(network, link, one_way, seed)?;
        account::udp(network, link, &sent);
        Ok(sent.direction)
    }
}

fn headings(direction: Asked) -> Vec<Heading> {
    match direction {
        Asked::Forward => vec![Heading::Outbound],
        Asked::Reverse => vec![Heading::Inbound],
        Asked::Bidirectional => vec![Heading::Outbound, Heading::Inbound],
    }
}

fn task_length(spec: &TestSpec) -> Duration {
    match spec.limit {
        model::spec::Limit::Time(time) => time + spec.omit,
        model::spec::Limit::Bytes(_) | model::spec::Limit::Blocks(_) => Duration::from_secs(300),
    }
}

/// Round trips before the first byte.
fn idle(network: &mut Network<'_>, [there, back]: [&Way; 2], seed: Seed) -> Vec<Option<ProbeTimes>> {
    let every = Duration::from_micros(IDLE_EVERY_US.unsigned_abs());
    let probes: Vec<Packets> = (0..IDLE)
        .map(|number| Packets { at: every * number, count: 1, ip_bytes: PROBE, whole: true, over: Duration::ZERO })
        .collect();
    let fates = ask(network, &Pair { there, back }, seed, &probes);
    let answered = |fate: Fate| match fate {
        Fate::Answered(times) => Some(times),
        Fate::Lost | Fate::TooBig { .. } => None,
    };
    fates.into_iter().map(answered).collect()
}

fn beside(
    directions: &[Direction],
    idle: &[Option<ProbeTimes>],
    packet_times: Option<PacketTimes>,
    spec: &TestSpec,
) -> (Option<model::measurement::Latency>, model::series::ProbeSamples) {
    // Both directions share the probes: the one whose queue is longer decides.
    let times = |direction: &Direction| {
        direction.probes.iter().filter_map(|(_, times)| times.map(|times| times.round_trip)).max()
    };
    let decides = directions.iter().max_by_key(|direction| times(direction));
    // The simulated ones go where the data goes; those of a test are the client's, who receives where it is asked for the reverse.
    let is_back = decides.is_some_and(|direction| direction.heading == Heading::Inbound);
    let from_client = |times: ProbeTimes| if is_back { seen_from_far_end(times) } else { times };
    let probes = decides.into_iter().flat_map(|direction| &direction.probes);
    let probes: Vec<_> = probes.map(|(sent, times)| (*sent, times.map(from_client))).collect();
    latency(idle, packet_times, &probes, spec.probe_every)
}

fn clock(base: Option<Duration>) -> ClockRelation {
    let half = units::duration::nanos(base.unwrap_or_default() / 2);
    ClockRelation { offset_ns: 0, uncertainty_ns: half, drift_ppb: None, exchanges: 20 }
}

fn cadence(spec: &TestSpec, directions: &[Direction]) -> Vec<Cadence> {
    let samples = directions.iter().flat_map(|direction| &direction.samples).map(|of| of.at_us.len()).max();
    let wanted_us = units::duration::micros(tcp::step(spec));
    let cadence = |whose| Cadence {
        whose,
        wanted_us,
        achieved_us: wanted_us,
        samples: samples.unwrap_or(0) as u64,
        gaps: 0,
        longest_gap_us: wanted_us,
        at_most_us: None,
        thinned: 0,
    };
    [Whose::Local, Whose::Peer].into_iter().map(cadence).collect()
}

fn cpu(directions: &[Direction], whose: Whose) -> CpuUse {
    let used = directions.iter().map(|direction| {
        let sends = (direction.heading == Heading::Outbound) == (whose == Whose::Local);
        direction.cpu[usize::from(!sends)]
    });
    let used: f64 = used.sum();
    CpuUse { user: used * 0.1, system: used * 0.9 }
}

fn bare(network: &Network<'_>, test: &Test, request: Request<'_>) -> Run {
    let Request { task, addresses, stamp } = request;
    let (from, to) = (test.from.host, test.to.host);
    let first = |from, to| network.scenario.way(from, to, network.now).first().map(|(link, _)| *link);
    Run {
        format: Run::FORMAT,
        id: stamp.id,
        started: stamp.started,
        role: Role::Client,
        command: vec!["linerate".to_owned(), "test".to_owned(), addresses[1].to_string()],
        spec: task.spec.clone(),
        declared_line_rate: task.expect,
        declared: model::run::Declared::default(),
        batch: None,
        local: identity::of(network, from, first(from, to)),
        peer: Peer {
            target: addresses[1].to_string(),
            address: Some(format!("{}:{PORT}", addresses[1])),
            host: identity::of(network, to, first(to, from)),
        },
        outcome: Outcome::Complete,
        measurement: None,
    }
}

fn failed(network: &Network<'_>, test: &Test, request: Request<'_>, detail: String) -> Tested {
    let outcome = Outcome::Failed(Failure { kind: FailureKind::Unreachable, detail });
    let run = Run { outcome, ..bare(network, test, request) };
    Tested { finding: Finding::Run(Box::new(run)), samples: None, took: Duration::from_secs(5) }
}

/// What handshakes, exchanges of settings and results take besides the data: round trips, and time of programs.
const ROUND_TRIPS_BESIDE: u32 = 8;
const BESIDE: Duration = Duration::from_millis(150);
/// The IP packet of a probe: 44 bytes of payload (RFC 8762).
const PROBE: u32 = 72;
const PORT: u16 = 5_201;

/// From whom to whom bytes go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    pub(crate) sender: usize,
    pub(crate) receiver: usize,
    /// The overlay in which they travel.
    pub(crate) overlay: Option<usize>,
}

impl Leg {
    /// One outside of overlays.
    pub(crate) const fn new(sender: usize, receiver: usize) -> Self {
        Self { sender, receiver, overlay: None }
    }
}

/// What a transfer of bytes that is no test took.
pub(crate) struct Transferred {
    pub(crate) took: Duration,
    pub(crate) handshake: Duration,
    pub(crate) delivered: units::ByteCount,
}

/// Transfers bytes from one host to another, and counts them. [`None`] where there is no path.
pub(crate) fn transfer(network: &mut Network<'_>, leg: Leg, one_way: OneWay<'_>, seed: Seed) -> Option<Transferred> {
    let Leg { sender, receiver, overlay } = leg;
    let traffic = Traffic { kind: TrafficKind::Tcp, overlay, hash: seed.part(7).0 >> 32 };
    let length = task_length(one_way.spec);
    let there = network.way([sender, receiver], traffic, length)?;
    let back = network.way([receiver, sender], traffic, length)?;
    let to = network.address(receiver, overlay)?;
    let link = Link {
        sender,
        receiver,
        to,
        asked: receiver,
        overlay,
        base: ProbeTimes::default(),
        there: &there,
        back: &back,
    };
    let simulated = tcp::simulate(network, &link, one_way, seed).ok()?;
    account::tcp(network, &link, &simulated.outcomes, simulated.marked);
    let delivered = simulated.outcomes.iter().map(|outcome| outcome.delivered).sum();
    Some(Transferred { took: simulated.direction.elapsed, handshake: simulated.handshake, delivered })
}
