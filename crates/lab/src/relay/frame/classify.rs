//! Which train of packets a frame is.

use path::{Ecn, Edits, FlowHash, FrameId, PacketKind, Spacing, Train};
use units::MonoTime;

use super::Frame;
use super::layout::{self, ARP, Ip, LLDP, Layout, TransportKind, Version, be16};

impl Frame {
    /// The train that its packets are. `frame` is what the kernel gave, without the header before it.
    #[must_use]
    pub fn train(&self, frame: &[u8], id: FrameId, came: MonoTime) -> Train {
        let (kind, flow) = kind_and_flow(frame, &self.layout);
        let (dscp, ecn, whole) = self.layout.ip.map_or((0, Ecn::NotCapable, true), |ip| service(frame, &ip));
        let (size, last_size) = self.sizes();
        let count = self.packets();
        Train {
            frame: id,
            first: 0,
            count,
            size,
            last_size,
            flow,
            kind,
            dscp,
            ecn,
            whole,
            edits: Edits::default(),
            spacing: Spacing::NONE,
            came,
        }
    }

    /// Sizes on the link of each packet but the last, and of the last.
    fn sizes(&self) -> (u32, u32) {
        let bytes = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        let (Some(cuts), Some(ip)) = (self.cuts, self.layout.ip) else { return (bytes(self.len), bytes(self.len)) };
        let last = (ip.end - cuts.headers) % cuts.payload;
        let last = if last == 0 { cuts.payload } else { last };
        (bytes(cuts.headers + cuts.payload), bytes(cuts.headers + last))
    }
}

/// Class of service, congestion notification, and whether routers may not cut it.
fn service(frame: &[u8], ip: &Ip) -> (u8, Ecn, bool) {
    let header = frame.get(ip.start..).unwrap_or_default();
    let [first, second] = header.first_chunk().copied().unwrap_or_default();
    let (class, whole) = match ip.version {
        Version::V4 => (second, be16(header, 6).unwrap_or_default() & DONT_FRAGMENT != 0),
        Version::V6 => (first << 4 | second >> 4, true),
    };
    let ecn = match class & 3 {
        0b01 => Ecn::Capable1,
        0b10 => Ecn::Capable0,
        0b11 => Ecn::Marked,
        _ => Ecn::NotCapable,
    };
    (class >> 2, ecn, whole)
}

fn kind_and_flow(frame: &[u8], layout: &Layout) -> (PacketKind, FlowHash) {
    let flow = flow(frame, layout);
    let kind = match (layout.ether_type, layout.ip, layout.transport) {
        (ARP | LLDP, ..) => PacketKind::Link,
        (_, Some(ip), None) => match ip.protocol {
            layout::TCP => PacketKind::TcpData,
            layout::UDP => PacketKind::Udp,
            layout::ICMPV6 if is_neighbour_discovery(frame, &ip) => PacketKind::Link,
            _ => PacketKind::Other,
        },
        (_, Some(ip), Some(transport)) => match transport.kind {
            TransportKind::Tcp => tcp(frame, transport.start, transport.payload < ip.end),
            TransportKind::Udp => {
                if let Some(inner) = tunnelled(frame, transport.start, transport.payload) {
                    return inner;
                }
                PacketKind::Udp
            }
        },
        _ => PacketKind::Other,
    };
    (kind, flow)
}

fn tcp(frame: &[u8], start: usize, has_payload: bool) -> PacketKind {
    let flags = frame.get(start + TCP_FLAGS).copied().unwrap_or_default();
    match (flags & SYN != 0, has_payload) {
        (true, _) => PacketKind::TcpSyn,
        (false, true) => PacketKind::TcpData,
        (false, false) => PacketKind::TcpControl,
    }
}

/// What is inside a VXLAN tunnel (RFC 7348), and which flow; `None` where it is no tunnel.
fn tunnelled(frame: &[u8], start: usize, payload: usize) -> Option<(PacketKind, FlowHash)> {
    let port = be16(frame, start + 2)?;
    let flags = *frame.get(payload)?;
    if !VXLAN_PORTS.contains(&port) || flags & VXLAN_VALID == 0 {
        return None;
    }
    let inner = Layout::read_at(frame, payload + VXLAN_HEADER);
    let carries_data = match (inner.ip, inner.transport) {
        (Some(ip), Some(transport)) => transport.kind == TransportKind::Tcp && transport.payload < ip.end,
        _ => false,
    };
    let kind = if carries_data { PacketKind::TunnelledTcpData } else { PacketKind::Tunnelled };
    Some((kind, flow(frame, &inner)))
}

/// RFC 4861: types 133 to 137.
fn is_neighbour_discovery(frame: &[u8], ip: &Ip) -> bool {
    frame.get(ip.payload).is_some_and(|kind| (133..=137).contains(kind))
}

/// A hash of addresses, protocol and ports; of the Ethernet header where there is no IP packet. It is the same in
/// every run: FNV-1a (draft-eastlake-fnv), whose bits are mixed once more since its low ones follow those of the ports.
fn flow(frame: &[u8], layout: &Layout) -> FlowHash {
    let Some(ip) = layout.ip else {
        return FlowHash(finish(fnv(FNV_OFFSET, frame.get(..layout::ADDRESSES).unwrap_or_default())));
    };
    let mut hash = fnv(FNV_OFFSET, ip.addresses(frame));
    hash = fnv(hash, &[ip.protocol]);
    if let Some(transport) = layout.transport {
        hash = fnv(hash, frame.get(transport.start..transport.start + PORTS).unwrap_or_default());
    }
    FlowHash(finish(hash))
}

fn fnv(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// The finalizer of MurmurHash3 (Appleby).
fn finish(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

const FNV_OFFSET: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;
const PORTS: usize = 4;
const DONT_FRAGMENT: u16 = 0x4000;
const TCP_FLAGS: usize = 13;
const SYN: u8 = 0x02;
/// IANA's, and the one that Linux had before (drivers/net/vxlan).
const VXLAN_PORTS: [u16; 2] = [4_789, 8_472];
const VXLAN_HEADER: usize = 8;
const VXLAN_VALID: u8 = 0x08;

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn train(bytes: &[u8]) -> Train {
        let frame = Frame::read(bytes).unwrap();
        frame.train(&bytes[linux::tap::FrameHeader::LEN..], FrameId(1), MonoTime::from_nanos(0))
    }

    #[test]
    fn frame_of_segments_is_a_train_of_their_sizes() {
        for (bytes, header) in [(samples::tcp4(3_000, 1_448), 66), (samples::tcp6(3_000, 1_428), 86)] {
            let train = train(&bytes);
            let size = if header == 66 { 1_448 } else { 1_428 };
            assert_eq!((train.count.get(), train.size), (3, header + size));
            assert_eq!(train.last_size, header + 3_000 - 2 * size);
            assert_eq!((train.kind, train.whole), (PacketKind::TcpData, true));
        }
        assert_eq!(train(&samples::tcp4(2_896, 1_448)).last_size, 1_514);
        assert_eq!(train(&samples::tcp4(1_448, 1_448)).count.get(), 1);
        assert_eq!(train(&samples::udp4(1_200, 400)).count.get(), 3);
    }

    #[test]
    fn kinds_are_told_apart() {
        assert_eq!(train(&samples::tcp4(0, 0)).kind, PacketKind::TcpControl);
        assert_eq!(train(&samples::syn4()).kind, PacketKind::TcpSyn);
        assert_eq!(train(&samples::udp4(100, 0)).kind, PacketKind::Udp);
        assert_eq!(train(&samples::vxlan(&samples::tcp4(100, 0))).kind, PacketKind::TunnelledTcpData);
        assert_eq!(train(&samples::vxlan(&samples::tcp4(0, 0))).kind, PacketKind::Tunnelled);
        assert_eq!(train(&samples::arp()).kind, PacketKind::Link);
        assert_eq!(train(&samples::neighbour_solicitation()).kind, PacketKind::Link);
        assert_eq!(train(&[0; 11]).kind, PacketKind::Other);
    }

    #[test]
    fn flow_is_that_of_ports_and_of_what_is_in_a_tunnel() {
        let one = samples::tcp4(100, 0);
        let mut other = one.clone();
        other[linux::tap::FrameHeader::LEN + 14 + 20 + 1] ^= 1;
        assert_eq!(train(&one).flow, train(&samples::tcp4(3_000, 1_448)).flow);
        assert_ne!(train(&one).flow, train(&other).flow);
        assert_eq!(train(&one).flow, train(&samples::vxlan(&one)).flow);
        assert_ne!(train(&one).flow, train(&samples::vxlan(&other)).flow);
    }

    #[test]
    fn class_and_marks_are_read() {
        let mut bytes = samples::tcp4(100, 0);
        bytes[linux::tap::FrameHeader::LEN + 14 + 1] = 46 << 2 | 0b10;
        assert_eq!((train(&bytes).dscp, train(&bytes).ecn), (46, Ecn::Capable0));
        let mut bytes = samples::tcp6(100, 0);
        bytes[linux::tap::FrameHeader::LEN + 14] = 0x60 | 46 >> 2;
        // The last four bits of the class, of which two are the mark, and the first of the flow label.
        bytes[linux::tap::FrameHeader::LEN + 15] = (0b10 << 2 | 0b11) << 4;
        assert_eq!((train(&bytes).dscp, train(&bytes).ecn), (46, Ecn::Marked));
    }
}
