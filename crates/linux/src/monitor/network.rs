//! What the kernel tells of a network namespace by itself: rtnetlink groups (include/uapi/linux/rtnetlink.h of 6.18) and
//! the group `monitor` of the generic netlink family `ethtool` (Documentation/networking/ethtool-netlink.rst). Both may
//! be listened to without privilege; that of nftables takes `CAP_NET_ADMIN`.

use std::io;
use std::os::fd::BorrowedFd;

use super::Heard;
use super::family::multicast_group;
use crate::Unavailable;
use crate::facts::nftables::is_of_nftables;
use crate::netlink::listening::Listening;
use crate::netlink::{attributes, value};

/// Listens to one network namespace: the one in which it was opened.
#[derive(Debug)]
pub struct NetworkMonitor {
    route: Listening,
    /// Kernels before 5.6 have no such family.
    ethtool: Option<(Listening, u16)>,
    nftables: Option<Listening>,
}

/// Something that changed in a network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkChange {
    /// What.
    pub what: What,
    /// The netlink port of whoever asked for it, where the kernel tells.
    pub port: Option<u32>,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A device came, went or was changed.
    Device(u32),
    /// An address of a device.
    Address(u32),
    /// A route of IPv4 or IPv6 came, went or was changed; which one is not kept.
    Route,
    /// A routing policy rule.
    Rule,
    /// Tables, chains or rules of nftables.
    Nftables,
    /// The queueing disciplines of a device.
    Qdisc(u32),
    /// What a driver lets be set: features, rings, channels, coalescing, pause frames.
    Driver(u32),
}

impl NetworkMonitor {
    /// Listens to the network namespace of the calling thread, with queues in the kernel of so many bytes each.
    ///
    /// # Errors
    /// Why not.
    pub fn open(queue_bytes: usize) -> Result<Self, Unavailable> {
        let failed = |error: io::Error| Unavailable::because("changes of the network", &error);
        let route = Listening::open(netlink_sys::protocols::NETLINK_ROUTE, &ROUTE_GROUPS, queue_bytes);
        let ethtool = match multicast_group("ethtool", "monitor") {
            Ok((family, group)) => {
                let socket = Listening::open(netlink_sys::protocols::NETLINK_GENERIC, &[group], queue_bytes);
                Some((socket.map_err(failed)?, family))
            }
            Err(_) => None,
        };
        // Without the right, or without nftables in the kernel, the rest is heard all the same.
        let nftables =
            Listening::open(netlink_sys::protocols::NETLINK_NETFILTER, &[NFNLGRP_NFTABLES], queue_bytes).ok();
        Ok(Self { route: route.map_err(failed)?, ethtool, nftables })
    }

    /// Whether drivers' settings are told of as well.
    #[must_use]
    pub fn hears_drivers(&self) -> bool {
        self.ethtool.is_some()
    }

    /// What to wait for.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.route), self.ethtool.as_ref().map(|(listening, _)| listening), self.nftables.as_ref()]
            .into_iter()
            .flatten()
            .map(|listening| listening.file())
    }

    /// Hands all that has come to `each`, without waiting.
    ///
    /// # Errors
    /// What reading gives; the loss of messages is no error but [`Heard::NotEverything`].
    pub fn read(&self, mut each: impl FnMut(NetworkChange)) -> io::Result<Heard> {
        let route = self.route.drain(|kind, port, payload| {
            if let Some(what) = of_route(kind, payload) {
                each(NetworkChange { what, port });
            }
        })?;
        let mut all = vec![route];
        if let Some((ethtool, family)) = &self.ethtool {
            all.push(ethtool.drain(|kind, _, payload| {
                if kind == *family {
                    each(NetworkChange { what: What::Driver(of_driver(payload).unwrap_or_default()), port: None });
                }
            })?);
        }
        if let Some(nftables) = &self.nftables {
            all.push(nftables.drain(|kind, port, _| {
                if is_of_nftables(kind) {
                    each(NetworkChange { what: What::Nftables, port });
                }
            })?);
        }
        Ok(if all.contains(&Heard::NotEverything) { Heard::NotEverything } else { Heard::Everything })
    }
}

fn of_route(kind: u16, payload: &[u8]) -> Option<What> {
    // The number of the device stands at the same place in `ifinfomsg`, `ifaddrmsg` and `tcmsg`.
    let index = value::word(payload, 4);
    match kind {
        RTM_NEWLINK | RTM_DELLINK => index.map(What::Device),
        RTM_NEWADDR | RTM_DELADDR => index.map(What::Address),
        RTM_NEWQDISC | RTM_DELQDISC | RTM_NEWTCLASS | RTM_DELTCLASS => index.map(What::Qdisc),
        // Routes of the table `local` come and go with addresses; no snapshot holds them.
        RTM_NEWRULE | RTM_DELRULE => Some(What::Rule),
        RTM_NEWROUTE | RTM_DELROUTE => (payload.get(RTM_TABLE) != Some(&RT_TABLE_LOCAL)).then_some(What::Route),
        _ => None,
    }
}

/// The device of a notification of `ethtool`: its first attribute says which.
fn of_driver(payload: &[u8]) -> Option<u32> {
    let header = attributes(payload, GENLMSGHDR_LEN).filter_map(Result::ok).find(|each| each.kind == HEADER)?;
    let index = header.nested().filter_map(Result::ok).find(|each| each.kind == HEADER_DEV_INDEX)?;
    value::u32(&index)
}

// include/uapi/linux/rtnetlink.h of 6.18: `enum rtnetlink_groups` and message types
// LINK, TC, IPV4_IFADDR, IPV4_ROUTE, IPV4_RULE, IPV6_IFADDR, IPV6_ROUTE, IPV6_RULE
const ROUTE_GROUPS: [u32; 8] = [1, 4, 5, 7, 8, 9, 11, 19];
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_NEWRULE: u16 = 32;
const RTM_DELRULE: u16 = 33;
const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_NEWTCLASS: u16 = 40;
const RTM_DELTCLASS: u16 = 41;
/// Offset of `rtm_table` in `struct rtmsg`.
const RTM_TABLE: usize = 4;
const RT_TABLE_LOCAL: u8 = 255;

// include/uapi/linux/netfilter/nfnetlink.h
const NFNLGRP_NFTABLES: u32 = 7;

// include/uapi/linux/ethtool_netlink.h: `ETHTOOL_A_*_HEADER` is 1 in every message
const GENLMSGHDR_LEN: usize = 4;
const HEADER: u16 = 1;
const HEADER_DEV_INDEX: u16 = 1;
