//! From the bytes of a packet to the TCP segment in it, through link layers and tunnels.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the walk from layer to layer |
//! | `layer` | where the walk stands |
//! | `segment` | what comes of it |
//! | `link` | Ethernet, Linux cooked, null and raw; VLAN, MPLS and PPPoE tags |
//! | `ip` | IPv4, IPv6 and its extension headers |
//! | `tunnel` | VXLAN, Geneve, GRE, ERSPAN, GTP-U |
//! | `tag` | what is around a packet, in words |
//! | `tcp` | the TCP header and its options |
//!
//! Lengths come from the IP header, so that a capture of headers only counts the same bytes as a whole one.

mod ip;
mod layer;
mod link;
mod segment;
mod tag;
mod tcp;
mod tunnel;

pub use layer::{Content, LaterFragment};
use layer::{Layer, Walk};
pub(crate) use segment::address_bits;
pub use segment::{Endpoints, FirstFragment, SackBlocks, Segment, TcpOptions, address, flag};
pub use tag::Tag;

/// Headers of IP, tags and tunnels inside one another; a packet with more is not read further.
const MAX_LAYERS: usize = 16;

/// Reads one packet of a link type. Only for [`Content::Tcp`] does `segment` hold its fields; time, frame and interface
/// are left to the caller.
#[inline]
pub fn decode(link: u16, bytes: &[u8], wire_bytes: u32, segment: &mut Segment) -> Content {
    decode_noting(link, bytes, wire_bytes, segment, None)
}

/// What is around a packet, the outermost first, as people write it; empty where there is nothing.
#[must_use]
pub fn tags(link: u16, bytes: &[u8], wire_bytes: u32) -> String {
    let mut tags = Vec::new();
    decode_noting(link, bytes, wire_bytes, &mut Segment::default(), Some(&mut tags));
    let names: Vec<String> = tags.iter().map(Tag::to_string).collect();
    names.join(", ")
}

/// The same, with what is around the packet.
#[inline]
fn decode_noting(
    link: u16,
    bytes: &[u8],
    wire_bytes: u32,
    segment: &mut Segment,
    tags: Option<&mut Vec<Tag>>,
) -> Content {
    let mut walk = Walk { rest: bytes, wire: wire_bytes, tags };
    segment.endpoints.outer = 0;
    let Some(mut layer) = link::first(link, &mut walk) else { return Content::CutShort };
    for _ in 0..MAX_LAYERS {
        let next = match layer {
            Layer::Ethernet => link::ethernet(&mut walk),
            Layer::EtherType(number) => link::ether_type(number, &mut walk, segment),
            Layer::Ipv4 => ip::version_4(&mut walk, segment),
            Layer::Ipv6 => ip::version_6(&mut walk, segment),
            Layer::Transport(ip::TCP) => tcp::header(&mut walk, segment),
            Layer::Transport(protocol) => tunnel::transport(protocol, &mut walk, segment),
            Layer::Done(content) => return content,
        };
        let Some(next) = next else { return Content::CutShort };
        layer = next;
    }
    match layer {
        Layer::Done(content) => content,
        _ => Content::Other,
    }
}
