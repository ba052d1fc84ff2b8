//! Where the reading of a packet stands: which layer comes next, and what is left of it.

use super::tag::Tag;

/// What a packet holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment, now in the output.
    Tcp,
    /// Something else.
    Other,
    /// A later fragment of an IP packet with TCP, which has no TCP header.
    Fragment(LaterFragment),
    /// Too little was stored to see what it is.
    CutShort,
    /// A link layer that is not known.
    UnknownLink,
}

/// A part of an IP packet behind its first. The addresses of the packet are in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaterFragment {
    /// The identification of the packet.
    pub id: u32,
    /// Where the part begins in what IP carries.
    pub at: u32,
    /// How long it is.
    pub bytes: u32,
    /// Whether more parts follow.
    pub has_more: bool,
}

/// What comes next in a packet.
#[derive(Debug, Clone, Copy)]
pub(super) enum Layer {
    Ethernet,
    EtherType(u16),
    Ipv4,
    Ipv6,
    /// An IP protocol number.
    Transport(u8),
    Done(Content),
}

/// Where the walk stands.
pub(super) struct Walk<'a> {
    /// What was stored from here on.
    pub(super) rest: &'a [u8],
    /// What there was on the wire from here on.
    pub(super) wire: u32,
    /// What was around it so far, where somebody wants to know.
    pub(super) tags: Option<&'a mut Vec<Tag>>,
}

impl<'a> Walk<'a> {
    /// Passes over a header.
    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        self.wire = self.wire.saturating_sub(u32::try_from(bytes).unwrap_or(u32::MAX));
        Some(())
    }

    /// Notes what is around the packet.
    #[inline]
    pub(super) fn note(&mut self, tag: Tag) {
        if let Some(tags) = &mut self.tags {
            tags.push(tag);
        }
    }

    /// A field of the header.
    #[inline]
    pub(super) fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.rest.get(at..)?.first_chunk::<N>().copied()
    }

    /// The rest of the packet is `bytes` long: padding behind it does not count.
    #[inline]
    pub(super) fn limit(&mut self, bytes: u32) {
        self.wire = bytes;
        self.rest = self.rest.get(..bytes as usize).unwrap_or(self.rest);
    }
}

/// Mixes a tag into the digest of what is around a packet.
#[inline]
pub(super) fn mix(outer: u32, tag: u32) -> u32 {
    (outer ^ tag).wrapping_mul(0x9e37_79b1).rotate_left(15).wrapping_add(1)
}
