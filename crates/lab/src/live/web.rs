//! The HTTP services of a scenario, running.
//!
//! A proxy of a scenario is two layers, as in a cluster that has one replica of each file behind a front end: the front
//! end deals requests out to nodes in turn, and each node fetches from the origin, or passes the request on to the next
//! node where the file is not its own.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use measure::stop::Stop;
use path::Seed;

use super::LiveError;
use crate::network::{Host, Network};
use crate::scenario::{self, Point, Scenario, ServiceKind};
use crate::services::deal::{Reroute, Share};
use crate::services::files::FileServer;
use crate::services::proxy::Proxy;
use crate::services::{Limits, ServiceListener};

/// A service that listens, and does not yet answer.
pub(super) struct Site<'a> {
    host: &'a Host,
    door: ServiceListener,
    what: What,
}

enum What {
    Files(FileServer),
    Proxy(Proxy),
}

impl Site<'_> {
    /// Answers until it is told to stop.
    pub(super) fn serve(&self, stop: &Stop) -> io::Result<()> {
        self.host.run(|| match &self.what {
            What::Files(files) => files.serve(&self.door, stop, &|_| ()),
            What::Proxy(proxy) => proxy.serve(&self.door, stop, &|_| ()),
        })
    }
}

/// Has all HTTP services of a scenario listen.
pub(super) fn open<'a>(scenario: &Scenario, network: &'a Network, seed: Seed) -> Result<Vec<Site<'a>>, LiveError> {
    let mut sites = Vec::new();
    for (service, number) in scenario.services.iter().zip(0..) {
        let host = &network.hosts()[service.host];
        match &service.kind {
            ServiceKind::Serve => {}
            ServiceKind::Files(files) => {
                let files = FileServer { name: host.name().to_owned(), files: files.clone() };
                sites.push(site(host, service.port, What::Files(files))?);
            }
            ServiceKind::Proxy(proxy) => {
                let nodes = Nodes { scenario, proxy };
                let front = Proxy::new(host.name(), nodes.addresses(), None, seed.part(number));
                sites.push(site(host, service.port, What::Proxy(front))?);
                for node in 0..proxy.over.len() {
                    let host = &network.hosts()[proxy.over[node]];
                    let seed = seed.part(number).part(node as u64);
                    sites.push(site(host, NODE_PORT, What::Proxy(nodes.node(host.name(), node, seed)))?);
                }
            }
        }
    }
    Ok(sites)
}

fn site(host: &Host, port: u16, what: What) -> Result<Site<'_>, LiveError> {
    let address = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
    let opened = host.run(|| ServiceListener::open(address, Limits::default()));
    let door = opened.and_then(|door| door.map_err(io::Error::other));
    let door =
        door.map_err(|source| LiveError::Service { service: "an HTTP service", host: host.name().to_owned(), source })?;
    Ok(Site { host, door, what })
}

struct Nodes<'a> {
    scenario: &'a Scenario,
    proxy: &'a scenario::Proxy,
}

impl Nodes<'_> {
    /// The nodes as the front end reaches them.
    fn addresses(&self) -> Vec<SocketAddr> {
        self.proxy.over.iter().filter_map(|host| self.address(*host, None, NODE_PORT)).collect()
    }

    fn node(&self, name: &str, number: usize, seed: Seed) -> Proxy {
        let files = |service: &&scenario::Service| {
            service.host == self.proxy.origin && matches!(service.kind, ServiceKind::Files(_))
        };
        let port = self.scenario.services.iter().find(files).map(|service| service.port);
        let origin = port.and_then(|port| self.address(self.proxy.origin, None, port));
        let next = self.proxy.over[(number + 1) % self.proxy.over.len()];
        let to = self.address(next, self.proxy.overlay, NODE_PORT).into_iter().collect();
        let share = Share::new(self.proxy.rerouted).unwrap_or(Share::NONE);
        Proxy::new(name, origin.into_iter().collect(), Some(Reroute { share, to }), seed)
    }

    fn address(&self, host: usize, overlay: Option<usize>, port: u16) -> Option<SocketAddr> {
        let address = self.scenario.addresses(Point { host, overlay }).into_iter().next()?;
        Some(SocketAddr::new(address, port))
    }
}

/// Where a node answers for its front end. Services of scenarios that name no port have 8080.
const NODE_PORT: u16 = 8_090;
