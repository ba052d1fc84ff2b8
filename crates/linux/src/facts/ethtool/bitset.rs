//! Sets of bits, with names or without, and the names of bits.

use super::header::{ETHTOOL_A_HEADER, NESTED};
use crate::netlink::generic::GenericNetlink;
use crate::netlink::{Attribute, NetlinkError, value};

/// A set without names: its bits in words of 32.
pub(crate) fn bits(attribute: &Attribute<'_>) -> Result<Vec<u32>, NetlinkError> {
    let mut words = Vec::new();
    value::for_nested(attribute, |part| {
        if part.kind == BITSET_VALUE {
            words = part.value.chunks_exact(4).filter_map(|chunk| value::word(chunk, 0)).collect();
        }
        Ok(())
    })?;
    Ok(words)
}

/// Whether the bit at `place` is in the set.
pub(super) fn holds(words: &[u32], place: usize) -> bool {
    words.get(place / 32).is_some_and(|word| word & 1 << (place % 32) != 0)
}

/// A set with names: each bit's name, and whether it is in the set.
pub(super) fn named(attribute: &Attribute<'_>) -> Result<Vec<(String, bool)>, NetlinkError> {
    let mut list_is_the_set = false;
    let mut found = Vec::new();
    value::for_nested(attribute, |part| {
        match part.kind {
            BITSET_NOMASK => list_is_the_set = true,
            BITSET_BITS => value::for_nested(part, |bit| {
                let (mut name, mut set) = (String::new(), false);
                value::for_nested(bit, |part| {
                    match part.kind {
                        BIT_NAME => name = value::text(part),
                        BIT_VALUE => set = true,
                        _ => {}
                    }
                    Ok(())
                })?;
                found.push((name, set));
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(|(name, set)| (name, set || list_is_the_set)).collect())
}

/// The names of the bits in the set.
pub(super) fn set_names(attribute: &Attribute<'_>) -> Result<Vec<String>, NetlinkError> {
    Ok(named(attribute)?.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect())
}

/// The names of a set of strings that is the same for all devices, by their place.
pub(super) fn names(family: &mut GenericNetlink, set: u32) -> Result<Vec<String>, NetlinkError> {
    let names = family.get(
        STRSET_GET,
        |request| {
            // Of no device, but there.
            request.nest(NESTED | ETHTOOL_A_HEADER, |_| ());
            request.nest(NESTED | STRSET_STRINGSETS, |sets| {
                sets.nest(NESTED | STRINGSETS_STRINGSET, |one| {
                    one.put_u32(STRINGSET_ID, set);
                });
            });
        },
        |attributes| {
            let mut names = Vec::new();
            for attribute in attributes {
                let attribute = attribute?;
                if attribute.kind == STRSET_STRINGSETS {
                    value::for_nested(&attribute, |set| value::for_nested(set, |part| strings(part, &mut names)))?;
                }
            }
            Ok(names)
        },
    )?;
    Ok(names.unwrap_or_default())
}

fn strings(part: &Attribute<'_>, names: &mut Vec<String>) -> Result<(), NetlinkError> {
    if part.kind != STRINGSET_STRINGS {
        return Ok(());
    }
    value::for_nested(part, |string| {
        let (mut place, mut name) = (None, String::new());
        value::for_nested(string, |part| {
            match part.kind {
                STRING_INDEX => place = value::u32(part).and_then(|place| usize::try_from(place).ok()),
                STRING_VALUE => name = value::text(part),
                _ => {}
            }
            Ok(())
        })?;
        if let Some(place) = place.filter(|&place| place < MAX_NAMES) {
            names.resize(names.len().max(place + 1), String::new());
            names[place] = name;
        }
        Ok(())
    })
}

/// Kernels have about sixty features.
const MAX_NAMES: usize = 4_096;

// include/uapi/linux/ethtool_netlink.h of 6.18
const STRSET_GET: u8 = 1;
const STRSET_STRINGSETS: u16 = 2;
const STRINGSETS_STRINGSET: u16 = 1;
const STRINGSET_ID: u16 = 1;
const STRINGSET_STRINGS: u16 = 3;
const STRING_INDEX: u16 = 1;
const STRING_VALUE: u16 = 2;
const BITSET_NOMASK: u16 = 1;
const BITSET_BITS: u16 = 3;
const BITSET_VALUE: u16 = 4;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;
