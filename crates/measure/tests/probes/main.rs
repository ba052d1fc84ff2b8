//! Small measurements between hosts of a real network: network namespaces joined by veth, with routers between them.
//!
//! * `network`: the network, and what nftables does and counts in it
//! * `echoes`, `hops`, `path_mtu`, `downloads`: the measurements
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod downloads;
mod echoes;
mod hops;
mod network;
mod path_mtu;
