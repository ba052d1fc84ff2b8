//! What outputs say of hosts: their links, buses, rings, qdiscs and CPUs, and the handshakes of their connections.

use std::time::Duration;

use units::{ByteCount, DataRate};

use super::access::AccessRates;
use super::counted::{
    AllowanceExceeded, BusyProgram, DiskUse, FailedConnection, OutgoingDevice, PacketRates, PolicedTraffic, RadioLink,
    RelayedPeer, RemovedScale, SmallWindow, SocketMemory, TcpSettings, TransferMarks, UnreadSocket,
};
use super::socket::Socket;
use super::watched::{DeviceBursts, DropsOfBurst, HostDrops, SwitchQueue};
use crate::figures::Figure;
use crate::signatures::SignatureFact;
use crate::stated_rate::StatedRate;

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
    /// What lines say by the table of such lines.
    Signature(SignatureFact),
    /// A queue of a device, and what it dropped.
    Qdisc(QdiscState),
    /// What CPUs did.
    Cpu(CpuShares),
    /// Which CPUs receive.
    Receiving(ReceivingCpus),
    /// What was lost of all that was received since counters began to count.
    LostSoFar(LostSoFar),
    /// What was retransmitted of all that was sent since counters began to count.
    RetransmittedSoFar(RetransmittedSoFar),
    /// Collisions that a link of full duplex cannot have.
    LateCollisions(LateCollisions),
    /// Sockets of TCP and their memory, all of a host together.
    SocketMemory(SocketMemory),
    /// How TCP of a Linux host is set.
    TcpSettings(TcpSettings),
    /// A link of Wi-Fi.
    Radio(RadioLink),
    /// How busy a disk is.
    DiskUse(DiskUse),
    /// A socket whose program does not read.
    Unread(UnreadSocket),
    /// What exceeded the rate that a virtual machine is allowed.
    Allowance(AllowanceExceeded),
    /// Packets and bytes a second of a device.
    PacketRates(PacketRates),
    /// By which device packets to a host leave.
    Outgoing(OutgoingDevice),
    /// What a policer dropped.
    Policed(PolicedTraffic),
    /// A receive window that never grows.
    SmallWindow(SmallWindow),
    /// A program that has all of one CPU.
    BusyProgram(BusyProgram),
    /// A peer that is reached through a relay.
    Relayed(RelayedPeer),
    /// A connection that was not made.
    FailedConnection(FailedConnection),
    /// How a copy went between its marks.
    TransferMarks(TransferMarks),
    /// Window scaling in the handshake of a connection.
    Handshake(WindowScales),
    /// A window scale that a box on the path took out of a SYN.
    ScaleRemoved(RemovedScale),
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
    /// How long packets were under way in one direction.
    OneWay(OneWayDelays),
    /// Fewer packets were sent than the command asked for.
    Asked(PacketsAsked),
    /// How TCP of Windows is set.
    WindowsTcp(WindowsTcp),
    /// Frames with errors that a port of a router counted.
    Port(PortErrors),
    /// A connection that stood still with data under way.
    StoodStill(StoodStill),
    /// A receiver whose window stays closed.
    ClosedWindow(ClosedWindow),
    /// What a disk takes.
    Disk(DiskRate),
    /// A rate that the text around a log states, and that its transfers are held against.
    Stated(StatedRate),
    /// Numbers of a text, and of all that was measured in it.
    Figures(Vec<Figure>),
    /// What an access line carried to and from a near server.
    Access(AccessRates),
    /// Bursts of a device that was watched.
    Bursts(DeviceBursts),
    /// Packets that a device dropped while it was watched for bursts.
    DropsOfBurst(DropsOfBurst),
    /// What switches reported of a queue.
    SwitchQueue(SwitchQueue),
    /// What a host dropped while it was watched.
    Dropped(HostDrops),
    /// Files of which a program sent what differs only: its rate is none of the path.
    DeltaTransfer {
        /// Name of the command, such as `rsync`.
        tool: &'static str,
        /// What was sent of them.
        moved: ByteCount,
    },
}

/// Delays of packets in one direction, by the clocks of both hosts: negative where those are further apart than the path is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneWayDelays {
    /// Who sent.
    pub from: String,
    /// Who received.
    pub to: String,
    /// Least, in microseconds.
    pub least_us: i64,
    /// Half are at most this, in microseconds.
    pub median_us: Option<i64>,
    /// Greatest, in microseconds.
    pub most_us: i64,
    /// How far the clocks may be apart by their own word, in microseconds; `None` where they are not synchronised.
    pub error_us: Option<u64>,
}

/// Packets that a command asked for, and how many its program sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketsAsked {
    /// Name of the command, such as `twping`.
    pub tool: &'static str,
    /// The host that they were sent to.
    pub to: String,
    /// How many the command asked for.
    pub asked: u64,
    /// How many were sent.
    pub sent: u64,
}

/// TCP of a Windows host, as `netsh interface tcp show` and `Get-NetTCPSetting` print it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowsTcp {
    /// How far the receive window may grow.
    pub autotuning: Option<WindowTuning>,
    /// Congestion control of what it sends, in lower letters: `cubic`, `dctcp`, `default`.
    pub congestion_control: Option<String>,
}

/// How far Windows lets a receive window grow (`AutoTuningLevelLocal`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowTuning {
    /// No window scaling: 65,535 bytes.
    Disabled,
    /// A scale of 2.
    HighlyRestricted,
    /// A scale of 4.
    Restricted,
    /// A scale of 8, or more.
    Normal,
}

/// What a port of a router counted of bad frames, since its counters began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortErrors {
    /// The port, such as `ge-4/1/0`.
    pub port: String,
    /// All of them.
    pub errors: u64,
    /// Of one kind, by the router's name, the most first.
    pub kinds: Vec<ErrorsOfKind>,
    /// Packets that came in, where they are printed.
    pub packets: Option<u64>,
}

/// Bad frames of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorsOfKind {
    /// The router's name, such as `Framing errors`.
    pub kind: String,
    /// How many.
    pub count: u64,
}

/// A time in which a connection of `tcpdump` sent nothing, with data that was not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoodStill {
    /// Who had data under way.
    pub from: String,
    /// Who had not acknowledged it.
    pub to: String,
    /// How long.
    pub silent: Duration,
    /// Bytes that were not acknowledged.
    pub unacknowledged: u64,
    /// Segments that were retransmitted before.
    pub again: u64,
}

/// Packets that say that their sender has no room for what it receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedWindow {
    /// Who has no room.
    pub from: String,
    /// Who has to wait.
    pub to: String,
    /// How many packets say so.
    pub times: u64,
    /// All packets that were printed.
    pub packets: u64,
}

/// What a disk took of a program that wrote to it and sent nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskRate {
    /// How much was written.
    pub written: ByteCount,
    /// Its mean rate.
    pub rate: DataRate,
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
    /// All sockets of TCP together need more memory than they may have.
    TcpMemory,
    /// More sockets of TCP belong to no program any more than may be.
    Orphans,
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
    /// The highest rate that this end could advertise.
    pub supported: Option<DataRate>,
    /// The highest rate that this end advertises.
    pub offered: Option<DataRate>,
    /// The highest rate that the other end advertises.
    pub offered_by_partner: Option<DataRate>,
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
    /// The most that was idle while a disk had requests of the host.
    pub waits_for_disk: Option<u32>,
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
    /// How many lines there are; others may have been cut out.
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
    /// Where, and for what.
    pub kind: LossKind,
    /// The device, or what else counts.
    pub device: String,
    /// The counter of what was lost, by its name.
    pub counter: String,
    /// What it stands at.
    pub lost: u64,
    /// What arrived, lost or not.
    pub all: u64,
    /// Mean length of what was lost, in bytes, where the device counts its bytes.
    pub mean_length: Option<u64>,
}

/// What packets were lost to in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    /// The socket that receives datagrams was full.
    FullSocket,
    /// Frames whose check sequence was wrong.
    Damage,
    /// The NIC had no room for them.
    FullRing,
}

/// One reading of the kernel's counters of TCP that tells by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetransmittedSoFar {
    /// Segments retransmitted.
    pub again: u64,
    /// Segments sent for the first time.
    pub sent: u64,
    /// Of those retransmitted, such as were lost as well.
    pub lost_again: Option<u64>,
    /// Segments that came out of order, of all with data that came in order.
    pub out_of_order: Option<PartOf>,
}

/// A count of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartOf {
    /// How many.
    pub part: u64,
    /// Of how many.
    pub whole: u64,
}

/// Collisions later than a frame's first 64 bytes: two ends sent at once, of which one did not listen (IEEE 802.3, clause 4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateCollisions {
    /// The device or port.
    pub device: String,
    /// How many, since its counters began.
    pub count: u64,
    /// Packets that it sent.
    pub sent: Option<u64>,
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
