//! IPv4, and IPv6 with its extension headers.

use super::layer::{Content, LaterFragment, Layer, Walk, mix};
use super::segment::{FirstFragment, Segment};
use crate::file::field::be32;

/// The protocol number of TCP.
pub(super) const TCP: u8 = 6;

#[inline]
pub(super) fn version_4(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let header: [u8; 20] = walk.array(0)?;
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    if header[0] >> 4 != 4 || header_bytes < 20 {
        return Some(Layer::Done(Content::Other));
    }
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    // Zero in packets that were larger than the field can say (BIG TCP): then what was on the wire counts.
    if total != 0 {
        walk.limit(total);
    }
    if (walk.wire as usize) < header_bytes {
        return Some(Layer::Done(Content::Other));
    }
    let address =
        |at: usize| u128::from(u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
    let inner = Addresses { source: MAPPED | address(12), destination: MAPPED | address(16) };
    inner.keep(segment);
    segment.ip_id = u16::from_be_bytes([header[4], header[5]]);
    segment.ttl = header[8];
    segment.ecn = header[1] & 3;
    walk.skip(header_bytes)?;
    let place = u16::from_be_bytes([header[6], header[7]]);
    let fragment = Fragment {
        id: u32::from(segment.ip_id),
        at: u32::from(place & 0x1fff) * 8,
        has_more: place & MORE_FRAGMENTS != 0,
    };
    Some(fragment.next(header[9], walk, segment))
}

#[inline]
pub(super) fn version_6(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let header: [u8; 40] = walk.array(0)?;
    if header[0] >> 4 != 6 {
        return Some(Layer::Done(Content::Other));
    }
    let payload = u32::from(u16::from_be_bytes([header[4], header[5]]));
    // Zero in jumbograms (RFC 2675).
    if payload != 0 {
        walk.limit(payload + 40);
    }
    let inner =
        Addresses { source: u128::from_be_bytes(walk.array(8)?), destination: u128::from_be_bytes(walk.array(24)?) };
    inner.keep(segment);
    segment.ip_id = 0;
    segment.ttl = header[7];
    segment.ecn = header[1] >> 4 & 3;
    segment.first_fragment = None;
    walk.skip(40)?;
    extensions(header[6], walk, segment)
}

/// Passes over the headers between IPv6 and what it carries (RFC 8200 §4).
#[inline]
fn extensions(mut next: u8, walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    const MOST: usize = 10;
    for _ in 0..MOST {
        let length = match next {
            // Hop-by-hop, routing, destination, mobility, HIP, shim6.
            0 | 43 | 60 | 135 | 139 | 140 => (usize::from(*walk.rest.get(1)?) + 1) * 8,
            // Authentication counts in units of four bytes.
            51 => (usize::from(*walk.rest.get(1)?) + 2) * 4,
            44 => {
                let place = u16::from_be_bytes(walk.array(2)?);
                let id = u32::from_be_bytes(walk.array(4)?);
                next = *walk.rest.first()?;
                walk.skip(8)?;
                let fragment = Fragment { id, at: u32::from(place & 0xfff8), has_more: place & 1 != 0 };
                if fragment.at != 0 {
                    return Some(fragment.next(next, walk, segment));
                }
                fragment.note_first(walk, segment);
                continue;
            }
            transport => return Some(Layer::Transport(transport)),
        };
        next = *walk.rest.first()?;
        walk.skip(length)?;
    }
    Some(Layer::Done(Content::Other))
}

/// The bit of IPv4 that says that more parts follow.
const MORE_FRAGMENTS: u16 = 0x2000;

/// What a header says of the part of a packet that it is in front of.
struct Fragment {
    id: u32,
    at: u32,
    has_more: bool,
}

impl Fragment {
    /// What comes behind the header. Only the first part has the header of the protocol.
    #[inline]
    fn next(&self, protocol: u8, walk: &Walk, segment: &mut Segment) -> Layer {
        if self.at == 0 {
            self.note_first(walk, segment);
            return Layer::Transport(protocol);
        }
        let later = LaterFragment { id: self.id, at: self.at, bytes: walk.wire, has_more: self.has_more };
        Layer::Done(if protocol == TCP { Content::Fragment(later) } else { Content::Other })
    }

    /// Notes that a packet goes on in other parts.
    #[inline]
    fn note_first(&self, walk: &Walk, segment: &mut Segment) {
        segment.first_fragment = self.has_more.then_some(FirstFragment { id: self.id, bytes: walk.wire });
    }
}

/// `::ffff:0:0/96`
const MAPPED: u128 = 0xffff_0000_0000;

struct Addresses {
    source: u128,
    destination: u128,
}

impl Addresses {
    /// The innermost header names the connection; those around it are tags.
    #[inline]
    fn keep(&self, segment: &mut Segment) {
        segment.endpoints.source = self.source;
        segment.endpoints.destination = self.destination;
    }
}

/// The header that has just been read is that of a tunnel: both of its ends are a tag of what is inside, whichever
/// direction a packet has.
pub(super) fn note_tunnel(segment: &mut Segment, name: u32) {
    let ends = segment.endpoints.source ^ segment.endpoints.destination;
    let folded = ends.to_be_bytes().chunks_exact(4).fold(0, |folded, word| folded ^ be32(word, 0).unwrap_or_default());
    segment.endpoints.outer = mix(mix(segment.endpoints.outer, folded), name);
}
