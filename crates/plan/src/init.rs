//! A first plan, from what hosts know of themselves: their address and rate towards the world, their group, the router behind
//! which they stand.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use model::host::interface::Interface;
use model::host::namespace::Namespace;
use model::host::snapshot::Snapshot;
use model::spec::{Limit, TestSpec};

use crate::PlanError;
use crate::operation::Trigger;
use crate::plan::{Expectation, Group, Host, Plan, Reach, Shape, Test, Times};
use crate::task::{Flow, Ping, Task};
use crate::written;

/// A plan to begin with, and what a person has to fill in.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstPlan {
    /// Light tests every five minutes, TCP every six hours.
    pub plan: Plan,
    /// What no host knows.
    pub remarks: Vec<String>,
}

impl FirstPlan {
    /// Of hosts' snapshots. Hosts without an address towards the world are named in the remarks, and left out.
    #[must_use]
    pub fn of(snapshots: &[Snapshot]) -> Self {
        let mut remarks = Vec::new();
        let mut hosts: Vec<Host> = Vec::new();
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for snapshot in snapshots {
            let name = snapshot.machine.name.value().cloned().unwrap_or_else(|| format!("host-{}", hosts.len() + 1));
            match host(&name, snapshot) {
                Some(_) if hosts.iter().any(|known| known.name == name) => {
                    remarks.push(format!("{name} is in two snapshots: the second is left out"));
                }
                Some(host) => {
                    if host.rate.is_none() {
                        remarks.push(format!("{name} reports no link speed: give it a `rate`"));
                    }
                    let group = snapshot.machine.role_group.clone().unwrap_or_else(|| "all".to_owned());
                    groups.entry(group).or_default().push(hosts.len());
                    hosts.push(host);
                }
                None => remarks.push(format!("{name} has no address towards the world: it is left out")),
            }
        }
        // A group of one tests nobody: then all test each other.
        if groups.len() > 1 && groups.values().any(|members| members.len() < 2) {
            remarks.push("a group with one host tests nobody: all hosts are one group".to_owned());
            groups = BTreeMap::from([("all".to_owned(), (0..hosts.len()).collect())]);
        }
        remarks.push("no host knows which links others share: declare `[[segments]]` with `shared = true`".to_owned());
        let groups: Vec<Group> = groups
            .into_iter()
            .map(|(name, members)| {
                let without = std::collections::BTreeSet::new();
                Group { name, shape: Shape::Mesh(members), network: None, without }
            })
            .collect();
        let tests = (0..groups.len()).flat_map(tests).collect();
        let plan = Plan {
            title: format!("mesh of {} hosts", hosts.len()),
            about: None,
            times: Times { every: Some(HEAVY_EVERY), light_every: Some(LIGHT_EVERY), ..Times::default() },
            hosts,
            networks: Vec::new(),
            segments: Vec::new(),
            ways: Vec::new(),
            groups,
            tests,
            expectations: Vec::new(),
            maintenance: Vec::new(),
            budgets: Vec::new(),
        };
        Self { plan, remarks }
    }
}

/// A host of which only its name is known, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAccess {
    /// What the plan calls it.
    pub name: String,
    /// By what others reach it, where the lab does not know.
    pub address: Option<String>,
    /// How a program is started on it.
    pub reach: Reach,
}

/// A plan in which each of these hosts tests each other, with the usual tests, each written out for who changes them.
///
/// # Errors
/// [`PlanError::Refused`] where a name cannot be one, or stands there twice.
pub fn mesh_of(hosts: &[HostAccess]) -> Result<Plan, PlanError> {
    let mut text = String::from("title = \"mesh of ");
    text.push_str(&format!("{} hosts\"\n", hosts.len()));
    text.push_str(&reached(hosts));
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    text.push_str(&format!("\n[groups.all]\nmesh = {}\n", written::texts(&names)));
    // The reader knows the usual tests.
    Plan::parse("plan", &text)
}

/// A plan in which each of these hosts asks each partner for what every host answers: echoes, path MTU, hops. Nothing is started at a
/// partner, and no load is sent to it.
///
/// # Errors
/// [`PlanError::Refused`] where a name cannot be one, or stands there twice.
pub fn partners_of(hosts: &[HostAccess], partners: &[String]) -> Result<Plan, PlanError> {
    let mut text = format!("title = \"{} partners\"\n{}", partners.len(), reached(hosts));
    for partner in partners {
        text.push_str(&format!("\n[hosts.{}]\naddress = {}\n", written::key(partner), written::text(partner)));
    }
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let sides = format!("[{}, {}]", written::texts(&names), written::texts(partners));
    text.push_str(&format!("\n[groups.partners]\ndisjoint = {sides}\none-way = true\n"));
    for kind in ["ping", "mtu", "hops"] {
        text.push_str(&format!("\n[[tests]]\nkind = \"{kind}\"\n"));
    }
    Plan::parse("plan", &text)
}

/// The part of a plan that says how programs are started on hosts.
fn reached(hosts: &[HostAccess]) -> String {
    let mut text = String::new();
    for HostAccess { name, address, reach } in hosts {
        text.push_str(&format!("\n[hosts.{}]\n", written::key(name)));
        if let Some(address) = address {
            text.push_str(&format!("address = {}\n", written::text(address)));
        }
        text.push_str(&match reach {
            Reach::Ssh(target) => format!("ssh = {}\n", written::text(target)),
            Reach::Lab(host) => format!("lab = {}\n", written::text(host)),
            Reach::Netns(netns) => format!("netns = {}\n", written::text(netns)),
            Reach::Here => "here = true\n".to_owned(),
        });
    }
    text
}

fn host(name: &str, snapshot: &Snapshot) -> Option<Host> {
    let namespace = snapshot.namespaces.first()?;
    let uplink = Uplink::of(namespace)?;
    let mut attributes = BTreeMap::new();
    if let Some(router) = uplink.router {
        attributes.insert("router".to_owned(), router.to_string());
    }
    if let Some(driver) = uplink.interface.and_then(|interface| interface.driver.value()) {
        attributes.insert("nic-driver".to_owned(), driver.name.clone());
    }
    let rate = uplink.interface.and_then(Interface::reported_speed);
    Some(Host {
        name: name.to_owned(),
        address: Some(uplink.address.to_string()),
        roles: snapshot.machine.role_group.iter().cloned().collect(),
        attributes,
        rate,
        ..Host::default()
    })
}

/// The interface of the default route, and the address that others see.
struct Uplink<'a> {
    address: IpAddr,
    router: Option<IpAddr>,
    interface: Option<&'a Interface>,
}

impl<'a> Uplink<'a> {
    fn of(namespace: &'a Namespace) -> Option<Self> {
        let routes = namespace.routes.value().map(Vec::as_slice).unwrap_or_default();
        let defaults =
            routes.iter().filter(|route| matches!(route.destination.as_str(), "default" | "0.0.0.0/0" | "::/0"));
        let default = defaults.min_by_key(|route| route.priority.unwrap_or(0));
        let name = default.and_then(|route| route.interface.as_ref());
        let all = namespace.addresses.value().map(Vec::as_slice).unwrap_or_default();
        let global = all.iter().filter(|address| address.scope == "global" && !address.address.is_loopback());
        let on_uplink = |address: &&model::host::route::Address| name.is_none_or(|name| address.interface == *name);
        let preferred = default.and_then(|route| route.preferred_source);
        // IPv4 first: what a host has of IPv6 may be a privacy address.
        let found = global.filter(on_uplink).min_by_key(|address| address.address.is_ipv6())?;
        let interface = namespace.interfaces.iter().find(|interface| interface.name == found.interface);
        let router = default.and_then(|route| route.via);
        Some(Self { address: preferred.unwrap_or(found.address), router, interface })
    }
}

fn tests(group: usize) -> Vec<Test> {
    let flow =
        TestSpec { limit: Limit::Time(Duration::from_secs(10)), omit: Duration::from_secs(5), ..TestSpec::default() };
    let tasks = [Task::Ping(Ping::default()), Task::Mtu, Task::Hops, Task::Tcp(Flow { spec: flow, expect: None })];
    let test = |task: Task| {
        let expect = matches!(task, Task::Tcp(_)).then_some(Expectation::Percent(EXPECTED_PERCENT));
        let label = crate::read::test::usual_label(&task);
        Test { label, group, task, family: None, expect, every: None, trigger: Trigger::default() }
    };
    tasks.map(test).into_iter().collect()
}

const HEAVY_EVERY: Duration = Duration::from_secs(6 * 3_600);
const LIGHT_EVERY: Duration = Duration::from_secs(300);
/// What TCP reaches of a line that nothing else limits: headers and start take the rest.
const EXPECTED_PERCENT: f64 = 90.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_plan_of_nobody_says_what_is_missing() {
        let first = FirstPlan::of(&[]);
        assert_eq!((first.plan.hosts.len(), first.remarks.len()), (0, 1));
    }
}
