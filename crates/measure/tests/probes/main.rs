//! Small measurements between hosts of a real network: network namespaces joined by veth, with routers between them.
//!
//! * `network`: the network, and what nftables does and counts in it
//! * `echoes`, `hops`, `path_mtu`, `downloads`: the measurements

mod downloads;
mod echoes;
mod hops;
mod network;
mod path_mtu;
