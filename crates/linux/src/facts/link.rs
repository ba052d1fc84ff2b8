//! Devices with their kinds and counters (`RTM_GETLINK`).

use std::collections::BTreeMap;
use std::fmt::Write;

use model::host::interface::LINK_COUNTERS;
use model::host::interface::link::Link;

use super::{Names, link_kind, route_socket};
use crate::Unavailable;
use crate::netlink::{Attribute, NetlinkError, attributes, value};

/// One device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Interface name (`IFLA_IFNAME`), unique in its namespace.
    pub name: String,
    /// What the kernel makes it of.
    pub link: Link,
    /// What the kernel has counted, by the names of `struct rtnl_link_stats64`.
    pub counters: BTreeMap<String, u64>,
    /// The bus and the address of the hardware under it (since Linux 5.14); [`None`] where there is none.
    pub parent: Option<Parent>,
}

/// Where hardware is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// The bus, such as `pci`.
    pub bus: String,
    /// The address there.
    pub address: String,
}

/// All devices in the namespace.
///
/// # Errors
/// Why they cannot be read.
pub fn read() -> Result<Vec<Device>, Unavailable> {
    let dump = route_socket(SOURCE)?.dump(RTM_GETLINK, &[0; IFINFOMSG_LEN], parse);
    let mut found = dump.map_err(|error| error.unavailable(SOURCE))?;
    let names: Names = found.iter().map(|raw| (raw.device.link.index, raw.device.name.clone())).collect();
    for raw in &mut found {
        // A number of another namespace may be that of a device here as well.
        let here = |index: &u32| raw.device.link.lower_elsewhere.is_none().then(|| names.get(index)).flatten();
        raw.device.link.lower = raw.lower.as_ref().and_then(here).cloned();
        raw.device.link.lower_elsewhere = raw.device.link.lower_elsewhere.and(raw.lower);
        raw.device.link.controller = raw.controller.and_then(|index| names.get(&index).cloned());
    }
    Ok(found.into_iter().map(|raw| raw.device).collect())
}

/// The names of `devices` by their numbers.
#[must_use]
pub fn names(devices: &[Device]) -> Names {
    devices.iter().map(|device| (device.link.index, device.name.clone())).collect()
}

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETLINK";

/// A device whose neighbours are numbers still.
struct Raw {
    device: Device,
    lower: Option<u32>,
    controller: Option<u32>,
}

fn parse(message: &[u8]) -> Result<Raw, NetlinkError> {
    let up = value::word(message, 8).is_some_and(|flags| flags & libc::IFF_UP.cast_unsigned() != 0);
    let link = Link { index: crate::links::index(message)?, up, ..Link::default() };
    let device = Device { name: String::new(), link, counters: BTreeMap::new(), parent: None };
    let mut raw = Raw { device, lower: None, controller: None };
    let (mut bus, mut address) = (None, None);
    for attribute in attributes(message, IFINFOMSG_LEN) {
        let attribute = attribute?;
        match attribute.kind {
            IFLA_IFNAME => raw.device.name = value::text(&attribute),
            IFLA_LINK => raw.lower = value::u32(&attribute).filter(|&index| index != 0),
            IFLA_MASTER => raw.controller = value::u32(&attribute),
            IFLA_STATS64 => raw.device.counters = counters(attribute.value),
            IFLA_LINKINFO => raw.lower = link_kind::read(&attribute, &mut raw.device.link)?.or(raw.lower),
            IFLA_PARENT_DEV_NAME => address = Some(value::text(&attribute)),
            IFLA_PARENT_DEV_BUS_NAME => bus = Some(value::text(&attribute)),
            _ => property(&attribute, &mut raw.device.link),
        }
    }
    raw.device.parent = bus.zip(address).map(|(bus, address)| Parent { bus, address });
    // A device that is its own lower one rests on none (net/core/rtnetlink.c, nla_put_iflink).
    raw.lower = raw.lower.filter(|&lower| lower != raw.device.link.index || raw.device.link.lower_elsewhere.is_some());
    Ok(raw)
}

fn property(attribute: &Attribute<'_>, link: &mut Link) {
    let number = value::u32(attribute);
    match attribute.kind {
        IFLA_ADDRESS => link.address = Some(hardware_address(attribute.value)).filter(|text| !text.is_empty()),
        IFLA_MTU => link.mtu = number,
        IFLA_MAX_MTU => link.max_mtu = number.filter(|&limit| limit != 0),
        IFLA_TXQLEN => link.txqlen = number,
        IFLA_OPERSTATE => link.operational = value::u8(attribute).map(operational),
        IFLA_NUM_TX_QUEUES => link.tx_queues = number,
        IFLA_NUM_RX_QUEUES => link.rx_queues = number,
        IFLA_CARRIER_CHANGES => link.carrier_changes = number,
        IFLA_LINK_NETNSID => link.lower_elsewhere = Some(0),
        IFLA_GSO_MAX_SEGS => link.gso_max_segments = number,
        IFLA_GSO_MAX_SIZE => link.gso_max = number,
        IFLA_GRO_MAX_SIZE => link.gro_max = number,
        IFLA_GSO_IPV4_MAX_SIZE => link.gso_ipv4_max = number,
        IFLA_GRO_IPV4_MAX_SIZE => link.gro_ipv4_max = number,
        _ => {}
    }
}

fn hardware_address(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let separator = if text.is_empty() { "" } else { ":" };
        // Writing to a text does not fail.
        let _ = write!(text, "{separator}{byte:02x}");
        text
    })
}

/// States of RFC 2863, named as `ip link` names them.
fn operational(state: u8) -> String {
    let names = ["unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"];
    names.get(usize::from(state)).map_or_else(|| state.to_string(), |name| (*name).to_owned())
}

fn counters(bytes: &[u8]) -> BTreeMap<String, u64> {
    let values =
        LINK_COUNTERS.iter().enumerate().filter_map(|(place, name)| Some((name, value::long(bytes, place * 8)?)));
    values.map(|(name, value)| ((*name).to_owned(), value)).collect()
}

// include/uapi/linux/rtnetlink.h, if_link.h of 6.18
const RTM_GETLINK: u16 = 18;
const IFINFOMSG_LEN: usize = 16;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_TXQLEN: u16 = 13;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NUM_TX_QUEUES: u16 = 31;
const IFLA_NUM_RX_QUEUES: u16 = 32;
const IFLA_CARRIER_CHANGES: u16 = 35;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_GSO_MAX_SIZE: u16 = 41;
const IFLA_MAX_MTU: u16 = 51;
const IFLA_PARENT_DEV_NAME: u16 = 56;
const IFLA_PARENT_DEV_BUS_NAME: u16 = 57;
const IFLA_GRO_MAX_SIZE: u16 = 58;
const IFLA_GSO_IPV4_MAX_SIZE: u16 = 63;
const IFLA_GRO_IPV4_MAX_SIZE: u16 = 64;
