//! What drivers let be set (generic netlink family `ethtool`, Documentation/networking/ethtool-netlink.rst).
//!
//! * [`Settings`]: the socket, and what is one message of numbers: rings, channels, coalescing, pause, link
//! * `bitset`: sets of named bits
//! * `features`: features and private flags
//! * `hashing`: receive hashing
//! * `module`: what optical modules measure
//! * `header`: which device a request is about

mod bitset;
mod features;
mod hashing;
mod header;
mod module;
mod numbers;

pub(crate) use bitset::bits as bits_of;
pub use hashing::HashTable;
pub(crate) use header::{NESTED, compact_header_of, header_of};

use crate::Unavailable;
use crate::netlink::generic::GenericNetlink;
use crate::netlink::{Attribute, NetlinkError};
use header::{Asked, header};

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

// include/uapi/linux/ethtool.h of 6.18
const ETH_SS_FEATURES: u32 = 4;
const ETH_SS_RSS_HASH_FUNCS: u32 = 5;
