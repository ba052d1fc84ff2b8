//! What each host has, setting by setting, over all settings that any of them has.

use std::collections::{BTreeMap, BTreeSet};

use super::roles::{self, Match, Roles};
use crate::settings::{Key, Reading, Settings, Value};

/// What one host has of one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    /// This.
    Value(&'a Value),
    /// No such thing, though the device or the namespace is there.
    Nothing,
    /// It is not known.
    Unknown,
    /// The device or the namespace that would have it is not there.
    NoPlace,
}

impl<'a> Cell<'a> {
    /// The text of the value, empty where there is no such thing; nothing where that is not known.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Value(value) => Some(&value.text),
            Self::Nothing => Some(""),
            Self::Unknown | Self::NoPlace => None,
        }
    }
}

/// Settings of several hosts side by side. The device of a key is what it is called in the comparison.
pub(crate) struct Aligned<'a> {
    roles: Vec<Roles>,
    rows: BTreeMap<Key, Vec<Cell<'a>>>,
}

impl<'a> Aligned<'a> {
    /// Puts hosts side by side.
    pub(crate) fn of(hosts: &[&'a Settings], by: Match) -> Self {
        let roles = roles::of(hosts, by);
        let mut rows: BTreeMap<Key, Vec<Cell<'a>>> = BTreeMap::new();
        for (index, (host, roles)) in hosts.iter().zip(&roles).enumerate() {
            for (key, value) in host.known().filter(|(key, _)| by == Match::Name || is_compared(key)) {
                if let Some(key) = aligned(key, roles) {
                    let row = rows.entry(key).or_insert_with(|| vec![Cell::NoPlace; hosts.len()]);
                    row[index] = Cell::Value(value);
                }
            }
        }
        let places: Vec<Places<'_>> = hosts.iter().zip(&roles).map(|(host, roles)| Places::of(host, roles)).collect();
        for (key, row) in &mut rows {
            for (cell, places) in row.iter_mut().zip(&places) {
                if *cell == Cell::NoPlace {
                    *cell = places.without_value(key);
                }
            }
        }
        Self { roles, rows }
    }

    /// Each setting with what each host has.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Key, &[Cell<'a>])> {
        self.rows.iter().map(|(key, row)| (key, row.as_slice()))
    }

    /// What the devices of one host are called.
    pub(super) fn roles(&self, host: usize) -> &Roles {
        &self.roles[host]
    }

    /// The name that the device of a key has on one host.
    pub(super) fn device_of(&self, key: &Key, host: usize) -> Option<&str> {
        let label = key.device.as_deref()?;
        self.roles[host]
            .each()
            .find(|(namespace, _, of)| *namespace == key.namespace && *of == label)
            .map(|found| found.1)
    }
}

fn aligned(key: &Key, roles: &Roles) -> Option<Key> {
    let Some(device) = &key.device else { return Some(key.clone()) };
    // What files say of a device that is not there is told by its name.
    let label = roles.label(&key.namespace, device);
    match label {
        None if key.group() != "boot" => None,
        label => Some(Key::of(&key.namespace, Some(label.unwrap_or(device)), key.name.as_str())),
    }
}

/// Whether hosts of one role should have it alike: addresses and what is under it by name are each host's own.
fn is_compared(key: &Key) -> bool {
    let is_own_way = key.group() == "route" && OWN_WAY.iter().any(|field| key.name.ends_with(field));
    let is_nameless = key.namespace.starts_with("pid:") || key.namespace.starts_with("net:[");
    !is_own_way && !is_nameless && !OWN.contains(&key.name.as_str())
}

/// Where a host could have a setting.
struct Places<'a> {
    settings: &'a Settings,
    namespaces: BTreeSet<&'a str>,
    /// Names of devices by namespace and by what they are called.
    devices: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Places<'a> {
    fn of(settings: &'a Settings, roles: &'a Roles) -> Self {
        let devices = roles.each().map(|(namespace, device, label)| ((namespace, label), device));
        Self { settings, namespaces: settings.namespaces().collect(), devices: devices.collect() }
    }

    fn without_value(&self, key: &Key) -> Cell<'static> {
        if !self.namespaces.contains(key.namespace.as_str()) {
            let is_closed = self.settings.closed().any(|(name, _)| name == key.namespace);
            return if is_closed { Cell::Unknown } else { Cell::NoPlace };
        }
        let device = match &key.device {
            None => None,
            Some(label) => match self.devices.get(&(key.namespace.as_str(), label.as_str())) {
                Some(name) => Some(*name),
                // That it is not there is told once, by the setting that every device has.
                None => return if key.name == "device" { Cell::Nothing } else { Cell::NoPlace },
            },
        };
        match self.settings.get(&Key::of(&key.namespace, device, key.name.as_str())) {
            Reading::Known(_) | Reading::None => Cell::Nothing,
            Reading::Unknown(_) => Cell::Unknown,
        }
    }
}

/// Ends of the names of a route's settings that are a host's own.
const OWN_WAY: [&str; 4] = ["].via", "].source", "].interface", "].hops"];

/// Settings that name other devices of the host, or addresses.
const OWN: [&str; 4] = ["link.on", "link.port-of", "link.vxlan-remote", "machine.numa-nodes"];
