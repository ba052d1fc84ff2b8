//! Queues of paths that report as switches with telemetry in the band do (INT): datagrams of Telemetry Report v1.0 with INT v1.0.
//!
//! Each direction of a link is a switch: its id is the number of the link from 1, its egress port 1 of the one direction and 2 of the
//! other, its queue the place of the element in the chain. Occupancy is in bytes, latency what packets waited.
//!
//! Model: a report is sent when packets leave the queue, and takes no room on any link.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::num::NonZeroU32;

use passive::int::generate::TestReport;
use passive::int::report::{IntHop, Stamp};
use path::{ElementIndex, QueueStay, Train};

use super::frame::layout::{Layout, Version};

/// Where queues report to, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntTarget {
    /// Who collects.
    pub collector: SocketAddrV4,
    /// Of so many groups of packets that leave a queue together one is reported.
    pub every: NonZeroU32,
}

/// What a thread of the relay sends.
#[derive(Debug)]
pub(super) struct IntReporter {
    socket: UdpSocket,
    every: NonZeroU32,
    /// Groups of packets until the next report.
    left: u32,
    /// The next number of each switch: the thread has few.
    sequences: Vec<(u32, u32)>,
}

/// A queue that packets have left.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueOf {
    /// The wire and which of its directions.
    pub(super) direction: (usize, usize),
    pub(super) place: ElementIndex,
}

/// Packets that leave, and the frame that they are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving<'a> {
    pub(super) train: &'a Train,
    pub(super) frame: &'a [u8],
}

impl IntReporter {
    /// # Errors
    /// Where there is no socket, or no way to the collector.
    pub(super) fn open(target: IntTarget) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect(target.collector)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, every: target.every, left: 0, sequences: Vec::new() })
    }

    /// Reports packets that have left a queue, where it is their turn.
    pub(super) fn report(&mut self, queue: QueueOf, stay: QueueStay, packet: Leaving<'_>) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        let Leaving { train, frame } = packet;
        let Some((source, destination)) = ends(frame) else { return };
        self.left = self.every.get() - 1;
        let (wire, way) = queue.direction;
        let node = short(wire).saturating_add(1);
        let number = node.saturating_mul(2).saturating_add(short(way));
        let sequence = self.next(number);
        let stamp = |at: units::MonoTime| Some(Stamp::Short(low(at.as_nanos())));
        let ports = [1 + u16::from(way == 0), 1 + u16::from(way != 0)];
        let hop = IntHop {
            node: Some(node),
            ingress_port: Some(ports[0]),
            egress_port: Some(ports[1]),
            latency_ns: Some(u32::try_from(stay.left.since(stay.came).as_nanos()).unwrap_or(u32::MAX)),
            queue: Some(u8::try_from(queue.place.index()).unwrap_or(u8::MAX)),
            occupancy: Some(short(usize::try_from((stay.standing + train.bytes()).get()).unwrap_or(usize::MAX))),
            ingress_ns: stamp(stay.came),
            egress_ns: stamp(stay.left),
            ..IntHop::default()
        };
        let report = TestReport { node: number, sequence, source, destination, hops: vec![hop] };
        // A collector that is not there yet, or has no room, loses reports: their numbers show it.
        let _ = self.socket.send(&report.version1());
    }

    fn next(&mut self, switch: u32) -> u32 {
        match self.sequences.iter_mut().find(|(known, _)| *known == switch) {
            Some((_, next)) => {
                *next = next.wrapping_add(1);
                *next
            }
            None => {
                self.sequences.push((switch, 0));
                0
            }
        }
    }
}

/// The ends of a packet of TCP or UDP over IPv4; reports of others have no form here.
fn ends(frame: &[u8]) -> Option<(SocketAddrV4, SocketAddrV4)> {
    let layout = Layout::read(frame);
    let (ip, transport) = (layout.ip.filter(|ip| ip.version == Version::V4)?, layout.transport?);
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(frame.get(at..at + 4)?).ok()?));
    let port = |at: usize| Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?));
    let source = SocketAddrV4::new(address(ip.start + 12)?, port(transport.start)?);
    let destination = SocketAddrV4::new(address(ip.start + 16)?, port(transport.start + 2)?);
    Some((source, destination))
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The stamp of 32 bits, which wraps each 4.295 s.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is meant")]
const fn low(nanos: u64) -> u32 {
    nanos as u32
}
