//! Whole routes: what the kernel tells of one, in the form in which it is made again.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{SetError, hex, unhex};
use crate::facts::route::metrics as metric_texts;
use crate::netlink::change::{CREATE, REPLACE};
use crate::netlink::{Netlink, NetlinkError, Request, attributes, value};
use crate::rtnetlink::metrics::RTA_METRICS;
use crate::rtnetlink::route::{Metric, merged_metrics};
use crate::{Reason, Unavailable};

/// A route, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeRoute {
    /// The message that makes it (`RTM_NEWROUTE`), without the netlink header.
    message: Vec<u8>,
    /// Its metrics as `ip route` writes them.
    pub metrics: BTreeMap<String, String>,
}

impl WholeRoute {
    /// The one route to a destination in the main table; [`None`] where there is none.
    ///
    /// # Errors
    /// [`SetError::Irreversible`] where there are several, or one that goes away by itself.
    pub fn read(to: (IpAddr, u8)) -> Result<Option<Self>, SetError> {
        let mut request = [0; RTMSG_LEN];
        request[0] = if to.0.is_ipv4() { AF_INET } else { AF_INET6 };
        let dump = || {
            Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?
                .dump(RTM_GETROUTE, &request, |message| parse(message, to))
        };
        let found = dump().map_err(|error: NetlinkError| error.unavailable("RTM_GETROUTE"))?;
        let mut found = found.into_iter().flatten();
        let shown = || format!("the route to {}/{}", to.0, to.1);
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some(Found::Lasting(route)), None) => Ok(Some(route)),
            (Some(Found::Fleeting), None) => {
                Err(SetError::irreversible(shown(), "a router has announced it, and it goes away by itself"))
            }
            (Some(_), Some(_)) => Err(SetError::irreversible(shown(), "there are several to that destination")),
        }
    }

    /// The same route with some metrics changed.
    #[must_use]
    pub fn with_metrics(&self, changed: &[Metric]) -> Self {
        let fixed = self.message.get(..RTMSG_LEN).unwrap_or(&[0; RTMSG_LEN]);
        let mut request = Request::new(fixed);
        let mut old = Vec::new();
        for attribute in attributes(&self.message, RTMSG_LEN).filter_map(Result::ok) {
            if attribute.kind == RTA_METRICS {
                old = attribute.value.to_vec();
            } else {
                request.put(attribute.kind, attribute.value);
            }
        }
        request.put(RTA_METRICS, &merged_metrics(&old, changed));
        let message = request.bytes().to_vec();
        Self { metrics: texts(&message), message }
    }

    /// Makes it, in the place of that to the same destination.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn write(&self) -> Result<(), SetError> {
        let write = || {
            let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
            netlink.explain_refusals()?;
            netlink.change(RTM_NEWROUTE, CREATE | REPLACE, &self.message)
        };
        write().map_err(SetError::netlink("make the route"))
    }

    /// Its message as hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(&self.message)
    }

    /// From what [`to_hex`](Self::to_hex) has given.
    ///
    /// # Errors
    /// For a text that it has not given.
    pub fn from_hex(text: &str) -> Result<Self, SetError> {
        let message = unhex(text).filter(|message| message.len() >= RTMSG_LEN);
        let wrong = || Unavailable {
            what: "the route".to_owned(),
            reason: Reason::Failed { message: "no message".to_owned() },
        };
        let message = message.ok_or_else(wrong)?;
        Ok(Self { metrics: texts(&message), message })
    }
}

enum Found {
    Lasting(WholeRoute),
    /// It has an end.
    Fleeting,
}

fn parse(message: &[u8], to: (IpAddr, u8)) -> Result<Option<Found>, NetlinkError> {
    let Some(&[family, prefix, _, tos, table, protocol, scope, kind, ..]) = message.first_chunk::<RTMSG_LEN>() else {
        return Err(NetlinkError::Malformed { offset: 0, reason: "a route that is cut short" });
    };
    let flags = value::word(message, 8).unwrap_or_default();
    let parts: Vec<_> = attributes(message, RTMSG_LEN).collect::<Result<_, _>>()?;
    let find = |kind: u16| parts.iter().find(|part| part.kind == kind);
    let table = find(RTA_TABLE).and_then(value::u32).unwrap_or(table.into());
    let destination = find(RTA_DST).and_then(|part| value::ip(part.value));
    let is_it = prefix == to.1 && destination.map_or(to.0.is_unspecified(), |found| found == to.0);
    if table != RT_TABLE_MAIN || !is_it || flags & RTM_F_CLONED != 0 {
        return Ok(None);
    }
    // struct rta_cacheinfo: the third word is when it expires.
    if find(RTA_CACHEINFO).and_then(|part| value::word(part.value, 8)).is_some_and(|expires| expires != 0) {
        return Ok(Some(Found::Fleeting));
    }
    let fixed = [family, prefix, 0, tos, RT_TABLE_MAIN_BYTE, protocol, scope, kind];
    let mut request = Request::new(&[&fixed[..], &(flags & KEPT_FLAGS).to_ne_bytes()].concat());
    let by_number = find(RTA_NH_ID).is_some();
    for part in &parts {
        match part.kind {
            RTA_CACHEINFO | RTA_PAD | RTA_EXPIRES => {}
            // A route that names its next hop by number takes no other.
            RTA_OIF | RTA_GATEWAY | RTA_MULTIPATH | RTA_VIA | RTA_ENCAP_TYPE | RTA_ENCAP if by_number => {}
            RTA_MULTIPATH => {
                request.put(part.kind, &hops(part.value));
            }
            kind => {
                request.put(kind, part.value);
            }
        }
    }
    let message = request.bytes().to_vec();
    Ok(Some(Found::Lasting(WholeRoute { metrics: texts(&message), message })))
}

/// `struct rtnexthop`s without the flags that are states of the moment.
fn hops(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut start = 0;
    while let Some(&[l0, l1, flags]) = bytes.get(start..).and_then(|rest| rest.first_chunk::<3>()) {
        bytes[start + 2] = flags & KEPT_HOP_FLAGS;
        let length = usize::from(u16::from_ne_bytes([l0, l1]));
        if length < RTNEXTHOP_LEN {
            break;
        }
        start += length.next_multiple_of(4);
    }
    bytes
}

fn texts(message: &[u8]) -> BTreeMap<String, String> {
    let found = attributes(message, RTMSG_LEN).filter_map(Result::ok).find(|part| part.kind == RTA_METRICS);
    found.and_then(|part| metric_texts(&part).ok()).unwrap_or_default()
}

// include/uapi/linux/rtnetlink.h of 6.18
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTMSG_LEN: usize = 12;
const RTNEXTHOP_LEN: usize = 8;
const RT_TABLE_MAIN: u32 = 254;
const RT_TABLE_MAIN_BYTE: u8 = 254;
const RTM_F_CLONED: u32 = 0x200;
/// RTNH_F_PERVASIVE and RTNH_F_ONLINK: all others are states (include/uapi/linux/rtnetlink.h, RTNH_COMPARE_MASK).
const KEPT_FLAGS: u32 = 2 | 4;
const KEPT_HOP_FLAGS: u8 = 2 | 4;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_MULTIPATH: u16 = 9;
const RTA_CACHEINFO: u16 = 12;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_ENCAP_TYPE: u16 = 21;
const RTA_ENCAP: u16 = 22;
const RTA_EXPIRES: u16 = 23;
const RTA_PAD: u16 = 24;
const RTA_NH_ID: u16 = 30;
