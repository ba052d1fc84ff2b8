//! Routes with their metrics (`RTM_GETROUTE`).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::host::route::{NextHop, Route};

use super::{Names, route_socket};
use crate::netlink::{Attribute, NetlinkError, attributes, value};
use crate::rtnetlink::metrics::{Form, METRICS, RTA_METRICS, RTAX_FEATURE_ECN, RTAX_LOCK};
use crate::{Reason, Unavailable};

/// All routes of IPv4 and IPv6 in the namespace, without those of the table `local` and without exceptions learnt.
/// `names` are those of its devices.
///
/// # Errors
/// Why they cannot be read.
pub fn read(names: &Names) -> Result<Vec<Route>, Unavailable> {
    let mut routes = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut request = [0; RTMSG_LEN];
        request[0] = u8::try_from(family).unwrap_or_default();
        let dump = route_socket(SOURCE)?.dump(RTM_GETROUTE, &request, |message| parse(message, names));
        match dump.map_err(|error| error.unavailable(SOURCE)) {
            Ok(found) => routes.extend(found.into_iter().flatten()),
            // A kernel without IPv6 has no routes of it.
            Err(Unavailable { reason: Reason::Unsupported, .. }) if family == libc::AF_INET6 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(routes)
}

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETROUTE";

fn parse(message: &[u8], names: &Names) -> Result<Option<Route>, NetlinkError> {
    let Some(&[family, prefix, _, _, table, protocol, _, kind, ..]) = message.first_chunk::<RTMSG_LEN>() else {
        return Err(NetlinkError::Malformed { offset: 0, reason: "a route that is cut short" });
    };
    let flags = value::word(message, 8).unwrap_or_default();
    let mut route = Route {
        destination: String::new(),
        kind: kind_name(kind),
        table: table.into(),
        via: None,
        interface: None,
        preferred_source: None,
        priority: None,
        protocol: protocol_name(protocol),
        metrics: BTreeMap::new(),
        hops: Vec::new(),
    };
    let mut destination = None;
    for attribute in attributes(message, RTMSG_LEN) {
        let attribute = attribute?;
        match attribute.kind {
            RTA_DST => destination = value::ip(attribute.value),
            RTA_OIF => route.interface = device(&attribute, names),
            RTA_GATEWAY | RTA_VIA => route.via = gateway(&attribute),
            RTA_PRIORITY => route.priority = value::u32(&attribute),
            RTA_PREFSRC => route.preferred_source = value::ip(attribute.value),
            RTA_TABLE => route.table = value::u32(&attribute).unwrap_or(route.table),
            RTA_METRICS => route.metrics = metrics(&attribute)?,
            RTA_MULTIPATH => route.hops = hops(&attribute, names),
            _ => {}
        }
    }
    let everywhere: IpAddr =
        if i32::from(family) == libc::AF_INET { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    route.destination = format!("{}/{prefix}", destination.unwrap_or(everywhere));
    Ok((route.table != RT_TABLE_LOCAL && flags & RTM_F_CLONED == 0).then_some(route))
}

fn device(attribute: &Attribute<'_>, names: &Names) -> Option<String> {
    value::u32(attribute).and_then(|index| names.get(&index).cloned())
}

/// A router of the route's own family, or of another with its family before it (`struct rtvia`).
fn gateway(attribute: &Attribute<'_>) -> Option<IpAddr> {
    let bytes = if attribute.kind == RTA_VIA { attribute.value.get(2..)? } else { attribute.value };
    value::ip(bytes)
}

pub(crate) fn metrics(attribute: &Attribute<'_>) -> Result<BTreeMap<String, String>, NetlinkError> {
    let mut locks = 0;
    let mut found = Vec::new();
    value::for_nested(attribute, |part| {
        match part.kind {
            RTAX_LOCK => locks = value::u32(part).unwrap_or_default(),
            kind => {
                if let Some(&(name, _, form)) = METRICS.iter().find(|(_, known, _)| *known == kind) {
                    found.extend(written(part, form).map(|text| (name, kind, text)));
                }
            }
        }
        Ok(())
    })?;
    let lock = |kind: u16| if locks & 1 << kind == 0 { "" } else { "lock " };
    Ok(found.into_iter().map(|(name, kind, text)| (name.to_owned(), format!("{}{text}", lock(kind)))).collect())
}

/// A metric as `ip route` writes it.
fn written(attribute: &Attribute<'_>, form: Form) -> Option<String> {
    let number = value::u32(attribute)?;
    Some(match form {
        Form::Name => value::text(attribute),
        Form::Number | Form::Switch => number.to_string(),
        Form::Millis { per } => format!("{}ms", f64::from(number) / f64::from(per)),
        Form::Features if number == RTAX_FEATURE_ECN => "ecn".to_owned(),
        Form::Features => format!("{number:#x}"),
    })
}

/// `struct rtnexthop`s, each with attributes behind it.
fn hops(attribute: &Attribute<'_>, names: &Names) -> Vec<NextHop> {
    let mut rest = attribute.value;
    let mut hops = Vec::new();
    while let Some(&[l0, l1, _, weight, i0, i1, i2, i3]) = rest.first_chunk::<RTNEXTHOP_LEN>() {
        let length = usize::from(u16::from_ne_bytes([l0, l1]));
        let Some(hop) = rest.get(..length) else { break };
        let parts = attributes(hop, RTNEXTHOP_LEN).filter_map(Result::ok);
        let via = parts.filter(|part| matches!(part.kind, RTA_GATEWAY | RTA_VIA)).find_map(|part| gateway(&part));
        let interface = names.get(&u32::from_ne_bytes([i0, i1, i2, i3])).cloned();
        hops.push(NextHop { via, interface, weight: u32::from(weight) + 1 });
        if length < RTNEXTHOP_LEN {
            break;
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    hops
}

/// Names as ip-route(8).
fn kind_name(kind: u8) -> String {
    let names = [
        "none",
        "unicast",
        "local",
        "broadcast",
        "anycast",
        "multicast",
        "blackhole",
        "unreachable",
        "prohibit",
        "throw",
        "nat",
    ];
    names.get(usize::from(kind)).map_or_else(|| kind.to_string(), |name| (*name).to_owned())
}

/// Names as /etc/iproute2/rt_protos has them.
fn protocol_name(protocol: u8) -> String {
    let name = match protocol {
        0 => "unspec",
        1 => "redirect",
        2 => "kernel",
        3 => "boot",
        4 => "static",
        9 => "ra",
        11 => "zebra",
        12 => "bird",
        16 => "dhcp",
        186 => "bgp",
        188 => "ospf",
        other => return other.to_string(),
    };
    name.to_owned()
}

// include/uapi/linux/rtnetlink.h of 6.18
const RTM_GETROUTE: u16 = 26;
const RTMSG_LEN: usize = 12;
const RTNEXTHOP_LEN: usize = 8;
const RT_TABLE_LOCAL: u32 = 255;
const RTM_F_CLONED: u32 = 0x200;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
