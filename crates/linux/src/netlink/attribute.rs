//! Attributes: what follows the fixed part of a netlink message, each with its length and kind.
//! Linux: include/uapi/linux/netlink.h, `struct nlattr`.

use super::{ALIGNMENT, NetlinkError};

/// An attribute of a message: its kind without flags, its value, and where the value starts in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    pub(crate) kind: u16,
    pub(crate) value: &'a [u8],
    pub(crate) offset: usize,
}

impl<'a> Attribute<'a> {
    /// The attributes nested in this one.
    pub(crate) fn nested(&self) -> impl Iterator<Item = Result<Attribute<'a>, NetlinkError>> {
        attributes_at(self.value, self.offset)
    }
}

/// The attributes that follow the first `start` bytes of a message.
pub(crate) fn attributes(message: &[u8], start: usize) -> impl Iterator<Item = Result<Attribute<'_>, NetlinkError>> {
    attributes_at(message.get(start..).unwrap_or_default(), start)
}

fn attributes_at(bytes: &[u8], start: usize) -> impl Iterator<Item = Result<Attribute<'_>, NetlinkError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let offset = start + (bytes.len() - rest.len());
        if rest.is_empty() {
            return None;
        }
        let header = rest.first_chunk().map(|&[l0, l1, k0, k1]| ([l0, l1], [k0, k1]));
        let length = header.map_or(0, |(length, _)| usize::from(u16::from_ne_bytes(length)));
        let (Some((_, kind)), Some(value)) = (header, rest.get(ATTRIBUTE_HEADER..length)) else {
            rest = &[];
            return Some(Err(NetlinkError::Malformed { offset, reason: "an attribute that is cut short" }));
        };
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        let kind = u16::from_ne_bytes(kind) & netlink_packet_core::NLA_TYPE_MASK;
        Some(Ok(Attribute { kind, value, offset: offset + ATTRIBUTE_HEADER }))
    })
}

const ATTRIBUTE_HEADER: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_walked_with_padding_flags_and_nesting() {
        let bytes = [9, 9, 5, 0, 1, 0x80, 7, 0, 0, 0, 12, 0, 2, 0, 8, 0, 3, 0, b'a', b'b', b'c', b'd'];
        let walked: Vec<_> = attributes(&bytes, 2).map(Result::unwrap).collect();
        assert_eq!(walked[0], Attribute { kind: 1, value: &[7], offset: 6 });
        assert_eq!((walked[1].kind, walked.len()), (2, 2));
        let nested: Vec<_> = walked[1].nested().map(Result::unwrap).collect();
        assert_eq!(nested, [Attribute { kind: 3, value: b"abcd", offset: 18 }]);
    }

    #[test]
    fn attribute_that_is_cut_short_is_an_error_with_its_place() {
        let bytes = [4, 0, 1, 0, 9, 0, 2, 0, 1, 2, 3, 4];
        let walked: Vec<_> = attributes(&bytes, 0).collect();
        assert!(matches!(walked[..], [Ok(_), Err(NetlinkError::Malformed { offset: 4, .. })]));
        assert!(attributes(&[3, 0, 1, 0], 0).all(|attribute| attribute.is_err()));
    }
}
