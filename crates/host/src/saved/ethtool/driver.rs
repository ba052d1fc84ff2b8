//! `ethtool -i` and `ethtool -S`.

use std::collections::BTreeMap;

use model::host::interface::driver::Driver;

use crate::saved::Read;

/// `ethtool -i`.
#[must_use]
pub fn driver(text: &str) -> Read<Driver> {
    let mut read = Read::<Driver>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((name, value)) = line.split_once(':') else {
            if !line.trim().is_empty() {
                read.note(number, "not `name: value`");
            }
            continue;
        };
        let value = Some(value.trim()).filter(|value| *value != "N/A").unwrap_or_default().to_owned();
        match name.trim() {
            "driver" => read.value.name = value,
            "version" => read.value.version = value,
            "firmware-version" => read.value.firmware = value,
            "bus-info" => read.value.bus_info = value,
            "expansion-rom-version" => {}
            name if name.starts_with("supports-") => {}
            _ => read.note(number, "not a property of a driver"),
        }
    }
    read
}

/// `ethtool -S`.
#[must_use]
pub fn counters(text: &str) -> Read<BTreeMap<String, u64>> {
    let mut read = Read::<BTreeMap<String, u64>>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line == "NIC statistics:" {
            continue;
        }
        // Names may hold a colon.
        match line.rsplit_once(':').map(|(name, value)| (name.trim(), value.trim().parse())) {
            Some((name, Ok(value))) if read.value.len() < MAX_COUNTERS => {
                if read.value.insert(name.to_owned(), value).is_some() {
                    read.note(number, format!("a second `{name}`"));
                }
            }
            Some((_, Ok(_))) => read.note(number, format!("more than {MAX_COUNTERS} counters")),
            _ => read.note(number, "not `name: number`"),
        }
    }
    read
}

/// Large drivers have some thousands.
pub const MAX_COUNTERS: usize = 65_536;
