//! The packet in a report: its headers, and INT behind them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::bytes::{Bytes, Malformed};
use super::report::{IntFlow, IntHop};

/// What a packet begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outermost {
    Ethernet,
    Ipv4,
    Ipv6,
}

/// What was found in a packet.
#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) flow: Option<IntFlow>,
    pub(super) hops: Vec<IntHop>,
    pub(super) is_incomplete: bool,
}

/// Reads the INT headers that follow a transport header.
pub(super) type StackReader = fn(Bytes<'_>, &mut Inner) -> Result<(), Malformed>;

/// The flow of a packet that begins with a header of Ethernet, where the packet is whole to its ports and behind them.
pub(crate) fn flow_of(frame: &[u8]) -> Option<IntFlow> {
    packet(Bytes::new(frame), Outermost::Ethernet, None).ok()?.flow
}

/// Reads a packet that may be cut off anywhere. `embedded` reads what follows the transport header, where INT does.
pub(super) fn packet(
    mut bytes: Bytes<'_>,
    first: Outermost,
    embedded: Option<StackReader>,
) -> Result<Inner, Malformed> {
    let mut vlan = None;
    let family = match first {
        Outermost::Ipv4 => ETH_P_IP,
        Outermost::Ipv6 => ETH_P_IPV6,
        Outermost::Ethernet => ethernet(&mut bytes, &mut vlan)?,
    };
    let Some(ip) = ip(&mut bytes, family)? else { return Ok(Inner::default()) };
    let transport = match ip.protocol {
        TCP => TCP_HEADER,
        UDP => UDP_HEADER,
        _ => return Ok(Inner::default()),
    };
    let header = bytes.take(transport, "a transport header that is cut short")?;
    let port = |offset: usize| header.get(offset..offset + 2).map_or(0, |port| u16::from_be_bytes([port[0], port[1]]));
    let flow = IntFlow {
        source: SocketAddr::new(ip.source, port(0)),
        destination: SocketAddr::new(ip.destination, port(2)),
        protocol: ip.protocol,
        vlan,
        ip_bytes: ip.length,
    };
    let mut inner = Inner { flow: Some(flow), ..Inner::default() };
    // INT stands between the header of TCP and its options: the data offset is not asked.
    if let Some(stack) = embedded {
        stack(bytes, &mut inner)?;
    }
    Ok(inner)
}

/// The header of Ethernet and VLAN tags, of which the first is kept. Returns the type of what follows.
fn ethernet(bytes: &mut Bytes<'_>, vlan: &mut Option<u16>) -> Result<u16, Malformed> {
    bytes.take(12, "an Ethernet header that is cut short")?;
    let mut kind = bytes.u16("an Ethernet header that is cut short")?;
    for _ in 0..MOST_TAGS {
        if !matches!(kind, ETH_P_8021Q | ETH_P_8021AD) {
            break;
        }
        let tag = bytes.u16("a VLAN tag that is cut short")?;
        vlan.get_or_insert(tag & 0xfff);
        kind = bytes.u16("a VLAN tag that is cut short")?;
    }
    Ok(kind)
}

struct Ip {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    length: u16,
}

/// The header of IP with its options; none for other protocols.
fn ip(bytes: &mut Bytes<'_>, family: u16) -> Result<Option<Ip>, Malformed> {
    let cut = "an IP header that is cut short";
    match family {
        ETH_P_IP => {
            let at = bytes.at();
            let header: &[u8; 20] = bytes.take(20, cut)?.try_into().map_err(|_| Malformed { at, what: cut })?;
            let length = usize::from(header[0] & 15) * 4;
            let options =
                length.checked_sub(20).ok_or(Malformed { at, what: "an IP header shorter than it can be" })?;
            bytes.take(options, cut)?;
            let address = |offset: usize| {
                Ipv4Addr::new(header[offset], header[offset + 1], header[offset + 2], header[offset + 3])
            };
            Ok(Some(Ip {
                source: address(12).into(),
                destination: address(16).into(),
                protocol: header[9],
                length: u16::from_be_bytes([header[2], header[3]]),
            }))
        }
        ETH_P_IPV6 => {
            let at = bytes.at();
            let header: &[u8; 40] = bytes.take(40, cut)?.try_into().map_err(|_| Malformed { at, what: cut })?;
            let address = |offset: usize| {
                let mut octets = [0; 16];
                octets.copy_from_slice(&header[offset..offset + 16]);
                Ipv6Addr::from(octets)
            };
            Ok(Some(Ip {
                source: address(8).into(),
                destination: address(24).into(),
                protocol: header[6],
                length: u16::from_be_bytes([header[4], header[5]]).saturating_add(40),
            }))
        }
        _ => Ok(None),
    }
}

const ETH_P_IP: u16 = 0x0800;
const ETH_P_IPV6: u16 = 0x86dd;
const ETH_P_8021Q: u16 = 0x8100;
const ETH_P_8021AD: u16 = 0x88a8;
/// QinQ and one more.
const MOST_TAGS: usize = 3;
const TCP: u8 = 6;
const UDP: u8 = 17;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
