//! Facts of hardware that a host of a lab does not have (docs/formats/recorded-facts.md): they take the place of what its kernel says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Source};
use super::interface::Interface;
use super::interface::driver::{Bus, Driver, LinkMode};
use super::interface::tuning::{Channels, Coalesce, Feature, Pause, Rings};
use super::snapshot::Snapshot;

/// What is recorded of one host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFacts {
    /// By the name of the device.
    #[serde(default)]
    interfaces: BTreeMap<String, RecordedInterface>,
    #[serde(default)]
    machine: RecordedMachine,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedMachine {
    kernel_command_line: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RecordedInterface {
    driver: Option<Driver>,
    bus: Option<Bus>,
    mode: Option<LinkMode>,
    rings: Option<Rings>,
    channels: Option<Channels>,
    coalesce: Option<Coalesce>,
    pause: Option<Pause>,
    features: BTreeMap<String, Feature>,
    counters: BTreeMap<String, u64>,
    driver_counters: BTreeMap<String, u64>,
}

impl RecordedFacts {
    /// Puts the facts in the place of those of the snapshot's own namespace, and returns the devices that it does not have.
    pub fn put_into(self, snapshot: &mut Snapshot, source: &Source) -> Vec<String> {
        if let Some(line) = self.machine.kernel_command_line {
            snapshot.machine.kernel_command_line = Fact::known(line, source.clone());
        }
        let mut missing = Vec::new();
        for (name, recorded) in self.interfaces {
            let own = snapshot.namespaces.first_mut().into_iter().flat_map(|namespace| &mut namespace.interfaces);
            match own.into_iter().find(|interface| interface.name == name) {
                Some(interface) => recorded.put_into(interface, source),
                None => missing.push(name),
            }
        }
        missing
    }

    /// The features that are recorded of a device.
    #[must_use]
    pub fn features(&self, device: &str) -> BTreeMap<String, Feature> {
        self.interfaces.get(device).map(|recorded| recorded.features.clone()).unwrap_or_default()
    }

    /// The rings of a device, where they are recorded.
    #[must_use]
    pub fn rings(&self, device: &str) -> Option<Rings> {
        self.interfaces.get(device)?.rings
    }

    /// The kernel's counters that are recorded of a device, by name.
    #[must_use]
    pub fn counters(&self, device: &str) -> Vec<&str> {
        self.interfaces
            .get(device)
            .into_iter()
            .flat_map(|recorded| recorded.counters.keys().map(String::as_str))
            .collect()
    }
}

impl RecordedInterface {
    fn put_into(self, interface: &mut Interface, source: &Source) {
        replace(&mut interface.driver, self.driver, source);
        replace(&mut interface.bus, self.bus, source);
        replace(&mut interface.mode, self.mode, source);
        replace(&mut interface.rings, self.rings, source);
        replace(&mut interface.channels, self.channels, source);
        replace(&mut interface.coalesce, self.coalesce, source);
        replace(&mut interface.pause, self.pause, source);
        extend(&mut interface.features, self.features, source);
        extend(&mut interface.counters, self.counters, source);
        extend(&mut interface.driver_counters, self.driver_counters, source);
    }
}

fn replace<T>(fact: &mut Fact<T>, recorded: Option<T>, source: &Source) {
    if let Some(value) = recorded {
        *fact = Fact::known(value, source.clone());
    }
}

/// Those that are not recorded stay as they were read, and the source says so.
fn extend<T>(fact: &mut Fact<BTreeMap<String, T>>, recorded: BTreeMap<String, T>, source: &Source) {
    if recorded.is_empty() {
        return;
    }
    let before = std::mem::replace(&mut fact.reading, Ok(BTreeMap::new()));
    let mut values = before.unwrap_or_default();
    fact.source =
        if values.is_empty() { source.clone() } else { Source(format!("{source}, the others {}", fact.source)) };
    values.extend(recorded);
    fact.reading = Ok(values);
}
