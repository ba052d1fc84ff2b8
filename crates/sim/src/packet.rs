//! How segments and acknowledgements are named on the path.

use std::num::NonZeroU32;

use path::{Ecn, Edits, FlowHash, FrameId, PacketKind, Spacing, Train};
use units::MonoTime;

/// The frame of the first segment of a connection, in either direction.
pub(crate) const SYN: FrameId = FrameId(u32::MAX - 1);

/// Bytes of Ethernet's header.
const LINK_HEADER: u32 = 14;
/// An acknowledgement with timestamps and blocks (RFC 2018), on the link.
const ACK_SIZE: u32 = 52 + 36 + LINK_HEADER;
/// A segment with all options of a first one.
const SYN_SIZE: u32 = 60 + LINK_HEADER;

/// 44 bytes of payload (RFC 8762 section 4.2.1) with UDP's and IPv4's headers, on the link.
const PROBE_SIZE: u32 = 44 + 28 + LINK_HEADER;

/// Makes the packets of one flow. Segments are named by their number: a frame by its first.
#[derive(Debug)]
pub(crate) struct Packets {
    flow: usize,
    size: u32,
    ecn: Ecn,
}

impl Packets {
    /// Packets of `ip_size` bytes.
    pub(crate) fn new(flow: usize, ip_size: u32, ecn: bool) -> Self {
        Self { flow, size: ip_size + LINK_HEADER, ecn: if ecn { Ecn::Capable0 } else { Ecn::NotCapable } }
    }

    /// Bytes of a segment on the link.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// `count` segments from number `first` on.
    pub(crate) fn segments(&self, first: u32, count: u32) -> Train {
        let one = Train { size: self.size, last_size: self.size, ecn: self.ecn, ..train(self.flow, FrameId(first)) };
        Train { count: NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN), kind: PacketKind::TcpData, ..one }
    }
}

/// The number of the flow that a packet belongs to.
pub(crate) fn flow(train: &Train) -> usize {
    train.flow.0 as usize
}

/// An acknowledgement.
pub(crate) fn acknowledgement(flow: usize, slot: u32) -> Train {
    Train { size: ACK_SIZE, last_size: ACK_SIZE, kind: PacketKind::TcpControl, ..train(flow, FrameId(slot)) }
}

/// The first segment of a connection.
pub(crate) fn syn(flow: usize) -> Train {
    Train { size: SYN_SIZE, last_size: SYN_SIZE, kind: PacketKind::TcpSyn, ..train(flow, SYN) }
}

/// A probe of a flow of its own: a datagram without data (RFC 8762), which its receiver answers at once.
pub(crate) fn probe(flow: usize, number: u32) -> Train {
    Train { size: PROBE_SIZE, last_size: PROBE_SIZE, kind: PacketKind::Other, ..train(flow, FrameId(number)) }
}

/// One packet with nothing in it.
fn train(flow: usize, frame: FrameId) -> Train {
    Train {
        frame,
        first: 0,
        count: NonZeroU32::MIN,
        size: 0,
        last_size: 0,
        flow: FlowHash(u32::try_from(flow).unwrap_or(u32::MAX)),
        kind: PacketKind::TcpControl,
        dscp: 0,
        ecn: Ecn::NotCapable,
        whole: true,
        edits: Edits::default(),
        spacing: Spacing::NONE,
        came: MonoTime::default(),
    }
}
