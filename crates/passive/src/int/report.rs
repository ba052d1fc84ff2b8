//! One report of one packet, whatever its format.

use std::net::SocketAddr;

/// A report: what one packet met on its way, and which packet it was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntReport {
    /// Which device sent it, with its number.
    pub sender: ReportSender,
    /// The number of the report at its sender.
    pub sequence: Sequence,
    /// Why it was sent.
    pub why: Why,
    /// The flow of the packet, where its headers are there.
    pub flow: Option<IntFlow>,
    /// The switches that it passed, in the order of its way; without any where nothing was embedded.
    pub hops: Vec<IntHop>,
    /// More hops than fit: the hop count ran out (E), or the MTU would have been exceeded (M).
    pub is_incomplete: bool,
}

/// Who sends reports: a sequence number belongs to one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ReportSender {
    /// The version of the format: 1 or 2.
    pub version: u8,
    /// Switch or node id.
    pub node: u32,
    /// The part of the device that made it (`hw_id`).
    pub hardware: u8,
}

/// A sequence number of so many bits, which wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sequence {
    /// Number of the report; the next one's is one more, until it wraps.
    pub number: u32,
    /// Its bits: 32 in version 1, 22 in version 2.
    pub bits: u8,
}

/// Why a report was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Why {
    /// The packet was dropped.
    pub dropped: bool,
    /// A queue was congested.
    pub congested: bool,
    /// The flow is tracked.
    pub tracked: bool,
    /// Both of version 2's flags for an intermediate report.
    pub intermediate: bool,
}

/// The packet's flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntFlow {
    /// Where it is from.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The protocol of IP: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// The outermost VLAN, where it has one.
    pub vlan: Option<u16>,
    /// Length of the IP packet as the switch that embedded saw it.
    pub ip_bytes: u16,
}

/// What one switch said. A value of all ones stands for one that the switch does not have, and is absent here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IntHop {
    /// Switch or node id.
    pub node: Option<u32>,
    /// Port it came in by.
    pub ingress_port: Option<u16>,
    /// Port it went out by.
    pub egress_port: Option<u16>,
    /// Time within the switch, in nanoseconds.
    pub latency_ns: Option<u32>,
    /// Number of the queue at the egress port.
    pub queue: Option<u8>,
    /// What stood in it, in units of the device: bytes, cells or packets.
    pub occupancy: Option<u32>,
    /// When it came in, by the device's clock, of 32 or 64 bits.
    pub ingress_ns: Option<Stamp>,
    /// When it went out.
    pub egress_ns: Option<Stamp>,
    /// Utilisation of the egress port, in units of the device.
    pub utilisation: Option<u32>,
    /// Why it was dropped, by the device's number.
    pub drop_reason: Option<u8>,
}

/// A time stamp of so many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// It wraps each 4.295 s.
    Short(u32),
    /// It does not.
    Long(u64),
}

impl IntHop {
    /// Time within the switch: as it says, or between its stamps, over a wrap of 32 bits.
    #[must_use]
    pub fn latency(&self) -> Option<u64> {
        if let Some(latency) = self.latency_ns {
            return Some(latency.into());
        }
        match (self.ingress_ns?, self.egress_ns?) {
            (Stamp::Short(came), Stamp::Short(left)) => Some(left.wrapping_sub(came).into()),
            (Stamp::Long(came), Stamp::Long(left)) => left.checked_sub(came),
            _ => None,
        }
    }
}
