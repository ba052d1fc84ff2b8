//! What a host was given.

use std::net::IpAddr;

use crate::blueprint::Route;

/// What a host was given so far, so that a congestion control can be pinned on all of it later.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) routes: Vec<Route>,
    /// Its networks: device, own address, length of the prefix.
    pub(super) networks: Vec<(String, IpAddr, u8)>,
    /// What is pinned.
    pub(super) pinned: Option<String>,
}

impl Given {
    /// Keeps a route in the place of that to the same destination.
    pub(super) fn keep(&mut self, route: &Route) {
        self.routes.retain(|known| known.to != route.to);
        self.routes.push(route.clone());
    }
}

/// Sysctl of the default congestion control.
pub(super) const CONTROL: &str = "net.ipv4.tcp_congestion_control";
