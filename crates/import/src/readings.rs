//! Readings of counters as changes: the first and the last of each.

use std::collections::BTreeMap;

use model::counters::{CounterReadings, Reading};

use super::evidence::{CounterKind, DeviceCounters};
use super::so_far::so_far;

/// Whose counters some readings are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CounterOwner {
    pub(crate) host: Option<String>,
    pub(crate) kind: CounterKind,
    pub(crate) device: Option<String>,
}

/// The first reading and the last.
pub(crate) fn readings_of(owner: &CounterOwner, readings: &[&DeviceCounters]) -> CounterReadings {
    let mut found = CounterReadings::default();
    let device = owner.device.as_deref().unwrap_or("nic");
    let (device, prefix) = match owner.kind {
        CounterKind::Nic => (device, format!("nic.{device}.")),
        CounterKind::Link => (device, format!("dev.{device}.")),
        CounterKind::Kernel | CounterKind::KernelChange => ("the kernel's counters", String::new()),
    };
    if owner.kind == CounterKind::KernelChange {
        // Lists of one text may show other counters each; of one that comes again the last counts.
        let change = |(name, after): (&String, &u64)| (name.clone(), Reading { before: 0, after: *after });
        found.values.extend(readings.iter().flat_map(|reading| &reading.values).map(change));
        return found;
    }
    if let [only] = readings {
        let so_far = so_far(&only.values);
        let reason = format!("one reading of {device} shows no change: read it before and after the test{so_far}");
        found.unreadable.insert(format!("{prefix}{device}"), reason);
        // Frames that ask a switch to pause say by themselves that a ring has no room.
        let is_pause = |name: &str| name.contains("tx") && (name.contains("xoff") || name.contains("pause"));
        let pauses = only.values.iter().filter(|(name, _)| is_pause(&name.to_lowercase()));
        found
            .values
            .extend(pauses.map(|(name, value)| (format!("{prefix}{name}"), Reading { before: *value, after: *value })));
        return found;
    }
    // Readings may show other counters each, as `grep` leaves them.
    let mut first: BTreeMap<&String, u64> = BTreeMap::new();
    for (name, value) in readings.iter().flat_map(|reading| &reading.values) {
        match first.get(name) {
            None => {
                first.insert(name, *value);
            }
            Some(before) => {
                let reading = Reading { before: *before, after: *value };
                found.values.insert(format!("{prefix}{name}"), reading);
            }
        }
    }
    found
}
