//! Streams of TCP in one direction, simulated.

use std::time::Duration;

use model::measurement::{End, Flow, Heading};
use model::spec::{Limit, ReceiveMethod, SendMethod, TestSpec};
use path::{ElementSpec, Grain, PathElement, Seed};
use sim::flow::{Outcome, Run};
use sim::sender::Amount;
use sim::shared::{Shared, Transfer};
use sim::{ProbeTimes, TcpInfo, Turns};
use units::{ByteCount, DataRate, MonoTime, PacketCount};

use super::columns::{Fixed, OF_RECEIVER, OF_SENDER, Rows, of_tcp};
use super::settings::{Ends, Link, ends};
use super::{Direction, OneWay};
use crate::convert::ratio;
use crate::network::Network;
use crate::network::thin::{Load, Thinned, bottleneck};
use crate::probes::packets::LINK_HEADER;

/// What came of the streams, and what the simulator counted of each.
pub(crate) struct Simulated {
    pub(crate) direction: Direction,
    pub(crate) outcomes: Vec<Outcome>,
    /// When the first connection stood, after it was asked for.
    pub(crate) handshake: Duration,
    pub(crate) marked: u64,
}

/// Simulates the streams of one direction.
///
/// # Errors
/// Why there is no connection, or none that can be simulated.
pub(crate) fn simulate(
    network: &Network<'_>,
    link: &Link<'_>,
    one_way: OneWay<'_>,
    seed: Seed,
) -> Result<Simulated, String> {
    let OneWay { spec, heading } = one_way;
    let ends = ends(network, link, spec)?;
    let streams = usize::from(spec.streams.max(1));
    let (amount, patience) = amount(spec, ends.sender.mss().map_or(1_448, |mss| mss.get()));
    let transfer =
        Transfer { sender: ends.sender.clone(), receiver: ends.receiver.clone(), amount, start: Duration::ZERO };
    let paths = Paths::of(link, ByteCount::new(u64::from(ends.sender.mtu.get() + LINK_HEADER)));
    let shared = Shared {
        forward: paths.there.stages.clone(),
        reverse: paths.back.stages.clone(),
        transfers: vec![transfer; streams],
        seed,
        time_limit: patience,
        // Samples are taken here, of more than the simulator writes down.
        sample_every: patience,
    };
    let mut run = Run::shared(&shared).map_err(|error| error.to_string())?;
    if let Some(grain) = paths.grain(link.base.round_trip) {
        run.coarsen(grain);
    }
    let mut watch = Watch::new(run, &ends, spec, streams);
    watch.go_on(spec, patience)?;
    let mut simulated = watch.finish(&ends, heading, spec, link);
    paths.restore(&mut simulated);
    Ok(simulated)
}

/// Both directions as the streams meet them.
struct Paths {
    there: Thinned,
    back: Thinned,
    packet: ByteCount,
}

impl Paths {
    fn of(link: &Link<'_>, packet: ByteCount) -> Self {
        let rate = bottleneck(&link.there.stages).unwrap_or(DataRate::from_bps(u64::MAX));
        Self {
            there: Thinned::new(&link.there.stages, Load::Data(packet)),
            back: Thinned::new(&link.back.stages, Load::Acknowledgements(rate)),
            packet,
        }
    }

    /// How coarsely the queue may let packets out: by a small part of the RTT and of its room. Not where something counts the bytes
    /// of each instant, or where another queue would take groups for bursts.
    fn grain(&self, base_rtt: Duration) -> Option<Grain> {
        let mut together = (base_rtt / PART_OF_RTT).min(LONGEST_GRAIN);
        let mut queues = 0;
        for stage in &self.there.stages {
            match &stage.spec {
                ElementSpec::Policer(_) | ElementSpec::Firewall(_) | ElementSpec::Merger(_) => return None,
                ElementSpec::Classes(_) | ElementSpec::Shaper(_) => queues += 1,
                ElementSpec::Port(_) => {
                    queues += 1;
                    together = together.min(shortest_queue(stage, self.packet) / PART_OF_QUEUE);
                }
                _ => {}
            }
        }
        (queues <= 1).then_some(Grain { together })
    }

    /// Names drops by the places of the whole path, and takes from probes what full packets would have taken longer.
    fn restore(&self, simulated: &mut Simulated) {
        for outcome in &mut simulated.outcomes {
            outcome.drops.iter_mut().for_each(|(place, ..)| *place = self.there.place(*place));
            outcome.drops_back.iter_mut().for_each(|(place, ..)| *place = self.back.place(*place));
        }
        let longer = self.there.sending(self.packet).saturating_sub(self.there.sending(PROBE));
        for (_, times) in &mut simulated.direction.probes {
            *times = times.map(|times| ProbeTimes {
                forward: times.forward.saturating_sub(longer),
                round_trip: times.round_trip.saturating_sub(longer),
            });
        }
    }
}

fn amount(spec: &TestSpec, segment: u32) -> (Amount, Duration) {
    let streams = u64::from(spec.streams.max(1));
    let bytes = |all: u64| (Amount::Bytes(ByteCount::new(all.div_ceil(streams).max(1))), LONGEST);
    match spec.limit {
        Limit::Time(time) => (Amount::Time(time.max(Duration::from_millis(1))), time.max(Duration::from_millis(1))),
        Limit::Bytes(all) => bytes(all.get()),
        Limit::Blocks(blocks) => {
            let block = spec.length.map_or(u64::from(segment), ByteCount::get);
            bytes(blocks.saturating_mul(block))
        }
    }
}

/// A simulation under way, and what is written down of it.
struct Watch {
    run: Run,
    fixed: Fixed,
    senders: Vec<Rows>,
    receivers: Vec<Rows>,
    last: Vec<Option<TcpInfo>>,
    received: Vec<(Duration, ByteCount)>,
    probe_every: Duration,
    next_probe: Duration,
    turns: [Option<Turns>; 2],
    began: Duration,
    ended: Duration,
}

impl Watch {
    fn new(run: Run, ends: &Ends, spec: &TestSpec, streams: usize) -> Self {
        let options = OPTION_TIMESTAMPS
            | if ends.sender.sack { OPTION_SACK } else { 0 }
            | if ends.window_scale { OPTION_WINDOW_SCALE } else { 0 }
            | if ends.ecn { OPTION_ECN } else { 0 };
        let fixed = Fixed {
            options,
            advmss: ends.device_mss,
            max_pacing: spec.pace.map_or(u64::MAX, |pace| pace.bytes_per_second()),
        };
        let rows = |fields| (0..streams).map(|_| Rows::new(fields, 1_024)).collect();
        Self {
            run,
            fixed,
            senders: rows(OF_SENDER),
            receivers: rows(OF_RECEIVER),
            last: vec![None; streams],
            received: Vec::with_capacity(1_024),
            probe_every: spec.probe_every,
            next_probe: Duration::ZERO,
            turns: [ends.sender.turns, ends.receiver.turns],
            began: Duration::ZERO,
            ended: Duration::ZERO,
        }
    }

    /// Lets it run, and looks at it as often as a test does.
    fn go_on(&mut self, spec: &TestSpec, patience: Duration) -> Result<(), String> {
        let connects = spec.connect_timeout.max(Duration::from_secs(1));
        let mut at = Duration::ZERO;
        while self.run.established(0).is_none() {
            at += CONNECTING;
            if at > connects || !self.run.go_on_to(at) {
                return Err(format!("no connection within {}", units::duration::show(connects)));
            }
        }
        self.began = self.run.established(0).unwrap_or(at);
        self.next_probe = self.began + self.probe_every;
        let length = match spec.limit {
            Limit::Time(time) => time,
            Limit::Bytes(_) | Limit::Blocks(_) => patience,
        };
        let step = step(spec);
        let end = self.began + length;
        let mut next = self.began;
        loop {
            let goes_on = self.go_on_to(next);
            self.look(next);
            if next >= end || !goes_on {
                break;
            }
            next = (next + step).min(end);
        }
        Ok(())
    }

    /// Goes on to an instant, and sends the probes that are due before it. Whether anything is left to happen.
    fn go_on_to(&mut self, at: Duration) -> bool {
        while !self.probe_every.is_zero() && self.next_probe <= at {
            if !self.run.go_on_to(self.next_probe) {
                return false;
            }
            self.run.probe();
            self.next_probe += self.probe_every;
        }
        self.run.go_on_to(at)
    }

    fn look(&mut self, now: Duration) {
        let at = now.saturating_sub(self.began);
        let mut received = ByteCount::ZERO;
        // A program that stands still takes no samples either.
        let instant = MonoTime::default() + now;
        let [sender_runs, receiver_runs] = self.turns.map(|turns| turns.is_none_or(|turns| turns.runs(instant)));
        for flow in 0..self.last.len() {
            let Some(info) = self.run.tcp_info(flow) else { continue };
            let fixed = self.fixed;
            if sender_runs {
                self.senders[flow].add(at, |field| of_tcp(&info, fixed, End::Sender, field));
            }
            if receiver_runs {
                self.receivers[flow].add(at, |field| of_tcp(&info, fixed, End::Receiver, field));
            }
            received += info.bytes_received.saturating_sub(info.unread);
            self.last[flow] = Some(info);
        }
        // What bytes end goes on until they have come: the clock stands still from then on.
        if self.received.last().is_none_or(|(_, before)| *before < received) {
            self.ended = at;
        }
        self.received.push((at, received));
    }

    fn finish(self, ends: &Ends, heading: Heading, spec: &TestSpec, link: &Link<'_>) -> Simulated {
        let Self { run, senders, receivers, last, received, began, ended, .. } = self;
        let latest = began + received.last().map_or(Duration::ZERO, |(at, _)| *at);
        // Who sent a probe at the very end did not wait for its answer.
        let probes = run.probed().filter(|(sent, times)| times.is_some() || *sent + PATIENCE <= latest);
        let probes = probes.map(|(sent, times)| (sent.saturating_sub(began), times)).collect();
        let outcomes = run.outcomes();
        let elapsed = match spec.limit {
            Limit::Time(time) => time,
            Limit::Bytes(_) | Limit::Blocks(_) => ended,
        };
        let marked = last.iter().flatten().map(|info| info.delivered_ce).sum();
        let numbered = (1_u32..).zip(senders.into_iter().zip(receivers));
        let samples = numbered.flat_map(|(stream, (sender, receiver))| {
            [sender.finish(stream, heading, End::Sender), receiver.finish(stream, heading, End::Receiver)]
        });
        let samples = samples.collect();
        let flows = (1_u32..).zip(last.iter().zip(&outcomes)).map(|(stream, (info, outcome))| Flow {
            stream,
            heading,
            local_address: String::new(),
            peer_address: link.to.to_string(),
            mss: u32::try_from(outcome.segment.get()).ok(),
            congestion_control: Some(ends.control.clone()),
            sent_by: Some(match spec.send {
                SendMethod::Auto => SendMethod::Splice,
                asked => asked,
            }),
            copy_fallback: None,
            received_by: Some(match spec.receive {
                ReceiveMethod::Auto => ReceiveMethod::Discard,
                asked => asked,
            }),
            sent: info.map(|info| info.bytes_acked.max(info.bytes_received)),
            received: info.map(|info| info.bytes_received.saturating_sub(info.unread)),
            retransmits: info.map(|info| PacketCount::new(info.total_retrans)),
            datagrams: None,
        });
        let flows: Vec<Flow> = flows.collect();
        let moved: u64 = flows.iter().filter_map(|flow| flow.received).map(ByteCount::get).sum();
        let direction =
            Direction { heading, flows, samples, received, elapsed, probes, cpu: cpu(moved, elapsed, ends, spec) };
        Simulated { direction, outcomes, handshake: began, marked }
    }
}

/// How long the queue of a port is at the most, at its rate, whatever it becomes meanwhile.
fn shortest_queue(stage: &PathElement, packet: ByteCount) -> Duration {
    let specs = std::iter::once(&stage.spec).chain(stage.changes.iter().map(|change| &change.spec));
    let lengths = specs.filter_map(|spec| {
        let ElementSpec::Port(port) = spec else { return None };
        let by_packets = port.queue.packets.map(|packets| ByteCount::new(packet.get().saturating_mul(packets)));
        port.rate.time_for(port.queue.bytes.into_iter().chain(by_packets).min()?)
    });
    lengths.min().unwrap_or(Duration::MAX)
}

/// How often samples are taken.
pub(super) fn step(spec: &TestSpec) -> Duration {
    let length = match spec.limit {
        Limit::Time(time) => time,
        Limit::Bytes(_) | Limit::Blocks(_) => LONGEST,
    };
    spec.sample_every.max(length / MOST_SAMPLES).max(SHORTEST_STEP)
}

/// Part of a CPU that programs used: what copying costs, and no more than their turns.
fn cpu(moved: u64, elapsed: Duration, ends: &Ends, spec: &TestSpec) -> [f64; 2] {
    let rate = ratio(moved) * 8.0 / elapsed.as_secs_f64().max(1e-6);
    let most =
        |turns: Option<sim::Turns>| turns.map_or(1.0, |turns| turns.on.as_secs_f64() / turns.period.as_secs_f64());
    let streams = f64::from(spec.streams.max(1));
    let used = |per_cpu: f64, turns| (rate / per_cpu).min(most(turns) * streams);
    [used(SENT_BY_A_CPU, ends.sender.turns), used(RECEIVED_BY_A_CPU, ends.receiver.turns)]
}

/// Bits a second that a program sends with all of a CPU, and receives: order of magnitude of a server of 2020.
const SENT_BY_A_CPU: f64 = 30e9;
const RECEIVED_BY_A_CPU: f64 = 20e9;
/// A probe that is not answered within this time is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// A probe beside the streams, on the link (RFC 8762 section 4.2.1).
const PROBE: ByteCount = ByteCount::new(44 + 28 + 14);
/// Packets that share less than this part of the idle RTT may come out of a queue together.
const PART_OF_RTT: u32 = 64;
const LONGEST_GRAIN: Duration = Duration::from_millis(1);
/// The same of a queue, from empty to full.
const PART_OF_QUEUE: u32 = 16;
/// How often it is looked whether a connection stands.
const CONNECTING: Duration = Duration::from_millis(5);
/// Samples of a test at most.
const MOST_SAMPLES: u32 = 4_000;
const SHORTEST_STEP: Duration = Duration::from_millis(1);
/// After this a transfer of bytes is given up.
const LONGEST: Duration = Duration::from_secs(300);

// include/uapi/linux/tcp.h
const OPTION_TIMESTAMPS: u64 = 1;
const OPTION_SACK: u64 = 2;
const OPTION_WINDOW_SCALE: u64 = 4;
const OPTION_ECN: u64 = 8;
