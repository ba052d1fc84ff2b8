//! How segments and acknowledgements are named on the path.

use std::num::NonZeroU32;

use path::{Ecn, Edits, FlowHash, FrameId, Kind, Train};
use units::MonoTime;

/// The frame of the first segment of a connection, in either direction.
pub(crate) const SYN: FrameId = FrameId(u32::MAX - 1);

/// Bytes of Ethernet's header.
const LINK_HEADER: u32 = 14;
/// An acknowledgement with timestamps and blocks (RFC 2018), on the link.
const ACK_SIZE: u32 = 52 + 36 + LINK_HEADER;

/// Makes the packets of one flow. Segments are named by their number: a frame by its first.
#[derive(Debug)]
pub(crate) struct Packets {
    size: u32,
    ecn: Ecn,
}

impl Packets {
    /// Packets of `ip_size` bytes.
    pub(crate) fn new(ip_size: u32, ecn: bool) -> Self {
        Self { size: ip_size + LINK_HEADER, ecn: if ecn { Ecn::Capable0 } else { Ecn::NotCapable } }
    }

    /// Bytes of a segment on the link.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// `count` segments from number `first` on.
    pub(crate) fn segments(&self, first: u32, count: u32) -> Train {
        train(FrameId(first), count, self.size, Kind::TcpData, self.ecn)
    }
}

/// An acknowledgement.
pub(crate) fn acknowledgement(slot: u32) -> Train {
    train(FrameId(slot), 1, ACK_SIZE, Kind::TcpControl, Ecn::NotCapable)
}

/// The first segment of a connection.
pub(crate) fn syn() -> Train {
    train(SYN, 1, 74, Kind::TcpSyn, Ecn::NotCapable)
}

fn train(frame: FrameId, count: u32, size: u32, kind: Kind, ecn: Ecn) -> Train {
    Train {
        frame,
        first: 0,
        count: NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN),
        size,
        last_size: size,
        flow: FlowHash(0),
        kind,
        dscp: 0,
        ecn,
        whole: true,
        edits: Edits::default(),
        came: MonoTime::default(),
    }
}
