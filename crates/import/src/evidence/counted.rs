//! What outputs count of sockets, of packets a second, of a copy and of attempts to connect; settings of TCP, links of radio, and what a
//! cloud allows.

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

/// A receive window that is small in all packets that were printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallWindow {
    /// Whose window it is.
    pub from: String,
    /// Who may send no more than it.
    pub to: String,
    /// How much may be under way to its host at most, whatever the RTT.
    pub window: ByteCount,
}

/// A program that has all of one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyProgram {
    /// Name of its command.
    pub name: String,
    /// Its time, in hundredths of a percent: of one CPU, or of all of them.
    pub share: u32,
    /// How many CPUs that is a share of: busybox counts all together, and a part of a quarter is one of four.
    pub cpus: u32,
}

/// A peer of an overlay that packets do not reach directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayedPeer {
    /// The peer, as the overlay calls it.
    pub peer: String,
    /// The relay, as the overlay calls it: `fra`.
    pub relay: String,
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

/// The device by which packets to a host leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingDevice {
    /// The host, as the command that asked for the route names it.
    pub to: String,
    /// The kernel's name of the device.
    pub device: String,
    /// What the system calls its port, such as `Wi-Fi`.
    pub port: Option<String>,
    /// Another device that has no link.
    pub inactive: Option<String>,
}

/// What a policer let pass, and what it dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicedTraffic {
    /// What it lets pass.
    pub rate: DataRate,
    /// What may pass at once.
    pub burst: Option<ByteCount>,
    /// Packets that passed.
    pub passed: u64,
    /// Packets that it dropped.
    pub dropped: u64,
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

/// Settings of TCP of a Linux host, as far as they are printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TcpSettings {
    /// The host, where the line above names it.
    pub host: Option<String>,
    /// Windows above 65,535 B (`tcp_window_scaling`).
    pub window_scaling: Option<Switch>,
    /// Selective acknowledgement (`tcp_sack`).
    pub sack: Option<Switch>,
    /// Whether the receive buffer grows by itself (`tcp_moderate_rcvbuf`).
    pub receive_grows: Option<Switch>,
    /// What the receive buffer begins with (the second of `tcp_rmem`).
    pub first_receive: Option<ByteCount>,
    /// The most that it grows to (the third).
    pub most_receive: Option<ByteCount>,
    /// The most that a send buffer grows to (the third of `tcp_wmem`).
    pub most_send: Option<ByteCount>,
    /// How it sends.
    pub congestion_control: Option<String>,
}

/// Whether a setting is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// 1, or more.
    On,
    /// 0.
    Off,
}

/// A link of Wi-Fi.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RadioLink {
    /// The device, empty where it is not printed.
    pub device: String,
    /// Power of what it receives, in dBm.
    pub signal_dbm: Option<i32>,
    /// The system's own measure of the signal, in percent.
    pub quality: Option<u32>,
    /// Bit rate of what it receives.
    pub receive: Option<DataRate>,
    /// Bit rate of what it sends.
    pub send: Option<DataRate>,
}

/// Packets that a virtual machine's host held back or dropped, since more came than is paid for: `bw_in_allowance_exceeded` of the driver
/// ena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowanceExceeded {
    /// The kernel's name of the interface, such as `ens5`; empty where it is not printed.
    pub device: String,
    /// The counter's name.
    pub counter: String,
    /// How many packets.
    pub packets: u64,
}

/// How busy a disk is, of `iostat -x`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskUse {
    /// The kernel's name of the disk, such as `sda`.
    pub device: String,
    /// Time in which it has something to do, in hundredths of a percent.
    pub busy: u32,
    /// What it reads.
    pub reads: Option<DataRate>,
    /// What it writes.
    pub writes: Option<DataRate>,
}

/// A socket whose program does not take what has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnreadSocket {
    /// Address and port at the host that printed it.
    pub local: String,
    /// Address and port of the other end.
    pub peer: String,
    /// What waits for the program.
    pub waiting: ByteCount,
}

/// A window scale that was in a SYN where it left its host, and was not where it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedScale {
    /// Who sent the SYN.
    pub client: String,
    /// Who was to answer it.
    pub server: String,
    /// The shift that it had.
    pub offered: u8,
}
