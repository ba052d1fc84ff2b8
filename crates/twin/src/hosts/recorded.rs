//! Facts of hardware that a scenario records of a host (docs/formats/recorded-facts.md), in the place of those that a
//! namespace has.

use std::collections::BTreeMap;

use model::host::fact::{Fact, Source};
use model::host::interface::Interface;
use model::host::interface::driver::{Bus, Driver};
use model::host::interface::tuning::{Feature, Rings};
use model::host::snapshot::Snapshot;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Recorded {
    interfaces: BTreeMap<String, RecordedInterface>,
    machine: RecordedMachine,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordedMachine {
    kernel_command_line: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordedInterface {
    driver: Option<Driver>,
    bus: Option<Bus>,
    rings: Option<Rings>,
    features: BTreeMap<String, Feature>,
    counters: BTreeMap<String, u64>,
    driver_counters: BTreeMap<String, u64>,
}

/// Puts recorded facts into a snapshot. What is no such document is left out: the collector of a live host says so.
pub(super) fn overlay(snapshot: &mut Snapshot, facts: &toml::Table) {
    let Ok(recorded) = Recorded::deserialize(facts.clone()) else { return };
    let source = Source::recorded("recorded-facts.toml");
    if let Some(line) = recorded.machine.kernel_command_line {
        snapshot.machine.kernel_command_line = Fact::known(line, source.clone());
    }
    let Some(own) = snapshot.namespaces.first_mut() else { return };
    for (name, recorded) in recorded.interfaces {
        if let Some(interface) = own.interfaces.iter_mut().find(|interface| interface.name == name) {
            recorded.put_into(interface, &source);
        }
    }
}

impl RecordedInterface {
    fn put_into(self, interface: &mut Interface, source: &Source) {
        replace(&mut interface.driver, self.driver, source);
        replace(&mut interface.bus, self.bus, source);
        replace(&mut interface.rings, self.rings, source);
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

/// Those that are not recorded stay as they are.
fn extend<T>(fact: &mut Fact<BTreeMap<String, T>>, recorded: BTreeMap<String, T>, source: &Source) {
    if recorded.is_empty() {
        return;
    }
    let mut values = std::mem::replace(&mut fact.reading, Ok(BTreeMap::new())).unwrap_or_default();
    values.extend(recorded);
    *fact = Fact::known(values, source.clone());
}
