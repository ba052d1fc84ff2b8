//! Features of devices as they are asked for, and what a link says that it can do.

use std::collections::BTreeMap;

use super::SetError;
use crate::facts::ethtool::{NESTED, Settings, bits_of, header_of};
use crate::netlink::Request;
use crate::netlink::generic::GenericNetlink;
use crate::{Reason, Unavailable};

/// Of each feature that can be switched, whether it is asked for and whether it works.
///
/// # Errors
/// Why they cannot be read.
pub fn read(index: u32) -> Result<BTreeMap<String, Feature>, SetError> {
    let all = Settings::open()?.features(index)?;
    let switched = all.into_iter().filter(|(_, feature)| !feature.is_fixed());
    Ok(switched.map(|(name, feature)| (name, Feature { wanted: feature.wanted, active: feature.active })).collect())
}

/// A feature that can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Whether it is asked for.
    pub wanted: bool,
    /// Whether it works.
    pub active: bool,
}

/// Asks for features, or asks for them no more.
///
/// # Errors
/// What the kernel or the driver says. Whether a feature works then, [`read`] tells.
pub fn write(index: u32, wanted: &BTreeMap<String, bool>) -> Result<(), SetError> {
    let shown = |(name, on): (&String, &bool)| format!("{name} {}", if *on { "on" } else { "off" });
    let what = format!("set features: {}", wanted.iter().map(shown).collect::<Vec<_>>().join(", "));
    let mut family = GenericNetlink::open("ethtool")?;
    family.change(FEATURES_SET, |request| features(request, index, wanted)).map_err(SetError::netlink(what))
}

fn features(request: &mut Request, index: u32, wanted: &BTreeMap<String, bool>) {
    header_of(request, index);
    request.nest(NESTED | FEATURES_WANTED, |set| {
        set.nest(NESTED | BITSET_BITS, |bits| {
            for (name, on) in wanted {
                bits.nest(NESTED | BITS_BIT, |bit| {
                    bit.put_text(BIT_NAME, name);
                    if *on {
                        bit.put(BIT_VALUE, &[]);
                    }
                });
            }
        });
    });
}

/// What the link of the device says that it can do, as bits in words of 32 (`ETHTOOL_LINK_MODE_…_BIT`).
///
/// # Errors
/// Why it cannot be read; [`Reason::Unsupported`] where the driver does not say.
pub fn read_modes(index: u32) -> Result<Vec<u32>, SetError> {
    let mut family = GenericNetlink::open("ethtool")?;
    let read = family.get(
        LINKMODES_GET,
        |request| crate::facts::ethtool::compact_header_of(request, index),
        |attributes| {
            for attribute in attributes {
                let attribute = attribute?;
                if attribute.kind == LINKMODES_OURS {
                    return bits_of(&attribute).map(Some);
                }
            }
            Ok(None)
        },
    );
    let read = read.map_err(|error| error.unavailable("LINKMODES_GET"))?.flatten();
    Ok(read.ok_or_else(|| Unavailable { what: "link modes".to_owned(), reason: Reason::Unsupported })?)
}

/// Has the link say that it can do exactly this.
///
/// # Errors
/// What the kernel or the driver says.
pub fn write_modes(index: u32, advertised: &[u32]) -> Result<(), SetError> {
    let mut family = GenericNetlink::open("ethtool")?;
    let set = family.change(LINKMODES_SET, |request| modes(request, index, advertised));
    set.map_err(SetError::netlink("set link modes"))
}

fn modes(request: &mut Request, index: u32, advertised: &[u32]) {
    let bits = u32::try_from(advertised.len() * 32).unwrap_or(u32::MAX);
    let bytes: Vec<u8> = advertised.iter().flat_map(|word| word.to_ne_bytes()).collect();
    header_of(request, index);
    // Negotiated: otherwise what the link says that it can do reaches nobody.
    request.put(LINKMODES_AUTONEG, &[1]);
    request.nest(NESTED | LINKMODES_OURS, |set| {
        // What is in the set is the set, not a change of it.
        set.put(BITSET_NOMASK, &[]).put_u32(BITSET_SIZE, bits).put(BITSET_VALUE, &bytes);
    });
}

// include/uapi/linux/ethtool_netlink.h and ethtool_netlink_generated.h of 6.18
const LINKMODES_GET: u8 = 4;
const LINKMODES_SET: u8 = 5;
const FEATURES_SET: u8 = 12;
const LINKMODES_AUTONEG: u16 = 2;
const LINKMODES_OURS: u16 = 3;
const FEATURES_WANTED: u16 = 3;
const BITSET_NOMASK: u16 = 1;
const BITSET_SIZE: u16 = 2;
const BITSET_BITS: u16 = 3;
const BITSET_VALUE: u16 = 4;
const BITS_BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attributes;

    /// No device here negotiates, so the message is read back as Documentation/networking/ethtool-netlink.rst has it.
    #[test]
    fn link_modes_are_a_whole_set_without_a_mask() {
        let mut request = Request::new(&[]);
        modes(&mut request, 3, &[0x20, 1]);
        let read: Vec<_> = attributes(request.bytes(), 0).map(Result::unwrap).collect();
        assert_eq!((read[1].kind, read[1].value), (LINKMODES_AUTONEG, &[1][..]));
        let set: Vec<_> = read[2].nested().map(Result::unwrap).collect();
        assert_eq!(set.iter().map(|part| part.kind).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(set[1].value, 64u32.to_ne_bytes());
        assert_eq!(bits_of(&read[2]).unwrap(), [0x20, 1]);
    }
}
