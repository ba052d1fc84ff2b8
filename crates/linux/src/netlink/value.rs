//! Values of attributes. One that is shorter than its kind takes is not there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Attribute, NetlinkError};

pub(crate) fn u8(attribute: &Attribute<'_>) -> Option<u8> {
    attribute.value.first().copied()
}

pub(crate) fn flag(attribute: &Attribute<'_>) -> Option<bool> {
    u8(attribute).map(|value| value != 0)
}

pub(crate) fn u16(attribute: &Attribute<'_>) -> Option<u16> {
    attribute.value.first_chunk().copied().map(u16::from_ne_bytes)
}

pub(crate) fn be16(attribute: &Attribute<'_>) -> Option<u16> {
    attribute.value.first_chunk().copied().map(u16::from_be_bytes)
}

pub(crate) fn u32(attribute: &Attribute<'_>) -> Option<u32> {
    attribute.value.first_chunk().copied().map(u32::from_ne_bytes)
}

/// A number of 32 or 64 bits, whichever the kernel has it in.
pub(crate) fn wide(attribute: &Attribute<'_>) -> Option<u64> {
    match attribute.value.first_chunk() {
        Some(bytes) => Some(u64::from_ne_bytes(*bytes)),
        None => u32(attribute).map(u64::from).or_else(|| u8(attribute).map(u64::from)),
    }
}

pub(crate) fn text(attribute: &Attribute<'_>) -> String {
    let bytes = attribute.value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn ip(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(v4).into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|v6| Ipv6Addr::from(v6).into())
}

pub(crate) fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

pub(crate) fn long(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().copied().map(u64::from_ne_bytes)
}

/// Hands each attribute nested in `attribute` to `each`.
pub(crate) fn for_nested(
    attribute: &Attribute<'_>,
    mut each: impl FnMut(&Attribute<'_>) -> Result<(), NetlinkError>,
) -> Result<(), NetlinkError> {
    attribute.nested().try_for_each(|part| each(&part?))
}
