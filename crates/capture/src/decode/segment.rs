//! A TCP segment as it was captured, and the connection that it belongs to.

use std::net::{IpAddr, Ipv6Addr};

/// One direction of a TCP connection as packets name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Endpoints {
    /// Source address; IPv4 as an IPv4-mapped IPv6 address.
    pub source: u128,
    /// Destination address.
    pub destination: u128,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// A digest of VLAN tags, MPLS labels and tunnels around the packet: two taps of one connection are two connections.
    pub outer: u32,
}

impl Endpoints {
    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            outer: self.outer,
        }
    }
}

/// An address as people write it.
#[must_use]
pub fn address(bits: u128) -> IpAddr {
    Ipv6Addr::from_bits(bits).to_canonical()
}

/// The bits of an address.
pub(crate) fn address_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// A TCP segment, with what its IP header says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment {
    /// When it was captured, in nanoseconds.
    pub time_ns: i64,
    /// The number of its frame.
    pub frame: u64,
    /// Who sent it to whom.
    pub endpoints: Endpoints,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Bytes of payload by the IP header, stored or not.
    pub payload: u32,
    /// Window, not scaled yet.
    pub window: u16,
    /// TCP flags: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
    pub flags: u8,
    /// Bits of explicit congestion notification in the IP header: 3 is CE.
    pub ecn: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Identification of IPv4; 0 where there is none.
    pub ip_id: u16,
    /// TCP checksum.
    pub checksum: u16,
    /// Interface of the capture.
    pub interface: u32,
    /// Options of the TCP header.
    pub options: TcpOptions,
    /// Where this is the first part of an IP packet: `payload` counts this part only.
    pub first_fragment: Option<FirstFragment>,
}

/// The first part of an IP packet that a router or its sender has cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstFragment {
    /// The identification of the packet.
    pub id: u32,
    /// How much of what IP carries is in it, and so where the next part begins.
    pub bytes: u32,
}

/// The bits of [`Segment::flags`].
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 1;
    /// Start of a connection.
    pub const SYN: u8 = 2;
    /// The connection is reset.
    pub const RST: u8 = 4;
    /// The sender has nothing more to send at the moment.
    pub const PSH: u8 = 8;
    /// The acknowledgment number counts.
    pub const ACK: u8 = 16;
    /// Congestion was marked (RFC 3168).
    pub const ECE: u8 = 64;
    /// The congestion window was reduced (RFC 3168).
    pub const CWR: u8 = 128;
}

impl Segment {
    /// Whether a flag is set.
    #[inline]
    #[must_use]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Blocks of a SACK option (RFC 2018): there is room for four.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    pub(super) count: u8,
    pub(super) blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// The blocks, each from its first byte to the one after its last, in the order of the packet.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        self.blocks.get(..usize::from(self.count)).unwrap_or(&[])
    }
}

/// Options of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// TSval and TSecr (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// What arrived beyond the acknowledgment number.
    pub sack: SackBlocks,
    /// Maximum segment size, of a SYN.
    pub mss: Option<u16>,
    /// Window scale, of a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted, of a SYN.
    pub sack_permitted: bool,
    /// The snap length has cut options off.
    pub is_cut: bool,
}

saved!(Endpoints { source, destination, source_port, destination_port, outer });
saved!(Segment {
    time_ns,
    frame,
    endpoints,
    seq,
    ack,
    payload,
    window,
    flags,
    ecn,
    ttl,
    ip_id,
    checksum,
    interface,
    options,
    first_fragment
});
saved!(FirstFragment { id, bytes });
saved!(SackBlocks { count, blocks });
saved!(TcpOptions { timestamps, sack, mss, window_scale, sack_permitted, is_cut });
