//! Settings that are numbers: rings, channels, coalescing, pause frames, EEE, mode of the link (one message of the
//! family `ethtool` each), and sizes of the link (rtnetlink). What a driver does not have is absent.

use std::collections::BTreeMap;

use model::host::fix::captured::Table;
use model::host::fix::names::BOND_POLICIES;

use super::SetError;
use crate::facts;
use crate::netlink::generic::GenericNetlink;
use crate::netlink::{Netlink, NetlinkError, Request, attributes, value};
use crate::{Reason, Unavailable};

/// The numbers of one kind that the device with the number `index` has.
///
/// # Errors
/// Why they cannot be read; [`Reason::Unsupported`] where the driver has none.
pub fn read(index: u32, table: Table) -> Result<BTreeMap<String, u32>, SetError> {
    match table {
        Table::Link => read_link(index),
        Table::Bond => read_bond(index),
        _ => Ok(read_driver(index, &driver_table(table))?),
    }
}

/// Writes some of the numbers of one kind.
///
/// # Errors
/// What the kernel or the driver says.
pub fn write(index: u32, table: Table, values: &BTreeMap<String, u32>) -> Result<(), SetError> {
    let what = format!("set {table} to {}", shown(values));
    match table {
        Table::Link | Table::Bond => {
            let open = || {
                let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
                netlink.explain_refusals()?;
                let request = if table == Table::Link { link_request(index, values) } else { bond(index, values) };
                netlink.change(RTM_NEWLINK, 0, request.bytes())
            };
            open().map_err(SetError::netlink(what))
        }
        _ => {
            let driver = driver_table(table);
            let mut family = GenericNetlink::open("ethtool")?;
            family
                .change(driver.set, |request| driver_request(request, index, &driver, values))
                .map_err(SetError::netlink(what))
        }
    }
}

fn shown(values: &BTreeMap<String, u32>) -> String {
    values.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

fn read_driver(index: u32, table: &DriverTable) -> Result<BTreeMap<String, u32>, Unavailable> {
    let read = GenericNetlink::open("ethtool")?.get(
        table.get,
        |request| facts::ethtool::header_of(request, index),
        |attributes| {
            let mut values = BTreeMap::new();
            for attribute in attributes {
                let attribute = attribute?;
                let Some((name, _, width)) = table.values.iter().find(|(_, kind, _)| *kind == attribute.kind) else {
                    continue;
                };
                let number = match width {
                    Width::Byte => value::u8(&attribute).map(u32::from),
                    Width::Word => value::u32(&attribute),
                };
                values.extend(number.map(|number| ((*name).to_owned(), number)));
            }
            Ok(values)
        },
    );
    let gone = || Unavailable { what: table.what.to_owned(), reason: Reason::Absent };
    read.map_err(|error| error.unavailable(table.what))?.ok_or_else(gone)
}

fn driver_request(request: &mut Request, index: u32, table: &DriverTable, values: &BTreeMap<String, u32>) {
    facts::ethtool::header_of(request, index);
    for (name, number) in values {
        match table.values.iter().find(|(known, ..)| known == name) {
            Some((_, kind, Width::Byte)) => {
                request.put(*kind, &[u8::try_from(*number).unwrap_or(u8::MAX)]);
            }
            Some((_, kind, Width::Word)) => {
                request.put_u32(*kind, *number);
            }
            None => {}
        }
    }
}

fn read_link(index: u32) -> Result<BTreeMap<String, u32>, SetError> {
    let read = || {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
        netlink.get(RTM_GETLINK, link_request(index, &BTreeMap::new()).bytes(), |message| {
            let mut values = BTreeMap::new();
            for attribute in attributes(message, IFINFOMSG_LEN) {
                let attribute = attribute?;
                let known = LINK.iter().find(|(_, kind)| *kind == attribute.kind);
                values.extend(known.zip(value::u32(&attribute)).map(|((name, _), value)| ((*name).to_owned(), value)));
            }
            Ok(values)
        })
    };
    let gone = || Unavailable { what: "RTM_GETLINK".to_owned(), reason: Reason::Absent };
    Ok(read().map_err(|error: NetlinkError| error.unavailable("RTM_GETLINK"))?.ok_or_else(gone)?)
}

fn link_request(index: u32, values: &BTreeMap<String, u32>) -> Request {
    let mut request = Request::new(&[0; IFINFOMSG_LEN]);
    request.set_u32(4, index);
    // In the order of the table: the kernel sets the sizes for IPv4 along with the others (net/core/dev.c,
    // netif_set_gso_max_size), so those come last.
    for (name, kind) in LINK {
        if let Some(value) = values.get(name) {
            request.put_u32(kind, *value);
        }
    }
    request
}

fn read_bond(index: u32) -> Result<BTreeMap<String, u32>, SetError> {
    let found = facts::link::read()?.into_iter().find(|device| device.link.index == index);
    let policy = found.and_then(|device| device.link.bond).and_then(|bond| bond.transmit_hash);
    let place = policy.and_then(|policy| BOND_POLICIES.iter().position(|known| *known == policy));
    let number = place.and_then(|place| u32::try_from(place).ok());
    let none = || Unavailable { what: "xmit_hash_policy".to_owned(), reason: Reason::Unsupported };
    Ok(number.map(|number| BTreeMap::from([(HASH.to_owned(), number)])).ok_or_else(none)?)
}

fn bond(index: u32, values: &BTreeMap<String, u32>) -> Request {
    let mut request = Request::new(&[0; IFINFOMSG_LEN]);
    request.set_u32(4, index);
    request.nest(IFLA_LINKINFO, |info| {
        info.put_text(IFLA_INFO_KIND, "bond");
        info.nest(IFLA_INFO_DATA, |data| {
            if let Some(policy) = values.get(HASH) {
                data.put(IFLA_BOND_XMIT_HASH_POLICY, &[u8::try_from(*policy).unwrap_or(u8::MAX)]);
            }
        });
    });
    request
}

/// One kind of numbers of a driver.
struct DriverTable {
    what: &'static str,
    get: u8,
    set: u8,
    values: &'static [(&'static str, u16, Width)],
}

#[derive(Debug, Clone, Copy)]
enum Width {
    Byte,
    Word,
}

fn driver_table(table: Table) -> DriverTable {
    let of = |what, get, values| DriverTable { what, get, set: get + 1, values };
    match table {
        Table::Rings => of("rings", 15, &RINGS),
        Table::Channels => of("channels", 17, &CHANNELS),
        Table::Coalesce => of("coalesce", 19, &COALESCE),
        Table::Pause => of("pause", 21, &PAUSE),
        Table::Eee => of("eee", 23, &EEE),
        Table::Mode | Table::Link | Table::Bond => of("mode", 4, &MODE),
    }
}

/// How a bond chooses, by its place in [`BOND_POLICIES`].
pub const HASH: &str = "xmit-hash-policy";

// include/uapi/linux/ethtool_netlink_generated.h of 6.18: each message to get has the number before that to set, and
// attributes are numbered from the header at 1.
const RINGS: [(&str, u16, Width); 5] = [
    ("rx", 6, Width::Word),
    ("rx-mini", 7, Width::Word),
    ("rx-jumbo", 8, Width::Word),
    ("tx", 9, Width::Word),
    ("rx-buf-len", 10, Width::Word),
];
const CHANNELS: [(&str, u16, Width); 4] =
    [("rx", 6, Width::Word), ("tx", 7, Width::Word), ("other", 8, Width::Word), ("combined", 9, Width::Word)];
const COALESCE: [(&str, u16, Width); 22] = [
    ("rx-usecs", 2, Width::Word),
    ("rx-frames", 3, Width::Word),
    ("rx-usecs-irq", 4, Width::Word),
    ("rx-frames-irq", 5, Width::Word),
    ("tx-usecs", 6, Width::Word),
    ("tx-frames", 7, Width::Word),
    ("tx-usecs-irq", 8, Width::Word),
    ("tx-frames-irq", 9, Width::Word),
    ("stats-block-usecs", 10, Width::Word),
    ("adaptive-rx", 11, Width::Byte),
    ("adaptive-tx", 12, Width::Byte),
    ("pkt-rate-low", 13, Width::Word),
    ("rx-usecs-low", 14, Width::Word),
    ("rx-frames-low", 15, Width::Word),
    ("tx-usecs-low", 16, Width::Word),
    ("tx-frames-low", 17, Width::Word),
    ("pkt-rate-high", 18, Width::Word),
    ("rx-usecs-high", 19, Width::Word),
    ("rx-frames-high", 20, Width::Word),
    ("tx-usecs-high", 21, Width::Word),
    ("tx-frames-high", 22, Width::Word),
    ("sample-interval", 23, Width::Word),
];
const PAUSE: [(&str, u16, Width); 3] = [("autoneg", 2, Width::Byte), ("rx", 3, Width::Byte), ("tx", 4, Width::Byte)];
const EEE: [(&str, u16, Width); 1] = [("enabled", 5, Width::Byte)];
const MODE: [(&str, u16, Width); 3] =
    [("autoneg", 2, Width::Byte), ("speed", 5, Width::Word), ("duplex", 6, Width::Byte)];

// include/uapi/linux/rtnetlink.h, if_link.h of 6.18
const LINK: [(&str, u16); 7] = [
    ("mtu", 4),
    ("txqlen", 13),
    ("gso-max-segments", 40),
    ("gso-max", 41),
    ("gro-max", 58),
    ("gso-ipv4-max", 63),
    ("gro-ipv4-max", 64),
];
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const IFINFOMSG_LEN: usize = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_BOND_XMIT_HASH_POLICY: u16 = 14;

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, u32)]) -> BTreeMap<String, u32> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    /// No driver here has rings or coalescing, so the bytes are those that Documentation/networking/ethtool-netlink.rst
    /// and the numbers of the header file give, put together by hand for a little-endian machine.
    #[test]
    #[cfg(target_endian = "little")]
    fn messages_for_drivers_are_as_the_kernel_documents_them() {
        let written = |table, pairs: &[(&str, u32)]| {
            let mut request = Request::new(&[]);
            driver_request(&mut request, 7, &driver_table(table), &values(pairs));
            super::super::hex(request.bytes())
        };
        let header = "0c0001800800010007000000";
        assert_eq!(written(Table::Rings, &[("rx", 4_096)]), format!("{header}0800060000100000"));
        let adaptive = [("adaptive-rx", 1), ("adaptive-tx", 1)];
        assert_eq!(written(Table::Coalesce, &adaptive), format!("{header}05000b000100000005000c0001000000"));
        assert_eq!(written(Table::Pause, &[("rx", 1)]), format!("{header}0500030001000000"));
        assert_eq!(driver_table(Table::Pause).set, 22);
        assert_eq!(driver_table(Table::Mode).set, 5);
    }

    #[test]
    fn message_for_a_bond_names_kind_and_policy() {
        let request = bond(7, &values(&[(HASH, 1)]));
        let read: Vec<_> = attributes(request.bytes(), IFINFOMSG_LEN).map(Result::unwrap).collect();
        let parts: Vec<_> = read[0].nested().map(Result::unwrap).collect();
        assert_eq!((parts[0].kind, parts[0].value), (IFLA_INFO_KIND, &b"bond\0"[..]));
        let policy: Vec<_> = parts[1].nested().map(Result::unwrap).collect();
        assert_eq!((policy[0].kind, policy[0].value), (14, &[1][..]));
    }
}
