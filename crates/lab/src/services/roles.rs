//! The processes by which the services of a scenario come to be.

use std::net::SocketAddr;

use path::Seed;

use crate::scenario::{Point, Proxy, Scenario, Service, ServiceKind};

/// A process of this program in a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Which host.
    pub host: usize,
    /// The arguments of `linerate`. The process says `listening on` on standard error when it does, and ends when it is
    /// told to.
    pub arguments: Vec<String>,
}

/// The processes that a scenario's file servers and proxies need, servers before those that ask them. Test partners are
/// not among them.
///
/// A proxy is a front end on its own host, and on each host it deals to one more proxy, which fetches from the origin or
/// passes the request on to the next of them. These listen at the port after that of the front end.
#[must_use]
pub fn roles(scenario: &Scenario, seed: Seed) -> Vec<Role> {
    let mut roles: Vec<Role> = scenario.services.iter().filter_map(|service| files(scenario, service)).collect();
    for (service, number) in scenario.services.iter().zip(0..) {
        if let ServiceKind::Proxy(proxy) = &service.kind {
            roles.extend(proxies(scenario, service, proxy, seed.part(number)));
        }
    }
    roles
}

fn files(scenario: &Scenario, service: &Service) -> Option<Role> {
    let ServiceKind::Files(files) = &service.kind else { return None };
    let mut arguments = arguments("serve-files", scenario, service.host, service.port);
    for (name, size) in files {
        arguments.extend(["--file".to_owned(), format!("{name}={}B", size.get())]);
    }
    Some(Role { host: service.host, arguments })
}

fn proxies(scenario: &Scenario, service: &Service, proxy: &Proxy, seed: Seed) -> Vec<Role> {
    let port = service.port.saturating_add(1);
    let mut nodes = proxy.over.clone();
    nodes.sort_unstable();
    nodes.dedup();
    let mut roles = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let mut arguments = arguments("serve-proxy", scenario, *node, port);
        arguments.extend(over(origin(scenario, proxy.origin)));
        let next = nodes[(position + 1) % nodes.len()];
        if proxy.rerouted > 0.0 && next != *node {
            let to = address(scenario, Point { host: next, overlay: proxy.overlay }, port);
            arguments.extend(["--rerouted".to_owned(), proxy.rerouted.to_string()]);
            arguments.extend(to.map(|to| format!("--to={to}")));
        }
        arguments.extend(["--seed".to_owned(), seed.part(position as u64 + 1).0.to_string()]);
        roles.push(Role { host: *node, arguments });
    }
    let mut front = arguments("serve-proxy", scenario, service.host, service.port);
    for node in &proxy.over {
        front.extend(over(address(scenario, Point { host: *node, overlay: None }, port)));
    }
    front.extend(["--seed".to_owned(), seed.part(0).0.to_string()]);
    roles.push(Role { host: service.host, arguments: front });
    roles
}

fn arguments(command: &str, scenario: &Scenario, host: usize, port: u16) -> Vec<String> {
    let name = scenario.hosts[host].name.clone();
    // Of all addresses of either family.
    ["lab", command, "--json", "--name", &name, "--listen", &format!("[::]:{port}")].map(str::to_owned).to_vec()
}

fn over(address: Option<SocketAddr>) -> Option<String> {
    address.map(|address| format!("--over={address}"))
}

fn origin(scenario: &Scenario, host: usize) -> Option<SocketAddr> {
    let is_files = |service: &&Service| service.host == host && matches!(service.kind, ServiceKind::Files(_));
    let service = scenario.services.iter().find(is_files)?;
    address(scenario, Point { host, overlay: None }, service.port)
}

fn address(scenario: &Scenario, point: Point, port: u16) -> Option<SocketAddr> {
    scenario.addresses(point).first().map(|address| SocketAddr::new(*address, port))
}
