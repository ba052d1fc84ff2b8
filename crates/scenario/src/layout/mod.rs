//! A scenario worked out: addresses, routes, devices, and when what changes.
//!
//! | file | what it works out |
//! |---|---|
//! | `addresses` | who has which |
//! | `routing` | the shortest way from each host to each other, and the file's own routes over it |
//! | `plan` | addresses and routes together |
//! | `reach` | whether packets arrive |
//! | `devices` | names and settings of devices and tunnels |
//! | `chains` | elements with what faults do to them |
//! | `alterations` | what faults do to hosts |
//! | `budget` | what it asks of the machine |

pub(super) mod addresses;
mod alterations;
mod budget;
mod chains;
mod devices;
pub(super) mod plan;
pub(super) mod reach;
pub(super) mod routing;

use path::Seed;

use crate::blueprint::{self, Blueprint};
use crate::fault::{Fault, FaultKind};
use crate::host::Host;
use crate::scenario::Scenario;

impl Scenario {
    /// The network worked out, with all chance drawn from `seed`.
    #[must_use]
    pub fn blueprint(&self, seed: Seed) -> Blueprint {
        blueprint(self, seed)
    }
}

/// The network of a scenario that has been checked.
fn blueprint(scenario: &Scenario, seed: Seed) -> Blueprint {
    let names = devices::names(&scenario.hosts, &scenario.links);
    let hosts = (0..scenario.hosts.len()).map(|host| blueprint_host(scenario, host, &names)).collect();
    let mut switches: Vec<_> = scenario.faults.iter().map(|fault| switch(fault, &names)).collect();
    let cables = scenario.links.iter().enumerate().map(|(number, link)| blueprint::Cable {
        name: link.name.clone(),
        hosts: link.ends,
        chains: [0, 1].map(|direction| {
            let made = chains::direction(scenario, number, direction);
            for (fault, part) in made.parts {
                switches[fault].parts.push(part);
            }
            made.stages
        }),
        reporters: [0, 1].map(|direction| scenario.plan.addresses.hosts[link.ends[1 - direction]].clone()),
    });
    let cables = cables.collect();
    // What a fault does to a host is an alteration.
    switches.retain(|switch| !switch.parts.is_empty());
    Blueprint { hosts, cables, alterations: alterations::all(scenario, &names), switches, seed }
}

fn switch(fault: &Fault, names: &devices::Names) -> blueprint::Switch {
    let condition = fault.condition.as_ref().map(|condition| blueprint::Condition {
        host: condition.host,
        device: names[condition.host][&condition.link].clone(),
        holds: condition.holds.clone(),
    });
    blueprint::Switch { fault: fault.id.clone(), parts: Vec::new(), condition }
}

fn blueprint_host(scenario: &Scenario, number: usize, names: &devices::Names) -> blueprint::Host {
    let host = &scenario.hosts[number];
    // What faults of the whole run do is how the host is set.
    let planted = scenario.faults.iter().filter(|fault| fault.from.is_zero() && fault.until.is_none());
    let mut settings = host.settings.clone();
    for fault in planted {
        if let FaultKind::Host { host, settings: other, .. } = &fault.what
            && *host == number
        {
            settings = (**other).clone().over(&settings);
        }
    }
    blueprint::Host {
        name: host.name.clone(),
        addresses: scenario.plan.addresses.hosts[number].clone(),
        devices: devices::of(scenario, number, names),
        tunnels: devices::tunnels(scenario, number),
        routes: alterations::routes_at_start(scenario, number, names),
        sysctls: role_sysctls(host).chain(settings.all_sysctls()).collect(),
        cpu_share: settings.cpu_share,
        recorded_facts: host.facts.clone().map(|facts| devices::named(facts, scenario, &names[number])),
    }
}

/// What makes a host a router, before what the scenario sets. A router of the lab tells every sender whose packets it
/// drops, as often as it is asked: whoever measures looks at it many times a second.
fn role_sysctls(host: &Host) -> impl Iterator<Item = (String, String)> {
    const ROUTER: [(&str, &str); 4] = [
        ("net.ipv4.ip_forward", "1"),
        ("net.ipv6.conf.all.forwarding", "1"),
        ("net.ipv4.icmp_ratelimit", "0"),
        ("net.ipv6.icmp.ratelimit", "0"),
    ];
    ROUTER.iter().filter(|_| host.forwards).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}
