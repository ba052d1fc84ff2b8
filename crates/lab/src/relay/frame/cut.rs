//! A part of a frame as a frame of its own, by the rules by which the kernel cuts them (net/ipv4/tcp_offload.c
//! `tcp_gso_segment`, net/ipv4/af_inet.c `inet_gso_segment`, net/ipv4/udp_offload.c `__udp_gso_segment`, 6.18).

use std::ops::Range;

use linux::tap::{ChecksumPlace, FrameHeader, Segmentation};
use path::Train;

use super::checksum::{pseudo_header, renew_header};
use super::layout::{Ip, Transport, TransportKind, UDP_HEADER, Version, be16};
use super::{Cuts, Frame, LONGEST_HEADERS};

/// Packets of a frame as they are written: headers of their own, and payload where it lies.
#[derive(Debug, Clone)]
pub struct Cut {
    /// A [`FrameHeader`] and all headers of packets.
    head: [u8; FrameHeader::LEN + LONGEST_HEADERS],
    head_len: usize,
    /// What the kernel is told.
    pub header: FrameHeader,
    /// Where the payload lies in the frame.
    pub payload: Range<usize>,
}

impl Frame {
    /// The packets of a train as a frame of their own. `frame` is what the kernel gave, without the header before it.
    #[must_use]
    pub fn cut(&self, frame: &[u8], train: &Train) -> Cut {
        match (self.cuts, self.layout.ip, self.layout.transport) {
            (Some(cuts), Some(ip), Some(transport)) => self.cut_packets(frame, train, cuts, ip, transport),
            _ => self.cut_headers(frame),
        }
    }

    /// Whether these are all packets of the frame, so that it can go on as it came.
    #[must_use]
    pub fn is_whole(&self, train: &Train) -> bool {
        train.first == 0 && train.count == self.packets()
    }

    /// A frame of one packet.
    fn cut_headers(&self, frame: &[u8]) -> Cut {
        let transport = self.layout.transport.map(|transport| transport.payload);
        let headers = transport.or(self.layout.ip.map(|ip| ip.payload)).unwrap_or(0);
        let headers = if headers <= LONGEST_HEADERS { headers } else { 0 };
        Cut::new(frame, headers, self.header, headers..frame.len())
    }

    fn cut_packets(&self, frame: &[u8], train: &Train, cuts: Cuts, ip: Ip, transport: Transport) -> Cut {
        let (first, count) = (train.first as usize, train.count.get() as usize);
        let from = (cuts.headers + first * cuts.payload).min(ip.end);
        let until = (from + count * cuts.payload).min(ip.end);
        let place = ChecksumPlace { start: short(transport.start), offset: transport.kind.checksum_offset() };
        let segmentation = (until - from > cuts.payload).then(|| Segmentation {
            header_len: short(cuts.headers),
            ecn: cuts.segmentation.ecn && first == 0,
            ..cuts.segmentation
        });
        let header = FrameHeader { checksum: Some(place), segmentation };
        let mut cut = Cut::new(frame, cuts.headers, header, from..until);
        let is_last = train.first + train.count.get() >= cuts.packets.get();
        let head = cut.packet_headers();
        match transport.kind {
            TransportKind::Tcp => advance_tcp(head, transport.start, first * cuts.payload, is_last),
            TransportKind::Udp => put(head, transport.start + 4, short(UDP_HEADER + (until - from))),
        }
        advance_ip(head, &ip, cuts.headers + (until - from), train.first);
        let sum = pseudo_header(head, &ip, cuts.headers - transport.start + (until - from)).folded();
        put(head, transport.start + usize::from(place.offset), sum);
        cut
    }
}

impl Cut {
    fn new(frame: &[u8], headers: usize, header: FrameHeader, payload: Range<usize>) -> Self {
        let mut head = [0; FrameHeader::LEN + LONGEST_HEADERS];
        head[..FrameHeader::LEN].copy_from_slice(&header.emit());
        head[FrameHeader::LEN..FrameHeader::LEN + headers].copy_from_slice(&frame[..headers]);
        Self { head, head_len: FrameHeader::LEN + headers, header, payload }
    }

    /// What is written before the payload.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head[..self.head_len]
    }

    /// The headers of packets, to be changed.
    pub fn packet_headers(&mut self) -> &mut [u8] {
        &mut self.head[FrameHeader::LEN..self.head_len]
    }

    /// Puts it together in `into`, behind a [`FrameHeader`].
    pub fn assemble(&self, frame: &[u8], into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(self.head());
        into.extend_from_slice(&frame[self.payload.clone()]);
    }
}

impl TransportKind {
    /// Where the checksum lies in the header.
    #[must_use]
    pub const fn checksum_offset(self) -> u16 {
        match self {
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }
}

/// Each segment counts on from the one before; what ends a stream stands in the last, CWR in the first.
fn advance_tcp(head: &mut [u8], start: usize, bytes: usize, is_last: bool) {
    let Some(sequence) = head.get(start + 4..).and_then(|rest| rest.first_chunk().copied()) else { return };
    let advanced = u32::from_be_bytes(sequence).wrapping_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    head[start + 4..start + 8].copy_from_slice(&advanced.to_be_bytes());
    let flags = &mut head[start + 13];
    if !is_last {
        *flags &= !(FIN | PUSH);
    }
    if bytes > 0 {
        *flags &= !CWR;
    }
}

/// `end` is where the packet ends, its first byte being that of the frame.
fn advance_ip(head: &mut [u8], ip: &Ip, end: usize, packets: u32) {
    match ip.version {
        Version::V4 => {
            put(head, ip.start + 2, short(end - ip.start));
            let number = be16(head, ip.start + 4).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "the number wraps at 2^16")]
            put(head, ip.start + 4, number.wrapping_add(packets as u16));
            renew_header(head, ip);
        }
        Version::V6 => put(head, ip.start + 4, short(end - ip.start - Version::V6.header_len())),
    }
}

fn put(bytes: &mut [u8], at: usize, number: u16) {
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&number.to_be_bytes());
    }
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

const FIN: u8 = 0x01;
const PUSH: u8 = 0x08;
const CWR: u8 = 0x80;
