//! Captures written: headers of TCP segments as a pcap file of nanoseconds. What is simulated is read like what was
//! captured.

use std::net::SocketAddrV4;

/// A segment to write; its payload is stated and not stored.
#[derive(Debug, Clone, Copy)]
pub struct WrittenSegment<'a> {
    /// When it was sent, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Who sent it.
    pub from: SocketAddrV4,
    /// Who is to have it.
    pub to: SocketAddrV4,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// TCP flags.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// Bytes of payload.
    pub payload: u32,
    /// Options, as the header has them; at most 40 bytes.
    pub options: &'a [u8],
    /// Identification of the IP header.
    pub ip_id: u16,
    /// Bits of explicit congestion notification.
    pub ecn: u8,
}

const LINK_ETHERNET: u32 = 1;
const LINK_RAW: u32 = 101;
const SNAP_BYTES: u32 = 128;
/// Ethernet, IPv4, TCP.
const FIXED_BYTES: u32 = 14 + 20 + 20;
const MAX_OPTION_BYTES: usize = 40;

/// The header of a file.
pub fn file_header(out: &mut Vec<u8>) {
    header(LINK_ETHERNET, out);
}

/// The header of a file of packets without link layer.
pub fn raw_file_header(out: &mut Vec<u8>) {
    header(LINK_RAW, out);
}

fn header(link: u32, out: &mut Vec<u8>) {
    out.extend(0xa1b2_3c4d_u32.to_le_bytes());
    out.extend([2, 0, 4, 0]);
    out.extend([0; 8]);
    out.extend(SNAP_BYTES.to_le_bytes());
    out.extend(link.to_le_bytes());
}

/// A packet as it was captured, of `wire_bytes` of which `bytes` are stored; in the order of its link layer.
pub fn packet(time_ns: u64, wire_bytes: u32, bytes: &[u8], out: &mut Vec<u8>) {
    let stored = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    record_header(time_ns, Sizes { stored, wire: wire_bytes }, out);
    out.extend(bytes);
}

/// What is stored of a packet, and what it had.
#[derive(Clone, Copy)]
struct Sizes {
    stored: u32,
    wire: u32,
}

fn record_header(time_ns: u64, sizes: Sizes, out: &mut Vec<u8>) {
    let (seconds, nanoseconds) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    out.extend(((seconds & 0xffff_ffff) as u32).to_le_bytes());
    out.extend(((nanoseconds & 0xffff_ffff) as u32).to_le_bytes());
    out.extend(sizes.stored.to_le_bytes());
    out.extend(sizes.wire.to_le_bytes());
}

/// One record. A segment whose IP packet is larger than its header can say gets a length of 0, as BIG TCP has it.
pub fn segment(segment: &WrittenSegment, out: &mut Vec<u8>) {
    let options = segment.options.get(..segment.options.len().min(MAX_OPTION_BYTES)).unwrap_or(&[]);
    let words = u8::try_from(options.len().div_ceil(4)).unwrap_or(10);
    let option_bytes = u32::from(words) * 4;
    let ip_bytes = 40 + option_bytes + segment.payload;
    let sizes = Sizes { stored: FIXED_BYTES + option_bytes, wire: ip_bytes + 14 };
    record_header(segment.time_ns, sizes, out);
    out.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
    out.extend([0x45, segment.ecn & 3]);
    out.extend(u16::try_from(ip_bytes).unwrap_or(0).to_be_bytes());
    out.extend(segment.ip_id.to_be_bytes());
    // Do not fragment; TTL 64; TCP; no checksum.
    out.extend([0x40, 0, 64, 6, 0, 0]);
    out.extend(segment.from.ip().octets());
    out.extend(segment.to.ip().octets());
    out.extend(segment.from.port().to_be_bytes());
    out.extend(segment.to.port().to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    out.extend(segment.ack.to_be_bytes());
    out.extend([(5 + words) << 4, segment.flags]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]);
    out.extend(options);
    out.resize(out.len() + usize::from(words) * 4 - options.len(), 1);
}
