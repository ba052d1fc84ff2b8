//! What elements change in packets: fields of headers, and bits that become wrong.

use linux::tap::FrameHeader;
use path::Ecn;

use super::checksum::{Sum, renew_header};
use super::layout::{Ip, Layout, TransportKind, Version, be16};

/// Writes the ECN field of the IP header.
pub fn set_ecn(head: &mut [u8], ip: &Ip, ecn: Ecn) {
    let bits = match ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Capable1 => 0b01,
        Ecn::Capable0 => 0b10,
        Ecn::Marked => 0b11,
    };
    let Some(class) = head.get_mut(ip.start + 1) else { return };
    match ip.version {
        Version::V4 => *class = *class & !3 | bits,
        Version::V6 => *class = *class & !(3 << 4) | bits << 4,
    }
    renew_header(head, ip);
}

/// Puts "no operation" in the place of the window scale option (RFC 7323 section 2.2). Where the checksum is made
/// already, it is corrected.
pub fn strip_window_scale(head: &mut [u8], layout: &Layout, header: &FrameHeader) {
    let Some(transport) = layout.transport.filter(|transport| transport.kind == TransportKind::Tcp) else { return };
    let Some(tcp) = head.get_mut(transport.start..transport.payload) else { return };
    let mut at = TCP_OPTIONS;
    while let Some(&kind) = tcp.get(at) {
        let len = match kind {
            END => return,
            NO_OPERATION => 1,
            _ => usize::from(tcp.get(at + 1).copied().unwrap_or_default()).max(1),
        };
        if kind == WINDOW_SCALE && len == 3 && at + len <= tcp.len() {
            // Options begin anywhere; sums count words at even places.
            let (from, until) = (at & !1, (at + len).next_multiple_of(2).min(tcp.len()));
            let before = Sum::default().of(&tcp[from..until]);
            tcp[at..at + len].fill(NO_OPERATION);
            let after = Sum::default().of(&tcp[from..until]);
            if header.checksum.is_none() {
                correct(tcp, before, after);
            }
        }
        at += len;
    }
}

/// RFC 1624, equation 3.
fn correct(tcp: &mut [u8], before: Sum, after: Sum) {
    let old = be16(tcp, TCP_CHECKSUM).unwrap_or_default();
    let sum = Sum::default().and(!old).and(!before.folded()).and(after.folded()).checksum();
    tcp[TCP_CHECKSUM..TCP_CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Makes the sums that the kernel has left to be made. `packet` is one packet with a [`FrameHeader`] before it, which
/// says afterwards that nothing is left.
pub fn finish(packet: &mut [u8], header: &FrameHeader) {
    if let (Some(place), Some(frame)) = (header.checksum, packet.get_mut(FrameHeader::LEN..)) {
        let at = usize::from(place.start) + usize::from(place.offset);
        let sum = frame.get(usize::from(place.start)..).map(|covered| Sum::default().of(covered).checksum());
        if let (Some(sum), Some(field)) = (sum, frame.get_mut(at..at + 2)) {
            // Zero would say that a datagram has none (RFC 768); for TCP both mean the same.
            field.copy_from_slice(&if sum == 0 { u16::MAX } else { sum }.to_be_bytes());
        }
    }
    if let Some(raw) = packet.get_mut(..FrameHeader::LEN) {
        raw.copy_from_slice(&FrameHeader::default().emit());
    }
}

/// Makes one bit of a packet wrong, which one `chance` says: one of the payload, and where there is none, one of the
/// checksum. `frame` is one packet.
pub fn corrupt(frame: &mut [u8], layout: &Layout, chance: u64) {
    let Some(ip) = layout.ip else { return };
    let range = match layout.transport {
        Some(transport) if transport.payload >= frame.len().min(ip.end) => {
            let sum = transport.start + usize::from(transport.kind.checksum_offset());
            sum..sum + 2
        }
        Some(transport) => transport.payload..frame.len(),
        None => ip.payload..frame.len(),
    };
    let Some(bytes) = frame.get_mut(range).filter(|bytes| !bytes.is_empty()) else { return };
    let bits = bytes.len() as u64 * 8;
    let bit = usize::try_from(chance % bits).unwrap_or_default();
    bytes[bit / 8] ^= 1 << (bit % 8);
}

const TCP_OPTIONS: usize = 20;
const TCP_CHECKSUM: usize = 16;
const END: u8 = 0; // RFC 9293 section 3.2
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
