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

use std::num::NonZeroU32;

use linux::tap::{FrameHeader, Segmentation, SegmentationKind};

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
    /// The rules.
    pub segmentation: Segmentation,
}

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
    if !fits || payload == 0 || ip.fragment || transport.payload > cut::LONGEST_HEADERS {
        return None;
    }
    let packets = u32::try_from((ip.end - transport.payload).div_ceil(payload)).ok().filter(|packets| *packets > 1)?;
    Some(Cuts { packets: NonZeroU32::new(packets)?, headers: transport.payload, payload, segmentation })
}
