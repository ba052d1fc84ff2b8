//! Where the headers of a frame are: Ethernet, VLAN tags, IPv4 or IPv6, TCP or UDP.

/// The headers of a frame, as far as they could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// What the Ethernet header says that it carries, behind VLAN tags; 0 where there is no such header.
    pub ether_type: u16,
    /// The IP packet.
    pub ip: Option<Ip>,
    /// The segment or datagram in it, unless that is a fragment.
    pub transport: Option<Transport>,
}

/// An IP packet in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ip {
    /// Which.
    pub version: Version,
    /// Where its header begins.
    pub start: usize,
    /// Where its payload begins, behind extension headers.
    pub payload: usize,
    /// Where it ends; Ethernet may have filled up the frame behind it.
    pub end: usize,
    /// What it carries (IANA protocol numbers).
    pub protocol: u8,
    /// Whether it is a part of a datagram.
    pub fragment: bool,
}

/// The version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// IPv4 (RFC 791).
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

/// A TCP segment or a UDP datagram in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transport {
    /// Which.
    pub kind: TransportKind,
    /// Where its header begins.
    pub start: usize,
    /// Where its payload begins.
    pub payload: usize,
}

/// Protocols with ports that are told apart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportKind {
    /// TCP (RFC 9293).
    Tcp,
    /// UDP (RFC 768).
    Udp,
}

impl Layout {
    /// Reads the headers of a frame.
    #[must_use]
    pub fn read(frame: &[u8]) -> Self {
        Self::read_at(frame, 0)
    }

    /// Reads the headers of a frame that begins at an offset, inside another.
    #[must_use]
    pub fn read_at(frame: &[u8], start: usize) -> Self {
        let Some((ether_type, at)) = ethernet(frame, start) else { return Self::default() };
        let ip = match ether_type {
            IPV4 => ipv4(frame, at),
            IPV6 => ipv6(frame, at),
            _ => None,
        };
        let transport = ip.filter(|ip| !ip.fragment).and_then(|ip| transport(frame, ip));
        Self { ether_type, ip, transport }
    }
}

impl Ip {
    /// The bytes of source and destination address.
    #[must_use]
    pub fn addresses<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let (from, len) = match self.version {
            Version::V4 => (12, 8),
            Version::V6 => (8, 32),
        };
        frame.get(self.start + from..self.start + from + len).unwrap_or_default()
    }
}

impl Version {
    /// How long the header is without options and extensions.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }
}

/// Two bytes as a number.
#[must_use]
pub fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}

/// What an Ethernet header carries, and where that begins.
fn ethernet(frame: &[u8], start: usize) -> Option<(u16, usize)> {
    let mut at = start + ADDRESSES;
    for _ in 0..=MOST_TAGS {
        let ether_type = be16(frame, at)?;
        if !TAGS.contains(&ether_type) {
            return Some((ether_type, at + 2));
        }
        at += TAG_LEN;
    }
    None
}

fn ipv4(frame: &[u8], start: usize) -> Option<Ip> {
    let first = *frame.get(start)?;
    let header_len = usize::from(first & 0x0f) * 4;
    let total_len = usize::from(be16(frame, start + 2)?);
    let end = start + total_len;
    if first >> 4 != 4 || header_len < Version::V4.header_len() || total_len < header_len || end > frame.len() {
        return None;
    }
    // More fragments, or an offset.
    let fragment = be16(frame, start + 6)? & 0x3fff != 0;
    Some(Ip { version: Version::V4, start, payload: start + header_len, end, protocol: frame[start + 9], fragment })
}

fn ipv6(frame: &[u8], start: usize) -> Option<Ip> {
    let payload_len = usize::from(be16(frame, start + 4)?);
    let mut payload = start + Version::V6.header_len();
    let end = payload + payload_len;
    if frame[start] >> 4 != 6 || end > frame.len() {
        return None;
    }
    let mut protocol = frame[start + 6];
    let mut fragment = false;
    for _ in 0..MOST_EXTENSIONS {
        let len = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => 8 + 8 * usize::from(*frame.get(payload + 1)?),
            FRAGMENT => {
                fragment |= be16(frame, payload + 2)? & !0x0006 != 0;
                8
            }
            AUTHENTICATION => 8 + 4 * usize::from(*frame.get(payload + 1)?),
            _ => break,
        };
        if payload + len > end {
            return None;
        }
        protocol = frame[payload];
        payload += len;
    }
    Some(Ip { version: Version::V6, start, payload, end, protocol, fragment })
}

fn transport(frame: &[u8], ip: Ip) -> Option<Transport> {
    let start = ip.payload;
    let (kind, header_len) = match ip.protocol {
        TCP => (TransportKind::Tcp, usize::from(frame.get(start + 12)? >> 4) * 4),
        UDP => (TransportKind::Udp, UDP_HEADER),
        _ => return None,
    };
    let least = if kind == TransportKind::Tcp { TCP_HEADER } else { UDP_HEADER };
    let payload = start + header_len;
    (header_len >= least && payload <= ip.end).then_some(Transport { kind, start, payload })
}

/// `ETH_P_IP` (include/uapi/linux/if_ether.h).
pub const IPV4: u16 = 0x0800;
/// `ETH_P_IPV6`.
pub const IPV6: u16 = 0x86dd;
/// `ETH_P_ARP`.
pub const ARP: u16 = 0x0806;
/// `ETH_P_LLDP`.
pub const LLDP: u16 = 0x88cc;
/// `IPPROTO_ICMP` (include/uapi/linux/in.h).
pub const ICMP: u8 = 1;
/// `IPPROTO_TCP`.
pub const TCP: u8 = 6;
/// `IPPROTO_UDP`.
pub const UDP: u8 = 17;
/// `IPPROTO_ICMPV6`.
pub const ICMPV6: u8 = 58;
/// Both addresses of an Ethernet header.
pub const ADDRESSES: usize = 12;
/// The header of UDP.
pub const UDP_HEADER: usize = 8;

const TCP_HEADER: usize = 20;
/// `ETH_P_8021Q` and `ETH_P_8021AD`.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const TAG_LEN: usize = 4;
const MOST_TAGS: usize = 2;
/// Extension headers (RFC 8200 section 4); more of them than any packet has are not looked through.
const MOST_EXTENSIONS: usize = 8;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
