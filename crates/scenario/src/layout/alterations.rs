//! What faults do to hosts, and their routes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::devices::{self, Names};
use crate::blueprint::{Alteration, Route, What};
use crate::fault::{Fault, FaultKind};
use crate::{Route as RouteOfFile, Scenario, Settings};

/// All changes in hosts, in order of time. Faults that are there all the time are none.
pub(super) fn all(scenario: &Scenario, names: &Names) -> Vec<Alteration> {
    let mut all = Vec::new();
    for fault in scenario.faults.iter().filter(|fault| !fault.is_planted()) {
        let FaultKind::Host { host, link, settings, route } = &fault.what else { continue };
        let asked = Asked { scenario, names, host: *host, link: *link, settings };
        let mut push = |at: Duration, what: Vec<What>| {
            all.extend(what.into_iter().map(|what| Alteration { at, host: *host, what }));
        };
        let routes = |fault: FaultState| {
            let list = route.iter().flat_map(|route| routes_of(scenario, names, *host, route, fault));
            list.map(What::Route).collect::<Vec<_>>()
        };
        push(fault.from, asked.changed());
        push(fault.from, routes(FaultState::There));
        if let Some(until) = fault.until {
            push(until, asked.restored());
            push(until, routes(FaultState::Gone));
        }
    }
    all.sort_by_key(|alteration| alteration.at);
    all
}

/// The routes of a host at the start: the shortest, with the file's own and with those of faults that are there all the
/// time.
pub(super) fn routes_at_start(scenario: &Scenario, host: usize, names: &Names) -> Vec<Route> {
    let mut routes: Vec<Route> = (0..scenario.hosts.len()).flat_map(|to| usual(scenario, names, host, to)).collect();
    for fault in scenario.faults.iter().filter(|fault| fault.is_planted()) {
        let FaultKind::Host { host: of, route: Some(route), .. } = &fault.what else { continue };
        if *of == host {
            for other in routes_of(scenario, names, host, route, FaultState::There) {
                routes.retain(|route| route.to != other.to);
                routes.push(other);
            }
        }
    }
    routes
}

impl Fault {
    /// Whether it is there all the time.
    fn is_planted(&self) -> bool {
        self.from.is_zero() && self.until.is_none()
    }
}

/// What a fault asks of a host.
struct Asked<'a> {
    scenario: &'a Scenario,
    names: &'a Names,
    host: usize,
    link: Option<usize>,
    settings: &'a Settings,
}

impl Asked<'_> {
    fn changed(&self) -> Vec<What> {
        let sysctls = self.settings.all_sysctls().into_iter().map(|(name, value)| What::Sysctl(name, value));
        let mut what: Vec<What> = sysctls.collect();
        what.extend(self.settings.cpu_share.map(|share| What::CpuShare(Some(share))));
        for (_, device) in self.devices() {
            what.extend(self.settings.offloads.iter().map(|(feature, on)| What::Feature {
                device: device.clone(),
                feature: feature.clone(),
                on: *on,
            }));
            what.extend(self.settings.mtu.map(|mtu| What::Mtu { device: device.clone(), mtu }));
            let qdisc = self.settings.qdisc.clone();
            what.extend(qdisc.map(|qdisc| What::Qdisc { device: device.clone(), qdisc: Some(qdisc) }));
        }
        what
    }

    /// The same settings as they usually are.
    fn restored(&self) -> Vec<What> {
        let usual = &self.scenario.hosts[self.host].settings;
        let known: BTreeMap<String, String> = usual.all_sysctls().into_iter().collect();
        let changed = self.settings.all_sysctls().into_iter();
        let mut what: Vec<What> =
            changed.filter_map(|(name, _)| Some(What::Sysctl(name.clone(), known.get(&name)?.clone()))).collect();
        what.extend(self.settings.cpu_share.map(|_| What::CpuShare(usual.cpu_share)));
        for (link, device) in self.devices() {
            let usual = devices::usual(self.scenario, self.host, link);
            for feature in self.settings.offloads.keys() {
                let on = usual.offloads.get(feature).copied();
                what.extend(on.map(|on| What::Feature { device: device.clone(), feature: feature.clone(), on }));
            }
            if self.settings.mtu.is_some() {
                what.extend(usual.mtu.map(|mtu| What::Mtu { device: device.clone(), mtu }));
            }
            if self.settings.qdisc.is_some() {
                what.push(What::Qdisc { device: device.clone(), qdisc: usual.qdisc });
            }
        }
        what
    }

    /// The devices that are meant: number of the link, name.
    fn devices(&self) -> impl Iterator<Item = (usize, &String)> {
        let all = self.names[self.host].iter().map(|(link, name)| (*link, name));
        all.filter(|(link, _)| self.link.is_none_or(|only| only == *link))
    }
}

/// Whether the fault that sets a route is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultState {
    There,
    Gone,
}

/// The routes of a host that one of a file stands for, or as they are without it.
fn routes_of(scenario: &Scenario, names: &Names, host: usize, route: &RouteOfFile, fault: FaultState) -> Vec<Route> {
    let others = route.to.iter().filter(|to| **to != host);
    let one = |to: &usize| {
        let mut routes = usual(scenario, names, host, *to);
        if fault == FaultState::There {
            if let Some(link) = route.link {
                routes = routes_by(scenario, names, [host, *to], link);
            }
            routes.iter_mut().for_each(|made| made.metrics.extend(route.metrics.clone()));
        }
        routes
    };
    others.flat_map(one).collect()
}

/// The routes to a host without any fault: one for each family.
fn usual(scenario: &Scenario, names: &Names, host: usize, to: usize) -> Vec<Route> {
    let Some(link) = scenario.plan.routing.link(host, to) else { return Vec::new() };
    routes_by(scenario, names, [host, to], link)
}

fn routes_by(scenario: &Scenario, names: &Names, [host, to]: [usize; 2], link: usize) -> Vec<Route> {
    let addresses = &scenario.plan.addresses;
    let far = 1 - usize::from(scenario.links[link].ends[0] != host);
    let own = scenario.routes.iter().filter(|route| route.host == host && route.to.contains(&to));
    let metrics: BTreeMap<String, String> = own.flat_map(|route| route.metrics.clone()).collect();
    let Some(device) = names[host].get(&link) else { return Vec::new() };
    let routes = addresses.hosts[to].iter().map(|address| Route {
        to: (*address, if address.is_ipv4() { 32 } else { 128 }),
        via: addresses.end_like(link, far, *address),
        device: device.clone(),
        source: addresses.hosts[host].iter().find(|own| own.is_ipv4() == address.is_ipv4()).copied(),
        metrics: metrics.clone(),
    });
    routes.collect()
}
