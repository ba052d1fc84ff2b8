//! Datagrams of one direction.

use std::time::Duration;

use model::measurement::{DatagramCounts, End, Flow};
use model::series::field::Field;
use model::spec::{Limit, Offload, TestSpec};
use path::Seed;
use path::reason::Drop;
use sim::ProbeTimes;
use units::{ByteCount, DataRate, PacketCount};

use super::columns::Rows;
use super::settings::{Link, shaper, turns};
use super::{Direction, OneWay};
use crate::convert::ratio;
use crate::network::Network;
use crate::network::thin::{Load, Thinned};
use crate::probes::packets::{Fates, LINK_HEADER, Packets, send};

/// What came of the datagrams.
pub(crate) struct Sent {
    pub(crate) direction: Direction,
    /// At which stage of the way, why, and how many.
    pub(crate) drops: Vec<(usize, Drop, u64)>,
    pub(crate) packets: u64,
    /// Bytes of each IP packet.
    pub(crate) ip_bytes: u32,
    /// Dropped by the receiving socket.
    pub(crate) at_socket: u64,
}

/// Sends the datagrams of a test.
///
/// # Errors
/// An element of the path that cannot be.
pub(crate) fn simulate(
    network: &Network<'_>,
    link: &Link<'_>,
    one_way: OneWay<'_>,
    seed: Seed,
) -> Result<Sent, String> {
    let spec = one_way.spec;
    let length = spec.length.map_or(USUAL_LENGTH, |length| u32::try_from(length.get()).unwrap_or(USUAL_LENGTH));
    let header = if link.to.is_ipv6() { 48 } else { 28 };
    let plan = Plan::of(spec, length, link.there.told_mtu.get().saturating_sub(header));
    let ip_bytes = length.min(plan.largest) + header;
    let plan = match shaped(network, link, spec) {
        Some(shaped) => plan.held_to(shaped, ip_bytes),
        None => plan,
    };
    let trains = plan.trains(ip_bytes);
    let there = Thinned::new(&link.there.stages, Load::Data(ByteCount::new(u64::from(ip_bytes + LINK_HEADER))));
    let count = u32::from(spec.streams.max(1));
    let all: Vec<Packets> = trains.iter().flat_map(|train| std::iter::repeat_n(*train, count as usize)).collect();
    let mut fates = send(&there.stages, seed, count, &all).map_err(|error| error.to_string())?;
    fates.dropped.iter_mut().for_each(|(place, ..)| *place = there.place(*place));
    let streams = fates.by_stream(count);
    let socket = Socket::of(network, link.receiver);
    let test = Datagrams { plan: &plan, socket: &socket, one_way, link, ip_bytes };
    Ok(sums(&streams, &trains, &test))
}

/// How datagrams are handed out.
struct Plan {
    rate: DataRate,
    time: Duration,
    length: u32,
    /// The largest payload that leaves in one piece.
    largest: u32,
    /// Datagrams of each stream that leave at once.
    together: u32,
    streams: u32,
}

impl Plan {
    fn of(spec: &TestSpec, length: u32, largest: u32) -> Self {
        let rate = spec.rate.or(spec.pace).unwrap_or(UNPACED);
        let streams = u64::from(spec.streams.max(1));
        let of_bytes = |bytes: u64| rate.time_for(ByteCount::new(bytes / streams)).unwrap_or(LONGEST);
        let time = match spec.limit {
            Limit::Time(time) => time,
            Limit::Bytes(bytes) => of_bytes(bytes.get()),
            Limit::Blocks(blocks) => of_bytes(blocks.saturating_mul(u64::from(length))),
        };
        // What the kernel cuts is handed over at once, up to what falls due in a millisecond.
        let due = rate.bytes_per_second() / 1_000 / u64::from(length.max(1));
        let most = if spec.udp_gso == Offload::On { (MESSAGE / length.max(1)).max(1) } else { 1 };
        let together = u32::try_from(due).unwrap_or(u32::MAX).clamp(1, most.max(1));
        Self { rate, time: time.min(LONGEST), length, largest, together, streams: u32::from(spec.streams.max(1)) }
    }

    /// The same, no faster than a rate at which frames leave.
    fn held_to(self, shaped: DataRate, ip_bytes: u32) -> Self {
        let frames = shaped.bytes_per_second() / u64::from(ip_bytes + LINK_HEADER);
        let payload = DataRate::from_bytes_per_second((frames * u64::from(self.length)).max(1));
        Self { rate: self.rate.min(payload), ..self }
    }

    fn trains(&self, ip_bytes: u32) -> Vec<Packets> {
        let bytes = u64::from(self.together) * u64::from(self.length);
        let every = self.rate.time_for(ByteCount::new(bytes)).unwrap_or(Duration::from_secs(1));
        let most = MOST / self.streams.max(1);
        let count = u32::try_from(self.time.as_nanos() / every.as_nanos().max(1)).unwrap_or(u32::MAX).clamp(1, most);
        let one = |number: u32| Packets {
            at: every * number,
            count: self.together,
            ip_bytes,
            whole: true,
            over: Duration::ZERO,
        };
        (0..count).map(one).collect()
    }
}

/// What the shaper of the sending host lets out of each stream, where its queue has more room than the socket: a datagram takes room in
/// the socket until it has left (`sock_alloc_send_pskb`), so that the program waits and nothing is dropped.
fn shaped(network: &Network<'_>, link: &Link<'_>, spec: &TestSpec) -> Option<DataRate> {
    let shaper = shaper(network, link)?;
    let room = network.hosts[link.sender].number("net.core.wmem_default").unwrap_or(USUAL_ROOM);
    let queued = room / MEMORY * u64::from(spec.streams.max(1));
    (queued <= shaper.limit.get()).then(|| shaper.of_each(spec.streams))
}

/// The receiving socket of a program that may stand still.
struct Socket {
    turns: Option<sim::Turns>,
    room: u64,
}

impl Socket {
    fn of(network: &Network<'_>, host: usize) -> Self {
        let host = &network.hosts[host];
        Self { turns: turns(host), room: host.number("net.core.rmem_default").unwrap_or(USUAL_ROOM) }
    }

    fn stands_still(&self, at: Duration) -> bool {
        self.turns.is_some_and(|turns| at.as_nanos() % turns.period.as_nanos().max(1) >= turns.on.as_nanos())
    }
}

/// What a receiver counts of one stream.
#[derive(Default)]
struct Receiver {
    received: u64,
    reordered: u64,
    at_socket: u64,
    highest: u64,
    waiting: u64,
    jitter_ns: f64,
    transit_ns: Option<f64>,
}

/// Datagrams of one stream that arrive together.
struct Arrived {
    at: Duration,
    /// Number of the first of them.
    first: u64,
    count: u32,
}

impl Receiver {
    fn take(&mut self, arrived: &Arrived, sent: &Packets, socket: &Socket) {
        let Arrived { at, first, count } = *arrived;
        if socket.stands_still(at) {
            let fits = socket.room.saturating_sub(self.waiting) / (MEMORY * u64::from(sent.ip_bytes));
            let taken = u64::from(count).min(fits);
            self.at_socket += u64::from(count) - taken;
            self.waiting += taken * MEMORY * u64::from(sent.ip_bytes);
            self.received += taken;
        } else {
            self.waiting = 0;
            self.received += u64::from(count);
        }
        let end = first + u64::from(count);
        if first < self.highest {
            self.reordered += u64::from(count).min(self.highest - first);
        }
        self.highest = self.highest.max(end);
        // RFC 3550 section 6.4.1.
        let transit = at.saturating_sub(sent.at).as_secs_f64() * 1e9;
        if let Some(before) = self.transit_ns.replace(transit) {
            self.jitter_ns += ((transit - before).abs() - self.jitter_ns) / 16.0;
        }
    }
}

/// The datagrams of one direction, and who receives them.
struct Datagrams<'a> {
    plan: &'a Plan,
    socket: &'a Socket,
    one_way: OneWay<'a>,
    link: &'a Link<'a>,
    /// Bytes of each IP packet.
    ip_bytes: u32,
}

fn sums(streams: &[Fates], trains: &[Packets], datagrams: &Datagrams<'_>) -> Sent {
    let Datagrams { plan, socket, one_way, link, ip_bytes } = *datagrams;
    let OneWay { spec, heading } = one_way;
    let handed = u64::from(plan.together) * trains.len() as u64;
    let length = u64::from(plan.length);
    let mut direction = Direction {
        heading,
        flows: Vec::new(),
        samples: Vec::new(),
        received: Vec::new(),
        elapsed: plan.time,
        probes: beside(streams, trains, link.base),
        cpu: [0.0; 2],
    };
    let (mut drops, mut at_socket) = (Vec::new(), 0);
    for (stream, fates) in (1_u32..).zip(streams) {
        let mut receiver = Receiver::default();
        let mut rows = Rows::new(OF_RECEIVER, fates.arrived.len().min(4_096));
        let every = spec.sample_every.max(plan.time / 4_000).max(Duration::from_millis(1));
        let mut due = Duration::ZERO;
        for (at, number, first, count) in &fates.arrived {
            let Some(sent) = trains.get(*number as usize) else { continue };
            let sequence = u64::from(*number) * u64::from(plan.together) + u64::from(*first);
            receiver.take(&Arrived { at: *at, first: sequence, count: *count }, sent, socket);
            if *at >= due {
                due = *at + every;
                let (received, highest) = (receiver.received, receiver.highest);
                direction.received.push((*at, ByteCount::new(received * length)));
                rows.add(*at, |field| match field {
                    Field::AppBytes => received * length,
                    Field::AppPackets => received,
                    _ => highest.saturating_sub(received),
                });
            }
        }
        direction.samples.push(rows.finish(stream, heading, End::Receiver));
        at_socket += receiver.at_socket;
        direction.flows.push(flow(stream, handed, &receiver, datagrams));
        drops.extend(fates.dropped.iter().map(|(place, reason, _, count)| (*place, *reason, u64::from(*count))));
    }
    let moved: u64 = direction.flows.iter().filter_map(|flow| flow.received).map(ByteCount::get).sum();
    let rate = ratio(moved) * 8.0 / plan.time.as_secs_f64().max(1e-6);
    direction.cpu = [rate / BY_A_CPU, rate / BY_A_CPU];
    Sent { direction, drops, packets: handed * streams.len() as u64, ip_bytes, at_socket }
}

/// What probes between the datagrams see: the RTT without load, and as long as datagrams wait in queues besides.
fn beside(streams: &[Fates], trains: &[Packets], base: ProbeTimes) -> Vec<(Duration, Option<ProbeTimes>)> {
    let Some(fates) = streams.first() else { return Vec::new() };
    let transits = || {
        fates.arrived.iter().filter_map(|(at, number, ..)| {
            let sent = trains.get(*number as usize)?.at;
            Some((sent, at.saturating_sub(sent)))
        })
    };
    let least = transits().map(|(_, transit)| transit).min().unwrap_or_default();
    let waited = |transit: Duration| {
        let queued = transit.saturating_sub(least);
        ProbeTimes { forward: base.forward + queued, round_trip: base.round_trip + queued }
    };
    transits().map(|(sent, transit)| (sent, Some(waited(transit)))).collect()
}

fn flow(stream: u32, handed: u64, receiver: &Receiver, datagrams: &Datagrams<'_>) -> Flow {
    let length = u64::from(datagrams.plan.length);
    let lost = handed.saturating_sub(receiver.received);
    Flow {
        stream,
        heading: datagrams.one_way.heading,
        local_address: String::new(),
        peer_address: datagrams.link.to.to_string(),
        mss: None,
        congestion_control: None,
        sent_by: None,
        copy_fallback: None,
        received_by: None,
        sent: Some(ByteCount::new(handed * length)),
        received: Some(ByteCount::new(receiver.received * length)),
        retransmits: None,
        datagrams: Some(DatagramCounts {
            sent: PacketCount::new(handed),
            received: PacketCount::new(receiver.received),
            lost: PacketCount::new(lost),
            lost_at_tail: PacketCount::new(handed.saturating_sub(receiver.highest)),
            reordered: PacketCount::new(receiver.reordered),
            duplicated: PacketCount::new(0),
            dropped_at_socket: Some(PacketCount::new(receiver.at_socket)),
            jitter: Duration::from_secs_f64(receiver.jitter_ns.max(0.0) / 1e9),
        }),
    }
}

const OF_RECEIVER: &[Field] = &[Field::AppBytes, Field::AppPackets, Field::AppLost];
/// Payload of a datagram where nobody asked for another.
const USUAL_LENGTH: u32 = 1_448;
/// What a sender hands to its kernel at once, with segmentation offload.
const MESSAGE: u32 = 65_507;
/// What a test sends that asks for no rate.
const UNPACED: DataRate = DataRate::from_bps(1_000_000_000);
/// Trains of all streams of a test at most.
const MOST: u32 = 2_000_000;
const LONGEST: Duration = Duration::from_secs(300);
/// Bytes of a socket without settings (`net.core.rmem_default`, `net.core.wmem_default`).
const USUAL_ROOM: u64 = 212_992;
/// So many times its size a datagram takes of a socket's memory, about.
const MEMORY: u64 = 2;
/// Bits a second that a program sends or receives with all of a CPU.
const BY_A_CPU: f64 = 8e9;
