//! Echoes, path MTU, hops and downloads.
//!
//! * `packets`: single packets over a path
//! * `round_trip`: packets and their answers
//! * `echo`, `path_mtu`, `hops`, `download`: what a test of each kind finds

pub(crate) mod download;
pub(crate) mod echo;
pub(crate) mod hops;
pub(crate) mod packets;
pub(crate) mod path_mtu;
pub(crate) mod rtt;

use std::net::IpAddr;

use model::probe::Subject;
use units::WallTime;

/// Whom a probe is about.
fn subject(target: IpAddr, started: WallTime) -> Subject {
    Subject { target: target.to_string(), address: Some(target), started }
}
