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
use path::Seed;
use units::WallTime;

/// Whom a probe is about, and when and with which random seed it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) target: IpAddr,
    pub(crate) started: WallTime,
    pub(crate) seed: Seed,
}

impl Asked {
    fn subject(&self) -> Subject {
        Subject { target: self.target.to_string(), address: Some(self.target), started: self.started }
    }
}
