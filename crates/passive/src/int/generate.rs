//! Test reports: datagrams as switches send them.

use std::net::SocketAddrV4;

use super::report::{IntHop, Stamp};

/// A report to be written.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// Switch id of the sender.
    pub node: u32,
    /// Sequence number.
    pub sequence: u32,
    /// The flow of the packet, over UDP.
    pub source: SocketAddrV4,
    /// Where it goes.
    pub destination: SocketAddrV4,
    /// The hops, in the order of the packet's way.
    pub hops: Vec<IntHop>,
}

impl TestReport {
    /// A datagram of Telemetry Report v1.0 with INT v1.0 in the form that AmLight's switches send: Ethernet with one VLAN tag, and
    /// six words a hop.
    #[must_use]
    pub fn version1(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(98 + self.hops.len() * 24);
        word(&mut bytes, 1 << 28 | 4 << 24 | TRACKED_1);
        word(&mut bytes, self.node);
        word(&mut bytes, self.sequence);
        word(&mut bytes, 0);
        bytes.extend([0xff; 6]);
        bytes.extend([0; 6]);
        bytes.extend([0x81, 0x00, 0x00, 0x2a, 0x08, 0x00]);
        self.ipv4(&mut bytes);
        let hops = count(self.hops.len());
        word(&mut bytes, 1 << 24 | ((3 + 6 * hops) & 255) << 8);
        word(&mut bytes, 1 << 28 | 6 << 8 | 10_u32.saturating_sub(hops));
        word(&mut bytes, 0xfc00 << 16);
        for hop in self.hops.iter().rev() {
            self.hop(&mut bytes, hop);
        }
        bytes
    }

    /// A datagram of Telemetry Report v2.0 whose one report has the last hop as its own metadata.
    #[must_use]
    pub fn version2(&self) -> Vec<u8> {
        let hop = self.hops.last().copied().unwrap_or_default();
        let mut body = Vec::new();
        word(&mut body, 0x7000 << 16);
        word(&mut body, 0);
        word(
            &mut body,
            u32::from(hop.ingress_port.unwrap_or(MAX16)) << 16 | u32::from(hop.egress_port.unwrap_or(MAX16)),
        );
        word(&mut body, hop.latency_ns.unwrap_or(u32::MAX));
        word(&mut body, queue(&hop));
        self.ipv4(&mut body);
        let mut bytes = Vec::with_capacity(12 + body.len());
        word(&mut bytes, 2 << 28 | self.sequence & 0x003f_ffff);
        word(&mut bytes, self.node);
        word(&mut bytes, 1 << 28 | 4 << 24 | (count(body.len()) / 4) << 16 | 3 << 8);
        bytes.extend(body);
        bytes
    }

    /// The headers of IPv4 and UDP.
    fn ipv4(&self, bytes: &mut Vec<u8>) {
        bytes.extend([0x45, 0, 0x23, 0x28, 0, 0, 0x40, 0, 64, 17, 0, 0]);
        bytes.extend(self.source.ip().octets());
        bytes.extend(self.destination.ip().octets());
        bytes.extend(self.source.port().to_be_bytes());
        bytes.extend(self.destination.port().to_be_bytes());
        bytes.extend([0x23, 0x14, 0, 0]);
    }

    fn hop(&self, bytes: &mut Vec<u8>, hop: &IntHop) {
        let short = |stamp: Option<Stamp>| match stamp {
            Some(Stamp::Short(stamp)) => stamp,
            _ => u32::MAX,
        };
        word(bytes, hop.node.unwrap_or(self.node));
        word(bytes, u32::from(hop.ingress_port.unwrap_or(MAX16)) << 16 | u32::from(hop.egress_port.unwrap_or(MAX16)));
        word(bytes, hop.latency_ns.unwrap_or(u32::MAX));
        word(bytes, queue(hop));
        word(bytes, short(hop.ingress_ns));
        word(bytes, short(hop.egress_ns));
    }
}

/// A datagram has no more than a number of 16 bits says.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn queue(hop: &IntHop) -> u32 {
    match hop.occupancy {
        Some(occupancy) => u32::from(hop.queue.unwrap_or(0)) << 24 | occupancy & 0x00ff_ffff,
        None => u32::MAX,
    }
}

fn word(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend(word.to_be_bytes());
}

const TRACKED_1: u32 = 1 << 6;
const MAX16: u16 = u16::MAX;
