//! What a host dropped, interval by interval: one [`DropInterval`] is one line.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::fact::Fact;

/// All that one network namespace of a host counted in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DropInterval {
    /// Version of this format; see [`DropInterval::FORMAT`].
    pub format: u32,
    /// Host whose counters were read twice.
    pub host: String,
    /// The namespace as it was asked for; none for that of the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// When the interval began, by the host's own clock.
    #[serde(rename = "start_unix_ns")]
    pub start: WallTime,
    /// How long it was.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// Counters that say that something went wrong, with how much they grew; zero is a zero that was read.
    pub counters: Vec<Increase>,
    /// Counters, or parts of the host, of which nothing is known in this interval, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownPart>,
    /// Packets that the kernel dropped, by its reason: of the whole host, of all namespaces. None where it was not
    /// asked for, as in a namespace beside the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Fact<Reasons>>,
    /// Frames received, by VLAN and protocol; none where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Fact<Vec<Frames>>>,
    /// Datagrams that sockets of UDP dropped, by flow, those that dropped most first; none in lines of before this was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Fact<Vec<FlowDrops>>>,
    /// Segments sent again.
    pub retransmits: Fact<Retransmits>,
}

/// One counter in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Increase {
    /// What counts.
    #[serde(flatten)]
    pub counter: Counter,
    /// What it means.
    pub kind: DropKind,
    /// How much it grew.
    pub increase: u64,
}

/// Which counter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// The layer that counts.
    pub layer: Layer,
    /// What of that layer: a device, a queueing discipline as `eth0 1: tbf`, a processor as `cpu 3`; empty for protocols.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Its name there: `rx_missed_errors`, `Udp.RcvbufErrors`, `dropped`.
    pub name: String,
}

/// Where a packet gets lost in a host, from the wire up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// A device, by the kernel's names.
    Device,
    /// A device, by its driver's names.
    Driver,
    /// A processor's receive path; of the whole host.
    Softnet,
    /// A queueing discipline.
    Qdisc,
    /// IP, TCP and UDP.
    Protocol,
}

/// What a counter means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DropKind {
    /// The device had no descriptor or buffer for what came: the host takes packets out of the ring too slowly.
    NoBuffer,
    /// Bits were wrong on the wire: checksum, symbol, alignment, length.
    Corrupt,
    /// The link could not carry what was sent.
    Carrier,
    /// No protocol of the host handles such packets.
    Unhandled,
    /// The device counts several causes as one: a VLAN or protocol that nobody handles, a frame larger than its MTU, a full
    /// backlog. The kernel's reasons tell them apart.
    Mixed,
    /// No program listens on the port.
    NoListener,
    /// There is no route to the destination.
    NoRoute,
    /// The sender's address is not behind the device it came by (`rp_filter`).
    ReversePath,
    /// Discarded before it was sent: by the queue of the device, by a firewall, while a neighbour did
    /// not answer, or for want of memory.
    Discarded,
    /// The protocol is switched off on the device, or memory was short.
    Disabled,
    /// The other end asked for a pause, or this end did: nothing is lost here, but sending stands still.
    Pause,
    /// The backlog of a processor was full.
    Backlog,
    /// A processor ended its round with packets left.
    Squeezed,
    /// A queueing discipline had no room, or wanted less.
    Queue,
    /// A socket's receive buffer was full.
    ReceiveBuffer,
    /// A socket's or device's send queue was full.
    SendBuffer,
    /// A listener's queue of new connections was full.
    Listener,
    /// The kernel was short of memory.
    Memory,
    /// The packet itself was bad: header, checksum, address, fragment.
    BadPacket,
    /// TCP had to send again or gave up.
    Retransmit,
    /// Any other error.
    Other,
}

/// Something of which nothing is known in an interval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnknownPart {
    /// What: a file, a request, a counter.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Packets that the kernel dropped, by reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reasons {
    /// How many for each reason and protocol.
    pub packets: Vec<ReasonCount>,
    /// How many more for reasons that are not known: there were too many at once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
}

/// Packets dropped for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReasonCount {
    /// The kernel's word for it: `UNHANDLED_PROTO`, `SOCKET_RCVBUFF`; its number where it has no word.
    pub reason: String,
    /// The packets' protocol (EtherType); none where the kernel did not know it (yet).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethertype: Option<u16>,
    /// How many.
    pub packets: u64,
}

/// Frames of one kind that a device received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frames {
    /// Interface that received the frames.
    pub device: String,
    /// The VLAN of their tag; none without a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Their protocol (EtherType); none for frames that came too fast to be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethertype: Option<u16>,
    /// How many.
    pub frames: u64,
}

/// What one socket of UDP dropped: its receive buffer was full, or a checksum was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowDrops {
    /// Address and port of the socket.
    pub local: SocketAddr,
    /// The other end; none of a socket that takes datagrams of everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<SocketAddr>,
    /// How many.
    pub datagrams: u64,
}

/// Segments sent again in one interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retransmits {
    /// How they were counted.
    pub way: RetransmitWay,
    /// Segments by peer.
    pub peers: BTreeMap<IpAddr, u64>,
    /// How many more to peers that are not known: there were too many at once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
}

/// How segments sent again were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetransmitWay {
    /// Each as it was sent (`tcp_retransmit_skb`): complete, and of all namespaces of the host.
    Events,
    /// By the counters of the sockets there are: those of connections that ended within the interval are left out.
    #[default]
    Sockets,
}

impl DropInterval {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;

    /// How much a counter grew; none where it is not known.
    #[must_use]
    pub fn increase(&self, counter: &Counter) -> Option<u64> {
        self.counters.iter().find(|each| each.counter == *counter).map(|each| each.increase)
    }

    /// The host, with the namespace where it is not the host's own.
    #[must_use]
    pub fn place(&self) -> String {
        self.namespace.as_ref().map_or_else(|| self.host.clone(), |namespace| format!("{}/{namespace}", self.host))
    }
}

impl DropKind {
    /// What to think of first, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NoBuffer => "no buffer: ring too small or host too slow",
            Self::Corrupt => "bad bits: cable, optics, duplex",
            Self::Carrier => "link could not send",
            Self::Unhandled => "no protocol of this host handles them",
            Self::Mixed => "unknown VLAN or protocol, larger than the MTU, or a full backlog",
            Self::NoListener => "no program listens on the port",
            Self::NoRoute => "no route to the destination",
            Self::ReversePath => "the source is not behind this device (rp_filter)",
            Self::Discarded => "discarded before sending: queue, firewall, silent neighbour",
            Self::Disabled => "IPv6 is off on the device, or memory was short",
            Self::Pause => "pause frames",
            Self::Backlog => "CPU backlog full",
            Self::Squeezed => "CPU ran out of its budget (squeezed)",
            Self::Queue => "queue full",
            Self::ReceiveBuffer => "receive buffer of a socket full",
            Self::SendBuffer => "send queue full",
            Self::Listener => "too many new connections at once",
            Self::Memory => "no memory",
            Self::BadPacket => "bad header, checksum, address or fragment",
            Self::Retransmit => "TCP retransmitted",
            Self::Other => "error",
        }
    }

    /// Whether such a counter says that a packet was lost: others say that something waited or was sent again.
    #[must_use]
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::Pause | Self::Squeezed | Self::Retransmit)
    }
}

impl std::fmt::Display for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.of.is_empty() {
            write!(f, "{} ", self.of)?;
        }
        match self.layer {
            Layer::Softnet => write!(f, "softnet {}", self.name),
            Layer::Qdisc => write!(f, "qdisc {}", self.name),
            Layer::Device | Layer::Driver | Layer::Protocol => f.write_str(&self.name),
        }
    }
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
