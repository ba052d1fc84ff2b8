//! Frames for tests, as the kernel gives them.

use linux::tap::{ChecksumPlace, FrameHeader, Segmentation, SegmentationKind};

use super::Frame;
use super::checksum::{pseudo_header, renew_header};

/// A TCP segment over IPv4 with time stamps, cut into pieces of `mss` unless that is 0.
pub(crate) fn tcp4(payload: usize, mss: u16) -> Vec<u8> {
    let segment = tcp(payload, 0x80 | 0x10 | 0x08, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    frame(&ipv4(6, &segment), 0x0800, Some((34, 16)), (SegmentationKind::Tcp4, mss))
}

/// The same over IPv6.
pub(crate) fn tcp6(payload: usize, mss: u16) -> Vec<u8> {
    let segment = tcp(payload, 0x10 | 0x08, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    frame(&ipv6(6, &segment), 0x86dd, Some((54, 16)), (SegmentationKind::Tcp6, mss))
}

/// The first segment of a connection, with options as Linux orders them.
pub(crate) fn syn4() -> Vec<u8> {
    let options = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
    frame(&ipv4(6, &tcp(0, 0x02, &options)), 0x0800, Some((34, 16)), (SegmentationKind::Tcp4, 0))
}

/// A UDP datagram over IPv4, or several of `size`.
pub(crate) fn udp4(payload: usize, size: u16) -> Vec<u8> {
    frame(&ipv4(17, &udp(5_000, &filled(payload))), 0x0800, Some((34, 6)), (SegmentationKind::Udp, size))
}

/// A frame, its header cut off, in a VXLAN tunnel.
pub(crate) fn vxlan(inner: &[u8]) -> Vec<u8> {
    let payload = [&[8, 0, 0, 0, 0, 0, 1, 0], &inner[FrameHeader::LEN..]].concat();
    frame(&ipv4(17, &udp(4_789, &payload)), 0x0800, None, (SegmentationKind::Udp, 0))
}

pub(crate) fn arp() -> Vec<u8> {
    frame(&[0; 28], 0x0806, None, (SegmentationKind::Udp, 0))
}

pub(crate) fn neighbour_solicitation() -> Vec<u8> {
    frame(&ipv6(58, &[135; 24]), 0x86dd, None, (SegmentationKind::Udp, 0))
}

fn filled(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

fn tcp(payload: usize, flags: u8, options: &[u8]) -> Vec<u8> {
    let offset = u8::try_from((20 + options.len()) / 4).unwrap() << 4;
    let fixed = [0x9c, 0x40, 0x14, 0x51, 0xff, 0xff, 0xfc, 0x00, 0, 0, 0, 9, offset, flags, 1, 0, 0, 0, 0, 0];
    [&fixed[..], options, &filled(payload)].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(8 + payload.len()).unwrap();
    [&40_000_u16.to_be_bytes()[..], &port.to_be_bytes(), &len.to_be_bytes(), &[0, 0], payload].concat()
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(20 + payload.len()).unwrap().to_be_bytes();
    let fixed = [0x45, 0, len[0], len[1], 0xff, 0xfe, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&fixed[..], payload].concat()
}

fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let mut header = vec![0x60, 0, 0, 0, len[0], len[1], protocol, 64];
    for last in [1, 2] {
        header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    [&header[..], payload].concat()
}

fn frame(packet: &[u8], kind: u16, sum: Option<(u16, u16)>, (rules, size): (SegmentationKind, u16)) -> Vec<u8> {
    let checksum = sum.map(|(start, offset)| ChecksumPlace { start, offset });
    let segmentation = (size > 0).then_some(Segmentation { kind: rules, size, header_len: 0, ecn: true });
    let header = FrameHeader { checksum, segmentation };
    let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let mut bytes = [&header.emit()[..], &addresses, &kind.to_be_bytes(), packet].concat();
    let read = Frame::read(&bytes).unwrap();
    let frame = &mut bytes[FrameHeader::LEN..];
    if let Some(ip) = read.layout.ip {
        renew_header(frame, &ip);
        if let Some(place) = checksum {
            let sum = pseudo_header(frame, &ip, ip.end - ip.payload).folded();
            let at = usize::from(place.start + place.offset);
            frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
    }
    bytes
}
