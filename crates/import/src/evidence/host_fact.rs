//! What outputs say of hosts: their links, buses, rings, qdiscs and CPUs, and the handshakes of their connections.

use std::time::Duration;

use units::{ByteCount, DataRate};

use super::socket::Socket;

/// What one output says of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostFact {
    /// A link that came up, went down, or is as `ethtool` has it.
    Link(LinkState),
    /// What the bus of a NIC carries.
    Bus(BusRate),
    /// The rings of a NIC.
    Rings(RingSizes),
    /// Whether a NIC merges what it receives.
    Lro(LroState),
    /// A queue of a device, and what it dropped.
    Qdisc(QdiscState),
    /// What CPUs did.
    Cpu(CpuShares),
    /// Which CPUs receive.
    Receiving(ReceivingCpus),
    /// What was lost of all that was received since counters began to count.
    LostSoFar(LostSoFar),
    /// Window scaling in the handshake of a connection.
    Handshake(WindowScales),
    /// A socket that is no run of its own.
    Socket(SocketBetween),
    /// The table of connections of a firewall.
    TrackedConnections(TrackedConnections),
    /// The time between two readings of a NIC's counters.
    CounterInterval {
        /// The device, where the command says which.
        device: Option<String>,
        /// What the command waited between them.
        time: Duration,
    },
    /// What the kernel's log complains of.
    Complaint(KernelComplaint),
    /// Files of which a program sent what differs only: its rate is none of the path.
    DeltaTransfer {
        /// Name of the command, such as `rsync`.
        tool: &'static str,
        /// What was sent of them.
        moved: ByteCount,
    },
}

/// Lines of one kind in the kernel's log, all of a file together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelComplaint {
    /// What they say.
    pub kind: ComplaintKind,
    /// The device or the server that they name.
    pub subject: String,
    /// How often, by the highest count that a line has, else by lines.
    pub times: u64,
}

/// What a line of the kernel's log complains of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComplaintKind {
    /// A transmit queue of a NIC stood still, and the driver reset the NIC.
    TransmitHang,
    /// An NFS server did not answer in time.
    NfsSilent,
    /// A listening socket got more SYNs than it had room for.
    SynFlood,
    /// The table of neighbours (ARP, NDP) is full.
    NeighbourTable,
}

/// What the kernel says of its table of connections (conntrack).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrackedConnections {
    /// How many it has, where that was printed.
    pub count: Option<u64>,
    /// How many it can have.
    pub most: Option<u64>,
    /// Packets that the kernel says it dropped since the table was full.
    pub dropped: u64,
}

/// Whether both ends of a link may send at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplex {
    /// They may not.
    Half,
    /// They may.
    Full,
}

/// A link as the kernel or `ethtool` reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkState {
    /// The device, empty where it is not printed.
    pub device: String,
    /// The address of its slot, where it is printed.
    pub slot: Option<String>,
    /// Since the host started.
    pub at: Option<Duration>,
    /// Whether it carries anything.
    pub is_up: bool,
    /// Signalling rate of the link, `None` while it is down or where the driver prints none.
    pub rate: Option<DataRate>,
    /// Whether both ends may send at once.
    pub duplex: Option<Duplex>,
    /// Whether speed and duplex are negotiated.
    pub negotiates: Option<bool>,
    /// The highest rate that both ends advertise, where both are printed.
    pub possible: Option<DataRate>,
}

/// `31.504 Gb/s available PCIe …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusRate {
    /// The address of the NIC.
    pub slot: String,
    /// What is available, without the encoding of the link.
    pub available: DataRate,
    /// The link that limits it, in the kernel's words.
    pub limited_by: Option<String>,
    /// What the NIC could use.
    pub capable: Option<DataRate>,
}

/// Descriptors of `ethtool -g`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RingSizes {
    /// The kernel's name of the interface, such as `eth0`.
    pub device: String,
    /// Of the receive ring: now, and at most.
    pub receive: Option<(u32, u32)>,
    /// Of the send ring: now, and at most.
    pub send: Option<(u32, u32)>,
}

/// Large receive offload of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LroState {
    /// `large-receive-offload: on`.
    On {
        /// The device, empty where it is not printed.
        device: String,
    },
    /// The kernel refused to forward what was merged.
    Refused {
        /// The kernel's name of the interface, such as `eth0`.
        device: String,
    },
    /// The device is a port of a bridge.
    Bridged {
        /// The kernel's name of the interface that is the port.
        device: String,
        /// The kernel's name of the interface that is the bridge.
        bridge: String,
    },
}

/// A qdisc or class of `tc -s`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QdiscState {
    /// `tbf`, `htb`, `fq_codel`.
    pub kind: String,
    /// The device, where it is printed.
    pub device: Option<String>,
    /// The most that it lets through.
    pub rate: Option<DataRate>,
    /// Packets that it let through.
    pub sent: Option<u64>,
    /// Packets that it dropped.
    pub dropped: Option<u64>,
    /// How often a packet had to wait for a rate.
    pub overlimits: Option<u64>,
    /// What waits in it.
    pub backlog: Option<ByteCount>,
}

/// What CPUs did, in hundredths of a percent of their time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuShares {
    /// The host, where the output itself names it.
    pub host: Option<String>,
    /// Readings of all CPUs together.
    pub readings: u32,
    /// The most that a hypervisor took.
    pub steal: Option<u32>,
    /// The least that was idle.
    pub idle: Option<u32>,
    /// The most in soft interrupts, in which packets are received.
    pub softirq: Option<u32>,
    /// The least that one CPU alone was idle.
    pub idle_of_one: Option<u32>,
    /// The most of one CPU that the kernel's thread for packets took (`ksoftirqd`).
    pub softirq_of_one: Option<u32>,
}

/// What the CPUs of a host received (`/proc/net/softnet_stat`), since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivingCpus {
    /// How many lines there are.
    pub cpus: u32,
    /// Packets, of all.
    pub received: u64,
    /// The CPU that received most, from 0.
    pub busiest: u32,
    /// Packets that it received.
    pub by_busiest: u64,
    /// How often it left packets for later (`time_squeeze`).
    pub squeezed_of_busiest: u64,
    /// Packets for which the queue of a CPU had no room, of all.
    pub dropped: u64,
}

/// One reading of counters that tells by itself: so much was lost of so much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSoFar {
    /// The device, or what else counts.
    pub device: String,
    /// The counter of what was lost, by its name.
    pub counter: String,
    /// What it stands at.
    pub lost: u64,
    /// What arrived, lost or not.
    pub all: u64,
}

/// Window scaling (RFC 7323) in the SYN of a connection and in the answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowScales {
    /// Who sent the SYN.
    pub client: String,
    /// Who answered it.
    pub server: String,
    /// The shift that the SYN offers.
    pub offered: Option<u8>,
    /// The shift in the answer.
    pub answered: Option<u8>,
}

/// A socket and its hosts, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketBetween {
    /// The host whose socket it is.
    pub local: String,
    /// The other host.
    pub peer: String,
    /// The socket as its kernel sees it, addresses hidden or left out included.
    pub socket: Socket,
}
