//! Which device of one host is which of another: by what it is for, since names tell slots and not purposes.

use std::collections::{BTreeMap, BTreeSet};

use units::DataRate;

use crate::settings::{Key, PHYSICAL, Reading, Settings};

/// How devices of several hosts are taken for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// By their names: for one host at several times.
    Name,
    /// By what they are for, and by their names where that is all there is.
    Role,
}

/// What the devices of one host are called in the comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Roles {
    /// By namespace and name.
    labels: BTreeMap<(String, String), String>,
}

impl Roles {
    /// What a device is called; nothing for one that is left out of comparisons.
    pub(super) fn label(&self, namespace: &str, device: &str) -> Option<&str> {
        // The pair is made anew for each look-up, because the map owns its keys.
        self.labels.get(&(namespace.to_owned(), device.to_owned())).map(String::as_str)
    }

    /// Every device: namespace, name, what it is called.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.labels.iter().map(|((namespace, device), label)| (namespace.as_str(), device.as_str(), label.as_str()))
    }
}

/// The roles of the devices of several hosts. A role in which all hosts have a device of one name is called by that name.
pub(super) fn of(hosts: &[&Settings], by: Match) -> Vec<Roles> {
    let mut roles: Vec<Roles> = hosts.iter().map(|host| of_host(host, by)).collect();
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, device, label) in roles.iter().flat_map(Roles::each) {
        names.entry(label.to_owned()).or_default().insert(device.to_owned());
    }
    for label in roles.iter_mut().flat_map(|roles| roles.labels.values_mut()) {
        if let Some(name) = names.get(label).filter(|names| names.len() == 1).and_then(BTreeSet::first) {
            label.clone_from(name);
        }
    }
    roles
}

fn of_host(settings: &Settings, by: Match) -> Roles {
    let host = Host { settings, devices: devices(settings) };
    let main = if by == Match::Role { host.main() } else { None };
    let uplink = if by == Match::Role { host.uplink() } else { None };
    let label = |namespace: &str, device: &str, kind: &str| {
        if by == Match::Role && PASSING.contains(&kind) {
            return None;
        }
        if !namespace.is_empty() || by == Match::Name {
            return Some(device.to_owned());
        }
        if main == Some(device) {
            return Some(MAIN.to_owned());
        }
        if uplink == Some(device) {
            return Some(UPLINK.to_owned());
        }
        if kind.starts_with("vlan ") && main.is_some() && host.text(device, "link.on") == main {
            return Some(format!("{kind} on the {MAIN}"));
        }
        Some(device.to_owned())
    };
    let labels = host
        .devices
        .iter()
        .filter_map(|(place, kind)| Some(((place.0.to_owned(), place.1.to_owned()), label(place.0, place.1, kind)?)));
    Roles { labels: labels.collect() }
}

/// All devices with their kinds, by namespace and name.
fn devices(settings: &Settings) -> BTreeMap<(&str, &str), &str> {
    let devices = settings.known().filter(|(key, _)| key.name == "device");
    devices
        .filter_map(|(key, value)| Some(((key.namespace.as_str(), key.device.as_deref()?), value.text.as_str())))
        .collect()
}

struct Host<'a> {
    settings: &'a Settings,
    devices: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Host<'a> {
    /// The fastest card. Of several that are as fast, or tell no speed, that of the default route; else that under most VLANs.
    fn main(&self) -> Option<&'a str> {
        let speed = |device: &str| self.text(device, "mode.speed").and_then(|text| text.parse::<DataRate>().ok());
        let fastest = self.cards().map(speed).max()?;
        let mut candidates = self.cards().filter(|device| speed(device) == fastest);
        let uplink = self.uplink();
        let carried = |device: &&str| self.carried(device);
        // Of several that carry as many, the first by name.
        let busiest = candidates.clone().rev().max_by_key(carried);
        candidates.find(|device| Some(*device) == uplink).or(busiest)
    }

    /// How many devices stand on a card, as its VLANs do.
    fn carried(&self, card: &str) -> usize {
        let own = self.devices.keys().filter(|(namespace, _)| namespace.is_empty());
        own.filter(|(_, device)| self.text(device, "link.on") == Some(card)).count()
    }

    /// The card that the default route ends at, through bridges, bonds and VLANs.
    fn uplink(&self) -> Option<&'a str> {
        let is_default = |name: &str| name.starts_with("route[default") && name.ends_with("].interface");
        let mut routes = self.settings.known().filter(|(key, _)| key.namespace.is_empty() && is_default(&key.name));
        let mut device = routes.next()?.1.text.as_str();
        for _ in 0..MOST_LEVELS {
            let kind = *self.devices.get(&("", device))?;
            if kind == PHYSICAL {
                return self.cards().find(|card| *card == device);
            }
            device = self.text(device, "link.on").or_else(|| self.port_of(device))?;
        }
        None
    }

    /// The port by which a bridge or bond reaches other hosts.
    fn port_of(&self, controller: &str) -> Option<&'a str> {
        let own = self.devices.iter().filter(|((namespace, _), kind)| namespace.is_empty() && !PASSING.contains(*kind));
        let mut ports = own.map(|((_, device), _)| *device);
        ports.find(|device| self.text(device, "link.port-of") == Some(controller))
    }

    fn cards(&self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + '_ {
        let own = self.devices.iter().filter(|((namespace, _), kind)| namespace.is_empty() && **kind == PHYSICAL);
        own.map(|((_, device), _)| *device)
    }

    fn text(&self, device: &str, name: &str) -> Option<&'a str> {
        let key = Key::device(device, name);
        if let Reading::Known(value) = self.settings.get(&key) { Some(&value.text) } else { None }
    }
}

/// What people call the card that a host has for its bulk traffic.
const MAIN: &str = "fastest NIC";

/// The card of the default route, where that is another.
const UPLINK: &str = "NIC of the default route";

/// Kinds of devices that come and go with guests and containers: hosts of one role need not have the same.
const PASSING: [&str; 6] = ["tun", "veth", "macvtap", "macvlan", "ipvlan", "ipvtap"];

/// A VLAN on a bond under a bridge is three; none has many more.
const MOST_LEVELS: usize = 8;
