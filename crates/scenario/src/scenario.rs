//! A network with its faults and tests, and the ways of packets in it.

use std::collections::BTreeSet;
use std::time::Duration;

use document::Source;
use model::spec::Family;

use crate::fault::{Fault, FaultKind};
use crate::host::Host;
use crate::layout::addresses::speaks;
use crate::layout::plan::Plan;
use crate::layout::routing::far_end;
use crate::link::Link;
use crate::overlay::Overlay;
use crate::route::Route;
use crate::service::Service;
use crate::test::{Point, Test};
use crate::truth::{Truth, Where};

/// A network, its faults, its tests and the truth. Hosts, links and overlays are named by their numbers in the lists.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name: that of its file without the ending.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// The story, as one paragraph.
    pub about: String,
    /// What stands for what.
    pub emulates: Option<String>,
    /// By how much the real network is scaled down, and why.
    pub scale: Option<String>,
    /// The versions of IP that all hosts have.
    pub families: BTreeSet<Family>,
    /// Hosts and routers.
    pub hosts: Vec<Host>,
    /// Links between them.
    pub links: Vec<Link>,
    /// Routes that differ from the shortest.
    pub routes: Vec<Route>,
    /// Networks over the network.
    pub overlays: Vec<Overlay>,
    /// What runs on hosts.
    pub services: Vec<Service>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// What is measured, in this order.
    pub tests: Vec<Test>,
    /// What a diagnosis should find.
    pub truth: Truth,
    pub(crate) plan: Plan,
    pub(crate) source: Source,
}

impl Scenario {
    /// The name of a host or link, and of the host towards which its direction goes.
    #[must_use]
    pub fn named(&self, place: &Where) -> (String, Option<String>) {
        match place {
            Where::Host(host) => (self.hosts[*host].name.clone(), None),
            Where::Link { link, direction } => {
                let link = &self.links[*link];
                let towards = direction.map(|direction| self.hosts[link.ends[1 - direction]].name.clone());
                (link.name.clone(), towards)
            }
        }
    }

    /// The addresses of a host, of each of the scenario's families; inside an overlay, if the point is there.
    #[must_use]
    pub fn addresses(&self, point: Point) -> Vec<std::net::IpAddr> {
        match point.overlay {
            None => self.plan.addresses.hosts[point.host].clone(),
            Some(overlay) => {
                let ends = self.overlays[overlay].addresses(point.host).into_iter();
                ends.map(|(address, _)| address).filter(|address| speaks(&self.families, *address)).collect()
            }
        }
    }

    /// The hosts that packets pass from one host to another, both included.
    #[must_use]
    pub fn route(&self, from: usize, to: usize) -> Vec<usize> {
        self.plan.routing.walk(&self.links, from, to).unwrap_or_default()
    }

    /// The links that packets pass from one host to another at a time, each with the host at its far end. Nothing where they
    /// do not arrive.
    #[must_use]
    pub fn way(&self, from: usize, to: usize, at: Duration) -> Vec<(usize, usize)> {
        let mut passed: Vec<(usize, usize)> = Vec::new();
        let mut host = from;
        while host != to {
            let Some(link) = self.link_towards(host, to, at) else { return Vec::new() };
            host = far_end(&self.links[link], host);
            passed.push((link, host));
            if passed.len() > self.hosts.len() {
                return Vec::new();
            }
        }
        passed
    }

    /// The link by which a host sends at a time: that of a fault that sets another route, or else the planned one.
    fn link_towards(&self, host: usize, to: usize, at: Duration) -> Option<usize> {
        let in_force =
            self.faults.iter().filter(|fault| fault.from <= at && fault.until.is_none_or(|until| at < until));
        let mut routes = in_force.filter_map(|fault| match &fault.what {
            FaultKind::Host { route: Some(route), .. } => Some(route),
            _ => None,
        });
        let other = routes.find(|route| route.host == host && route.to.contains(&to)).and_then(|route| route.link);
        other.or_else(|| self.plan.routing.link(host, to))
    }
}
