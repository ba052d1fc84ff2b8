//! The header of requests: which device, and how the answer should be.

use crate::netlink::Request;

/// Which device, and how the answer should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    index: u32,
    flags: u32,
}

impl Asked {
    pub(super) fn of(index: u32) -> Self {
        Self { index, flags: 0 }
    }

    /// Sets of bits as bits, without names.
    pub(super) fn compact(index: u32) -> Self {
        Self { index, flags: ETHTOOL_FLAG_COMPACT_BITSETS }
    }

    /// With counters.
    pub(super) fn with_statistics(index: u32) -> Self {
        Self { index, flags: ETHTOOL_FLAG_STATS }
    }
}

/// The header of a request about the device with the number `index`.
pub(crate) fn header_of(request: &mut Request, index: u32) {
    header(request, Asked::of(index));
}

/// The same for a request whose answer has sets of bits without names.
pub(crate) fn compact_header_of(request: &mut Request, index: u32) {
    header(request, Asked::compact(index));
}

pub(super) fn header(request: &mut Request, device: Asked) {
    // Of all requests the header is the first attribute.
    request.nest(NESTED | ETHTOOL_A_HEADER, |header| {
        header.put_u32(ETHTOOL_A_HEADER_DEV_INDEX, device.index);
        if device.flags != 0 {
            header.put_u32(ETHTOOL_A_HEADER_FLAGS, device.flags);
        }
    });
}

/// Families that came after Linux 5.2 want attributes marked that hold others (`NLA_F_NESTED`, netlink.h).
pub(crate) const NESTED: u16 = 0x8000;

// include/uapi/linux/ethtool_netlink.h and ethtool.h of 6.18
pub(super) const ETHTOOL_A_HEADER: u16 = 1;
const ETHTOOL_A_HEADER_DEV_INDEX: u16 = 1;
const ETHTOOL_A_HEADER_FLAGS: u16 = 3;
const ETHTOOL_FLAG_COMPACT_BITSETS: u32 = 1;
const ETHTOOL_FLAG_STATS: u32 = 4;
