//! What outputs count of sockets, of packets a second, of a copy and of attempts to connect.

use std::net::IpAddr;
use std::time::Duration;

use units::{ByteCount, DataRate};

/// Sockets of TCP of a host together, and what they may be and have. Memory is in pages of the kernel, of 4 KiB on most machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketMemory {
    /// Sockets that no program holds any more and that have not ended (`orphan`).
    pub orphans: Option<u64>,
    /// The most of them (`net.ipv4.tcp_max_orphans`).
    pub most_orphans: Option<u64>,
    /// Pages in use (`mem`).
    pub pages: Option<u64>,
    /// Pages from which on the kernel saves (the second of `net.ipv4.tcp_mem`).
    pub pressure: Option<u64>,
    /// The most of them (the third of `net.ipv4.tcp_mem`).
    pub most_pages: Option<u64>,
}

impl SocketMemory {
    /// With what another output says of the same host.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            orphans: self.orphans.or(other.orphans),
            most_orphans: self.most_orphans.or(other.most_orphans),
            pages: self.pages.or(other.pages),
            pressure: self.pressure.or(other.pressure),
            most_pages: self.most_pages.or(other.most_pages),
        }
    }
}

/// What a device sent and received in the second of most packets that `sar` printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PacketRates {
    /// The kernel's name of the interface, such as `eth0`.
    pub device: String,
    /// What it received.
    pub received: DeviceRate,
    /// What it sent.
    pub sent: DeviceRate,
}

/// Packets and bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceRate {
    /// Packets a second.
    pub packets: u64,
    /// Bytes a second.
    pub bytes: u64,
}

impl PacketRates {
    /// In both directions.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.received.packets.saturating_add(self.sent.packets)
    }
}

/// How a copy went, by its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferMarks {
    /// The program that printed the marks.
    pub tool: &'static str,
    /// Payload at the last mark.
    pub moved: ByteCount,
    /// Time of the last mark after the start.
    pub elapsed: Duration,
    /// Until the last mark at which nothing had come.
    pub silent: Duration,
    /// Slowest and fastest rate between two marks from there on.
    pub rates: Option<[DataRate; 2]>,
}

/// A connection to an address of a host that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedConnection {
    /// The host, by name.
    pub host: String,
    /// The address that was tried last.
    pub address: IpAddr,
    /// Why not: the words of the kernel, or what ended the attempt.
    pub why: String,
}
