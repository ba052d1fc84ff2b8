//! What drivers let be set (generic netlink family `ethtool`, Documentation/networking/ethtool-netlink.rst).
//!
//! * [`Settings`]: the socket, and what is one message of numbers: rings, channels, coalescing, pause, link
//! * `bitset`: sets of named bits
//! * `features`: features and private flags
//! * `hashing`: receive hashing
//! * `module`: what optical modules measure

mod bitset;
mod features;
mod hashing;
mod module;
mod numbers;

pub(crate) use bitset::bits as bits_of;
pub use hashing::HashTable;

use crate::Unavailable;
use crate::netlink::generic::GenericNetlink;
use crate::netlink::{Attribute, NetlinkError, Request};

/// Asks the drivers of one network namespace.
#[derive(Debug)]
pub struct Settings {
    family: GenericNetlink,
    feature_names: Vec<String>,
    hash_functions: Vec<String>,
}

impl Settings {
    /// For the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`crate::Reason::Unsupported`] before Linux 5.6.
    pub fn open() -> Result<Self, Unavailable> {
        let mut family = GenericNetlink::open("ethtool")?;
        let mut names = |set| bitset::names(&mut family, set).map_err(|error| error.unavailable("STRSET_GET"));
        let (feature_names, hash_functions) = (names(ETH_SS_FEATURES)?, names(ETH_SS_RSS_HASH_FUNCS)?);
        Ok(Self { family, feature_names, hash_functions })
    }

    /// Makes the request `command` about the device with the number `index`, and hands each attribute of the answer
    /// to `take`.
    fn ask<T: Default>(
        &mut self,
        what: &'static str,
        command: u8,
        device: Asked,
        take: impl Fn(&mut T, &Attribute<'_>) -> Result<(), NetlinkError>,
    ) -> Result<T, Unavailable> {
        let answer = self.family.get(
            command,
            |request| header(request, device),
            |attributes| {
                let mut answer = T::default();
                for attribute in attributes {
                    take(&mut answer, &attribute?)?;
                }
                Ok(answer)
            },
        );
        let gone = || Unavailable { what: what.to_owned(), reason: crate::Reason::Absent };
        answer.map_err(|error| error.unavailable(what))?.ok_or_else(gone)
    }
}

/// Which device, and how the answer should be.
#[derive(Debug, Clone, Copy)]
struct Asked {
    index: u32,
    flags: u32,
}

impl Asked {
    fn of(index: u32) -> Self {
        Self { index, flags: 0 }
    }

    /// Sets of bits as bits, without names.
    fn compact(index: u32) -> Self {
        Self { index, flags: ETHTOOL_FLAG_COMPACT_BITSETS }
    }

    /// With counters.
    fn with_statistics(index: u32) -> Self {
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

fn header(request: &mut Request, device: Asked) {
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
const ETHTOOL_A_HEADER: u16 = 1;
const ETHTOOL_A_HEADER_DEV_INDEX: u16 = 1;
const ETHTOOL_A_HEADER_FLAGS: u16 = 3;
const ETHTOOL_FLAG_COMPACT_BITSETS: u32 = 1;
const ETHTOOL_FLAG_STATS: u32 = 4;
const ETH_SS_FEATURES: u32 = 4;
const ETH_SS_RSS_HASH_FUNCS: u32 = 5;
