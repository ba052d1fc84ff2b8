//! Link layers and the tags between them and IP.

use super::layer::{Content, Layer, Walk, mix};
use super::segment::Segment;
use super::tag::Tag;

/// `LINKTYPE_` numbers of tcpdump.org.
mod link_type {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const PPP: u16 = 9;
    pub(super) const RAW_BSD: u16 = 12;
    pub(super) const RAW_OPENBSD: u16 = 14;
    pub(super) const RAW: u16 = 101;
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_SLL: u16 = 113;
    pub(super) const IPV4: u16 = 228;
    pub(super) const IPV6: u16 = 229;
    pub(super) const LINUX_SLL2: u16 = 276;
}

const ETHER_IPV4: u16 = 0x0800;
const ETHER_IPV6: u16 = 0x86dd;
/// Below this the field is a length (IEEE 802.3).
const FIRST_ETHER_TYPE: u16 = 0x0600;

/// The first layer of a packet.
#[inline]
pub(super) fn first(link: u16, walk: &mut Walk) -> Option<Layer> {
    Some(match link {
        link_type::ETHERNET => Layer::Ethernet,
        link_type::RAW | link_type::RAW_BSD | link_type::RAW_OPENBSD => by_version(walk)?,
        link_type::IPV4 => Layer::Ipv4,
        link_type::IPV6 => Layer::Ipv6,
        link_type::LINUX_SLL => {
            let number = u16::from_be_bytes(walk.array(14)?);
            walk.skip(16)?;
            Layer::EtherType(number)
        }
        link_type::LINUX_SLL2 => {
            let number = u16::from_be_bytes(walk.array(0)?);
            walk.skip(20)?;
            Layer::EtherType(number)
        }
        link_type::NULL | link_type::LOOP => {
            let family: [u8; 4] = walk.array(0)?;
            walk.skip(4)?;
            // In the byte order of the host that captured, so in either.
            match u32::from_le_bytes(family).min(u32::from_be_bytes(family)) {
                2 => Layer::Ipv4,
                10 | 24 | 28 | 30 => Layer::Ipv6,
                _ => Layer::Done(Content::Other),
            }
        }
        link_type::PPP => {
            if walk.array::<2>(0)? == [0xff, 0x03] {
                walk.skip(2)?;
            }
            point_to_point(walk)?
        }
        _ => Layer::Done(Content::UnknownLink),
    })
}

#[inline]
pub(super) fn ethernet(walk: &mut Walk) -> Option<Layer> {
    let number = u16::from_be_bytes(walk.array(12)?);
    walk.skip(14)?;
    if number >= FIRST_ETHER_TYPE {
        return Some(Layer::EtherType(number));
    }
    // SNAP (RFC 1042).
    let snap: [u8; 8] = walk.array(0)?;
    walk.skip(8)?;
    let [0xaa, 0xaa, 3, 0, 0, 0, high, low] = snap else { return Some(Layer::Done(Content::Other)) };
    Some(Layer::EtherType(u16::from_be_bytes([high, low])))
}

#[inline]
pub(super) fn ether_type(number: u16, walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    Some(match number {
        ETHER_IPV4 => Layer::Ipv4,
        ETHER_IPV6 => Layer::Ipv6,
        // VLAN tags (IEEE 802.1Q, 802.1ad, and what came before it).
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
            let tag = u16::from_be_bytes(walk.array(0)?);
            let inner = u16::from_be_bytes(walk.array(2)?);
            walk.skip(4)?;
            segment.endpoints.outer = mix(segment.endpoints.outer, u32::from(tag & 0x0fff));
            walk.note(Tag::Vlan(tag & 0x0fff));
            Layer::EtherType(inner)
        }
        0x8847 | 0x8848 => labels(walk, segment)?,
        0x8864 => {
            let session = u16::from_be_bytes(walk.array(2)?);
            segment.endpoints.outer = mix(segment.endpoints.outer, u32::from(session));
            walk.note(Tag::Pppoe(session));
            walk.skip(6)?;
            point_to_point(walk)?
        }
        // Transparent Ethernet bridging, in tunnels.
        0x6558 => Layer::Ethernet,
        _ => Layer::Done(Content::Other),
    })
}

/// MPLS (RFC 3032): what is below the last label can only be guessed from its first bits, as routers do.
fn labels(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    loop {
        let entry = u32::from_be_bytes(walk.array(0)?);
        walk.skip(4)?;
        segment.endpoints.outer = mix(segment.endpoints.outer, entry >> 12);
        walk.note(Tag::Mpls(entry >> 12));
        if entry & 0x100 != 0 {
            break;
        }
    }
    match walk.rest.first()? >> 4 {
        // A control word (RFC 4385) and an Ethernet frame.
        0 => {
            walk.skip(4)?;
            Some(Layer::Ethernet)
        }
        4 | 6 => by_version(walk),
        _ => Some(Layer::Ethernet),
    }
}

fn point_to_point(walk: &mut Walk) -> Option<Layer> {
    let protocol: [u8; 2] = walk.array(0)?;
    walk.skip(2)?;
    Some(match u16::from_be_bytes(protocol) {
        0x0021 => Layer::Ipv4,
        0x0057 => Layer::Ipv6,
        _ => Layer::Done(Content::Other),
    })
}

/// IP without anything that says which.
pub(super) fn by_version(walk: &Walk) -> Option<Layer> {
    Some(match walk.rest.first()? >> 4 {
        4 => Layer::Ipv4,
        6 => Layer::Ipv6,
        _ => Layer::Done(Content::Other),
    })
}
