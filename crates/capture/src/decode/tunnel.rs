//! What carries another packet.

use super::ip::note_tunnel;
use super::layer::{Content, Layer, Walk};
use super::link::by_version;
use super::segment::Segment;
use super::tag::Tag;

/// IP protocol numbers.
mod protocol {
    pub(super) const IPV4: u8 = 4;
    pub(super) const UDP: u8 = 17;
    pub(super) const IPV6: u8 = 41;
    pub(super) const GRE: u8 = 47;
}

/// UDP ports that name a tunnel.
mod port {
    pub(super) const GTP_U: u16 = 2_152;
    pub(super) const VXLAN: u16 = 4_789;
    pub(super) const GENEVE: u16 = 6_081;
    /// Linux before it knew the number of the registry.
    pub(super) const VXLAN_OLD: u16 = 8_472;
}

pub(super) fn transport(number: u8, walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    match number {
        protocol::IPV4 => {
            note_tunnel(segment, 4);
            walk.note(Tag::Ip);
            Some(Layer::Ipv4)
        }
        protocol::IPV6 => {
            note_tunnel(segment, 6);
            walk.note(Tag::Ip);
            Some(Layer::Ipv6)
        }
        protocol::GRE => generic_routing(walk, segment),
        protocol::UDP => datagram(walk, segment),
        _ => Some(Layer::Done(Content::Other)),
    }
}

fn datagram(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let destination = u16::from_be_bytes(walk.array(2)?);
    if !matches!(destination, port::VXLAN | port::VXLAN_OLD | port::GENEVE | port::GTP_U) {
        return Some(Layer::Done(Content::Other));
    }
    walk.skip(8)?;
    match destination {
        port::GENEVE => geneve(walk, segment),
        port::GTP_U => mobile(walk, segment),
        _ => {
            // RFC 7348: flags, reserved, a network identifier of 24 bits.
            let network = u32::from_be_bytes(walk.array(4)?) >> 8;
            note_tunnel(segment, network);
            walk.note(Tag::Vxlan(network));
            walk.skip(8)?;
            Some(Layer::Ethernet)
        }
    }
}

/// RFC 8926.
fn geneve(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let [lengths, _, high, low] = walk.array(0)?;
    let network = u32::from_be_bytes(walk.array(4)?) >> 8;
    note_tunnel(segment, network);
    walk.note(Tag::Geneve(network));
    walk.skip(8 + usize::from(lengths & 0x3f) * 4)?;
    Some(Layer::EtherType(u16::from_be_bytes([high, low])))
}

/// GTP-U (3GPP TS 29.281).
fn mobile(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    const G_PDU: u8 = 255;
    let [flags, message] = walk.array(0)?;
    if flags >> 5 != 1 || message != G_PDU {
        return Some(Layer::Done(Content::Other));
    }
    let endpoint = u32::from_be_bytes(walk.array(4)?);
    note_tunnel(segment, endpoint);
    walk.note(Tag::GtpU(endpoint));
    let mut extension = 0;
    if flags & 7 == 0 {
        walk.skip(8)?;
    } else {
        extension = if flags & 4 == 0 { 0 } else { *walk.rest.get(11)? };
        walk.skip(12)?;
    }
    while extension != 0 {
        let length = usize::from(*walk.rest.first()?) * 4;
        if length == 0 {
            return Some(Layer::Done(Content::Other));
        }
        extension = *walk.rest.get(length - 1)?;
        walk.skip(length)?;
    }
    by_version(walk)
}

/// GRE (RFC 2784, 2890), and ERSPAN inside it.
fn generic_routing(walk: &mut Walk, segment: &mut Segment) -> Option<Layer> {
    let [flags, version, high, low] = walk.array(0)?;
    if version & 7 != 0 {
        return Some(Layer::Done(Content::Other));
    }
    let carried = u16::from_be_bytes([high, low]);
    let (has_checksum, has_key, has_number) = (flags & 0x80 != 0, flags & 0x20 != 0, flags & 0x10 != 0);
    let checksum_bytes = if has_checksum { 4 } else { 0 };
    let key = if has_key { u32::from_be_bytes(walk.array(4 + checksum_bytes)?) } else { 0 };
    note_tunnel(segment, key);
    walk.note(Tag::Gre(has_key.then_some(key)));
    walk.skip(4 + checksum_bytes + if has_key { 4 } else { 0 } + if has_number { 4 } else { 0 })?;
    Some(match carried {
        // ERSPAN I has no header of its own; II, of 8 bytes, comes with a sequence number.
        0x88be => {
            if has_number {
                walk.skip(8)?;
            }
            Layer::Ethernet
        }
        // ERSPAN III: 12 bytes, and 8 more where the last bit says so.
        0x22eb => {
            let has_more = *walk.rest.get(11)? & 1 != 0;
            walk.skip(if has_more { 20 } else { 12 })?;
            Layer::Ethernet
        }
        number => Layer::EtherType(number),
    })
}
