//! Names and settings of devices.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::addresses::speaks;
use crate::blueprint::{Device, Tunnel};
use crate::fault::FaultKind;
use crate::host::Host;
use crate::link::Link;
use crate::overlay::OverlayKind;
use crate::{Scenario, Settings};

/// The names of the devices of all hosts.
pub(super) type Names = Vec<NamesOfHost>;

/// The names of devices of a host, by number of their link.
pub(super) type NamesOfHost = BTreeMap<usize, String>;

/// Names that say where a device leads: `to-NEIGHBOUR`, cut to what Linux allows, and with a number where that is not
/// enough to tell two apart.
pub(super) fn names(hosts: &[Host], links: &[Link]) -> Names {
    let mut names: Names = vec![NamesOfHost::new(); hosts.len()];
    for (number, link) in links.iter().enumerate() {
        for end in [0, 1] {
            let devices = &mut names[link.ends[end]];
            let neighbour = &hosts[link.ends[1 - end]].name;
            let name = (1..).map(|attempt| device_name(neighbour, attempt));
            let free = name.into_iter().find(|name| !devices.values().any(|taken| taken == name));
            devices.insert(number, free.unwrap_or_default());
        }
    }
    names
}

fn device_name(neighbour: &str, attempt: usize) -> String {
    let end = if attempt == 1 { String::new() } else { format!(".{attempt}") };
    let room = LONGEST - PREFIX.len() - end.len();
    let cut: String = neighbour.chars().take(room).collect();
    format!("{PREFIX}{cut}{end}")
}

const PREFIX: &str = "to-";
/// `IFNAMSIZ` is 16 with the zero at the end (include/uapi/linux/if.h).
const LONGEST: usize = 15;

/// The devices of a host, as they are at the start.
pub(super) fn of(scenario: &Scenario, host: usize, names: &Names) -> Vec<Device> {
    names[host]
        .iter()
        .map(|(&link, name)| {
            let cable = &scenario.links[link];
            let end = usize::from(cable.ends[0] != host);
            let addresses = scenario.plan.addresses.links[link][end].clone();
            let usual = usual(scenario, host, link);
            let speed = scenario.hosts[host].devices.get(&link).and_then(|device| device.speed).or(cable.speed);
            let settings = planted(scenario, host, link).over(&usual);
            Device {
                name: name.clone(),
                cable: link,
                end,
                addresses,
                mtu: settings.mtu.unwrap_or(cable.mtu),
                speed,
                features: settings.offloads,
                qdisc: settings.qdisc,
            }
        })
        .collect()
}

/// How a device is set without any fault: by itself, by its host, by its link. Of the settings only those of devices.
pub(super) fn usual(scenario: &Scenario, host: usize, link: usize) -> Settings {
    let own = scenario.hosts[host].devices.get(&link).cloned().unwrap_or_default();
    let own = Settings { mtu: own.mtu, offloads: own.offloads, qdisc: own.qdisc, ..Settings::default() };
    let all = own.over(&scenario.hosts[host].settings);
    Settings { mtu: all.mtu.or(Some(scenario.links[link].mtu)), ..all }
}

/// What faults that are there all the time do to a device.
fn planted(scenario: &Scenario, number: usize, device: usize) -> Settings {
    let mut settings = Settings::default();
    for fault in scenario.faults.iter().filter(|fault| fault.from.is_zero() && fault.until.is_none()) {
        if let FaultKind::Host { host, link, settings: other, .. } = &fault.what
            && *host == number
            && link.is_none_or(|link| link == device)
        {
            settings = (**other).clone().over(&settings);
        }
    }
    settings
}

/// The ends of VXLAN overlays at a host. VLANs have none: the check for what the machine lacks refuses them.
pub(super) fn tunnels(scenario: &Scenario, host: usize) -> Vec<Tunnel> {
    let outer = |host: usize| scenario.plan.addresses.hosts[host].first().copied();
    let mine = scenario.overlays.iter().filter(|overlay| overlay.hosts.contains(&host));
    mine.filter(|overlay| overlay.kind == OverlayKind::Vxlan)
        .filter_map(|overlay| {
            let others = overlay.hosts.iter().filter(|other| **other != host);
            let addresses = overlay.addresses(host).into_iter();
            Some(Tunnel {
                name: overlay.name.clone(),
                vni: overlay.id,
                port: overlay.port,
                local: outer(host)?,
                remotes: others.filter_map(|other| outer(*other)).collect::<Vec<IpAddr>>(),
                addresses: addresses.filter(|(address, _)| speaks(&scenario.families, *address)).collect(),
                mtu: overlay.mtu,
            })
        })
        .collect()
}

/// Recorded facts with interfaces under their names, where the file has the names of links.
pub(super) fn named(mut facts: toml::Table, scenario: &Scenario, names: &NamesOfHost) -> toml::Table {
    if let Some(toml::Value::Table(interfaces)) = facts.get_mut("interfaces") {
        let by_link = std::mem::take(interfaces);
        for (link, facts) in by_link {
            let number = scenario.links.iter().position(|other| other.name == link);
            let name = number.and_then(|number| names.get(&number)).cloned();
            interfaces.insert(name.unwrap_or(link), facts);
        }
    }
    facts
}
