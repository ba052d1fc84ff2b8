//! Frames as they come from a TAP device, and as they go to the other.
//!
//! A frame may be several packets (a [`path::Train`] of them), with the headers of the first only. It stays whole in
//! memory; what of it comes out of a chain gets headers of its own when it is written.
//!
//! * [`layout`]: where the headers are
//! * [`classify`]: which train a frame is
//! * [`cut`]: a part of a frame as a frame of its own
//! * [`edit`]: what elements change in headers, and bits that become wrong
//! * [`too_big`]: how a sender is told that a link carries less
//! * [`checksum`]: the sum of the internet protocols

pub mod checksum;
pub mod classify;
pub mod cut;
pub mod edit;
pub mod layout;
#[cfg(test)]
pub(crate) mod samples;
pub mod too_big;

use std::net::IpAddr;
use std::num::NonZeroU32;

use linux::tap::{FrameHeader, Segmentation, SegmentationKind};
use path::{Ecn, FrameId};
use units::{MonoTime, Mtu};

use layout::{Layout, TransportKind, Version};

/// What a frame is. The bytes lie elsewhere; offsets count from behind the [`FrameHeader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// What the kernel said before it.
    pub header: FrameHeader,
    /// Where its headers are.
    pub layout: Layout,
    /// How long it is.
    pub len: usize,
    /// How it is cut into packets; `None` where it is one.
    pub cuts: Option<Cuts>,
}

/// How a frame is cut into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    /// How many packets there are, two or more.
    pub packets: NonZeroU32,
    /// How long the headers are that each packet gets.
    pub headers: usize,
    /// How much payload each packet has but the last.
    pub payload: usize,
    /// What every segment is told of the super-packet that it was cut from.
    pub segmentation: Segmentation,
}

/// Headers longer than this are not made anew: the frame is one packet then, and elements change nothing in it. Those of
/// TCP over IPv6 with all options and two VLAN tags take 122 bytes.
pub const LONGEST_HEADERS: usize = 256;

impl Frame {
    /// Reads a frame with its [`FrameHeader`] before it; `None` where not even that is whole. Whatever else is wrong
    /// with it, it is one packet that goes on as it came.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let header = FrameHeader::parse(bytes)?;
        let frame = bytes.get(FrameHeader::LEN..)?;
        let layout = Layout::read(frame);
        let cuts = header.segmentation.and_then(|segmentation| cuts(&layout, segmentation));
        Some(Self { header, layout, len: frame.len(), cuts })
    }

    /// How many packets it is.
    #[must_use]
    pub fn packets(&self) -> NonZeroU32 {
        self.cuts.map_or(NonZeroU32::MIN, |cuts| cuts.packets)
    }
}

/// The cuts, where the frame is what the kernel says it is, and can be cut.
fn cuts(layout: &Layout, segmentation: Segmentation) -> Option<Cuts> {
    let (ip, transport) = (layout.ip?, layout.transport?);
    let fits = match segmentation.kind {
        SegmentationKind::Tcp4 => ip.version == Version::V4 && transport.kind == TransportKind::Tcp,
        SegmentationKind::Tcp6 => ip.version == Version::V6 && transport.kind == TransportKind::Tcp,
        SegmentationKind::Udp => transport.kind == TransportKind::Udp,
        SegmentationKind::Foreign(_) => false,
    };
    let payload = usize::from(segmentation.size);
    if !fits || payload == 0 || ip.fragment || transport.payload > LONGEST_HEADERS {
        return None;
    }
    let packets = u32::try_from((ip.end - transport.payload).div_ceil(payload)).ok().filter(|packets| *packets > 1)?;
    Some(Cuts { packets: NonZeroU32::new(packets)?, headers: transport.payload, payload, segmentation })
}

/// What holds for the reading of any bytes, as a frame that a device gave: nothing of it panics, the packets it is read
/// as have the sizes that are written, and a part of it is read again as that part. `first` and `count` say which part.
/// Panics where a claim does not hold.
pub fn claims(bytes: &[u8], first: u32, count: u32) {
    let Some(frame) = Frame::read(bytes) else { return };
    let body = &bytes[FrameHeader::LEN..];
    let whole = frame.train(body, FrameId(0), MonoTime::from_nanos(0));
    let (_, rest) = whole.split_front(first % whole.count.get());
    let (part, _) = rest.map_or((None, None), |rest| rest.split_front(count % rest.count.get() + 1));
    let part = part.unwrap_or(whole);
    let mut cut = frame.cut(body, &part);
    let mut written = Vec::new();
    cut.assemble(body, &mut written);
    if frame.cuts.is_some() {
        let again =
            Frame::read(&written).map(|again| again.train(&written[FrameHeader::LEN..], FrameId(0), whole.came));
        let again = again.map(|again| (again.count, again.bytes(), again.last_size, again.flow));
        assert_eq!(again, Some((part.count, part.bytes(), part.last_size, part.flow)), "a part is read as another");
    } else {
        assert_eq!(written[FrameHeader::LEN..], *body, "one packet goes on as it came");
    }
    let mut packet = written.clone();
    edit::finish(&mut packet, &cut.header);
    if let Some(packet) = packet.get_mut(FrameHeader::LEN..) {
        let layout = Layout::read(packet);
        edit::corrupt(packet, &layout, u64::from(first));
        let reporters = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, 1_u16])];
        // Whether there is an answer is not a claim; that asking for one is safe is.
        drop(too_big::answer(packet, &layout, Mtu::MIN, &reporters));
    }
    let header = cut.header;
    edit::strip_window_scale(cut.packet_headers(), &frame.layout, &header);
    if let Some(ip) = frame.layout.ip {
        edit::set_ecn(cut.packet_headers(), &ip, Ecn::Marked);
    }
}

#[cfg(test)]
mod tests;
