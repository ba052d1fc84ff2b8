//! Facts of a host as the kernel gives them over netlink, in the shape of `model::host`. None takes privilege.
//!
//! Everything is of the network namespace in which the calling thread is.
//!
//! * [`link`]: devices with their kinds and counters
//! * [`address`], [`route`], [`tcp_metrics`]: addresses, routes with metrics, what TCP remembers
//! * [`rule`], [`nftables`]: routing policy rules, tables of the packet filter
//! * [`qdisc`]: queueing disciplines with their options
//! * [`ethtool`]: what drivers let be set

pub mod address;
pub mod ethtool;
pub mod link;
mod link_kind;
pub mod nftables;
pub mod qdisc;
mod qdisc_options;
pub mod route;
pub mod rule;
pub mod tcp_metrics;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::Unavailable;
use crate::netlink::Netlink;

/// Names of devices by their number.
pub type Names = BTreeMap<u32, String>;

fn route_socket(what: &str) -> Result<Netlink, Unavailable> {
    Netlink::open(netlink_sys::protocols::NETLINK_ROUTE).map_err(|error| error.unavailable(what))
}
