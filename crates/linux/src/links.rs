//! Network devices and the addresses they carry (`RTM_GETLINK`, `RTM_GETADDR`).

use std::net::IpAddr;

use crate::netlink::{Netlink, NetlinkError, attributes, value};

/// One network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Number of the device (`ifi_index`), unique in its namespace and above 0.
    pub index: u32,
    /// Interface name (`IFLA_IFNAME`), unique in its namespace.
    pub name: String,
    /// Its largest packet, in bytes.
    pub mtu: Option<u32>,
    /// What the kernel makes it of, such as `veth` or `vxlan`; absent for hardware and loopback.
    pub kind: Option<String>,
}

/// All devices in the network namespace of the calling thread. Needs no privilege.
///
/// # Errors
/// Why the kernel gave no answer, or one that cannot be read.
pub fn dump() -> Result<Vec<Link>, NetlinkError> {
    Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?.dump(RTM_GETLINK, &[0; IFINFOMSG_LEN], parse_link)
}

/// The device that carries `address` as one of its own; `None` where none does.
///
/// # Errors
/// Why the kernel gave no answer, or one that cannot be read.
pub fn carrying(address: IpAddr) -> Result<Option<Link>, NetlinkError> {
    let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
    let addresses = netlink.dump(RTM_GETADDR, &[0; IFADDRMSG_LEN], parse_address)?;
    let wanted = address.to_canonical();
    let carried = addresses.iter().find(|carried| carried.address == Some(wanted));
    // Every address of 127.0.0.0/8 is loopback's, though only the first is listed.
    let loopback = || addresses.iter().find(|carried| carried.address.is_some_and(|address| address.is_loopback()));
    let Some(carried) = carried.or_else(|| loopback().filter(|_| wanted.is_loopback())) else { return Ok(None) };
    Ok(dump()?.into_iter().find(|link| link.index == carried.interface))
}

struct Carried {
    interface: u32,
    address: Option<IpAddr>,
}

fn parse_link(message: &[u8]) -> Result<Link, NetlinkError> {
    let mut link = Link { index: index(message)?, name: String::new(), mtu: None, kind: None };
    for attribute in attributes(message, IFINFOMSG_LEN) {
        let attribute = attribute?;
        match attribute.kind {
            IFLA_IFNAME => link.name = value::text(&attribute),
            IFLA_MTU => link.mtu = value::u32(&attribute),
            IFLA_LINKINFO => {
                for part in attribute.nested() {
                    let part = part?;
                    if part.kind == IFLA_INFO_KIND {
                        link.kind = Some(value::text(&part));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(link)
}

fn parse_address(message: &[u8]) -> Result<Carried, NetlinkError> {
    let mut carried = Carried { interface: index(message)?, address: None };
    for attribute in attributes(message, IFADDRMSG_LEN) {
        let attribute = attribute?;
        // On a point-to-point link IFA_ADDRESS is the peer's, and comes before our own.
        if matches!(attribute.kind, IFA_ADDRESS | IFA_LOCAL) {
            carried.address = value::ip(attribute.value).or(carried.address);
        }
    }
    Ok(carried)
}

/// The index of the device: both kinds of message have it behind four bytes.
pub(crate) fn index(message: &[u8]) -> Result<u32, NetlinkError> {
    let bytes = message.get(4..8).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u32::from_ne_bytes).ok_or(NetlinkError::Malformed { offset: 4, reason: "an index that is cut short" })
}

// include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h of 6.18
const RTM_GETLINK: u16 = 18;
const RTM_GETADDR: u16 = 22;
const IFINFOMSG_LEN: usize = 16;
const IFADDRMSG_LEN: usize = 8;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_carries_every_address_that_starts_with_127() {
        for address in ["127.0.0.1", "127.9.8.7", "::ffff:127.0.0.1"] {
            let link = carrying(address.parse().unwrap()).unwrap().unwrap();
            assert_eq!((link.name.as_str(), link.kind), ("lo", None));
            assert!(link.mtu.is_some_and(|mtu| mtu >= 16_384), "{:?}", link.mtu);
        }
    }

    #[test]
    fn an_address_of_nobody_is_carried_by_none() {
        assert_eq!(carrying("192.0.2.1".parse().unwrap()).unwrap(), None);
    }
}
