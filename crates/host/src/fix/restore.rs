//! Writing old values back, until all are as they were.

use std::collections::BTreeMap;

use linux::set::route::WholeRoute;
use linux::set::{features, spread, tree};
use model::host::fix::captured::{Captured, NamespaceValues, Table};

use super::capture;
use super::error::FixError;
use super::here::{Here, inside_same};

/// Writes back all that is not as it was, the last captured first. Returns what is not as it was in the end, and why.
///
/// One value may move another (a largest segment moves that for IPv4, a discipline takes the default of the moment), so
/// it is gone through again until nothing moves any more.
pub(super) fn restore(places: &[NamespaceValues]) -> Vec<String> {
    let mut left = Vec::new();
    for place in places.iter().rev() {
        let restored = inside_same(place.namespace.as_ref(), place.inode, |here| Ok(values(place, here)));
        match restored {
            Ok(more) => left.extend(more),
            Err(error) => left.push(error.to_string()),
        }
    }
    left
}

/// What the values of `places` are now; with the same devices and namespaces.
pub(super) fn again(places: &[NamespaceValues]) -> Result<Vec<NamespaceValues>, FixError> {
    let one = |place: &NamespaceValues| {
        inside_same(place.namespace.as_ref(), place.inode, |here| {
            is_same_device(place, here)?;
            let values = place.values.iter().filter_map(|captured| match capture::again(captured, here) {
                // Files of queues come and go with their number.
                Err(error) if matches!(captured, Captured::File { .. }) && error.is_absence() => None,
                now => Some(now),
            });
            Ok(NamespaceValues { values: values.collect::<Result<_, _>>()?, ..place.clone() })
        })
    };
    places.iter().map(one).collect()
}

fn values(place: &NamespaceValues, here: &Here) -> Vec<String> {
    let mut left = Vec::new();
    for _ in 0..MAX_PASSES {
        left.clear();
        let mut moved = false;
        for captured in place.values.iter().rev() {
            match put_back(captured, place, here) {
                Ok(Moved::No) => {}
                Ok(Moved::Yes) => moved = true,
                Err(error) => left.push(format!("{}: {error}", captured.subject())),
            }
        }
        if !moved {
            break;
        }
    }
    // The last word has the kernel.
    let said = left.join(" ");
    let differs = |captured: &&Captured| {
        let now = capture::again(captured, here);
        comes_back(captured) && now.is_ok_and(|now| now != **captured) && !said.contains(&captured.subject())
    };
    let different = place.values.iter().filter(differs);
    left.extend(different.map(|captured| format!("{} is not as it was", captured.subject())));
    left
}

enum Moved {
    No,
    Yes,
}

fn put_back(captured: &Captured, place: &NamespaceValues, here: &Here) -> Result<Moved, FixError> {
    if let Some(device) = captured.device() {
        let expected = place.devices.get(device.as_str());
        if expected.is_some_and(|index| here.index(device).map_or(true, |now| now != *index)) {
            return Err(FixError::Another { what: format!("network device {device}") });
        }
    }
    let now = capture::again(captured, here)?;
    if now == *captured || !comes_back(captured) {
        return Ok(Moved::No);
    }
    write(captured, &now, here)?;
    Ok(Moved::Yes)
}

/// A module stays: others may use it by now.
fn comes_back(captured: &Captured) -> bool {
    !matches!(captured, Captured::Module { .. })
}

fn write(old: &Captured, now: &Captured, here: &Here) -> Result<(), FixError> {
    match (old, now) {
        (Captured::Sysctl { key, value }, _) => here.write_sysctl(key, value),
        (Captured::File { file, content }, _) => here.write_file(file, content),
        (Captured::Features { device, wanted }, Captured::Features { wanted: now, .. }) => {
            here.set_features(device, &different(wanted, now))
        }
        (Captured::Numbers { device, table, values }, Captured::Numbers { values: now, .. }) => {
            let mut values = different(values, now);
            if *table == Table::Mode && values.get("autoneg") == Some(&1) {
                values.retain(|name, _| name == "autoneg");
            }
            here.set_numbers(device, *table, &values)
        }
        (Captured::LinkModes { device, advertised }, _) => {
            // Where nothing is negotiated the set is written with the mode.
            let mode = here.numbers(device, Table::Mode)?;
            match mode.get("autoneg") {
                Some(1) => Ok(features::write_modes(here.index(device)?, advertised)?),
                _ => Ok(()),
            }
        }
        (Captured::Spread { device, queues }, _) => Ok(spread::write(device.as_str(), queues)?),
        (Captured::Qdiscs { device, tree }, _) => Ok(tree::write(here.index(device)?, tree)?),
        (Captured::Route { message: Some(message), .. }, _) => Ok(WholeRoute::from_hex(message)?.write()?),
        // A module stays, and a route that was not there has not been made by us.
        (Captured::Module { .. } | Captured::Route { message: None, .. }, _)
        // Read again, a value is of the kind that it was.
        | (Captured::Features { .. } | Captured::Numbers { .. }, _) => Ok(()),
    }
}

fn different<T: Clone + PartialEq>(old: &BTreeMap<String, T>, now: &BTreeMap<String, T>) -> BTreeMap<String, T> {
    let differs = |(name, value): &(&String, &T)| now.get(*name) != Some(*value);
    old.iter().filter(differs).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn is_same_device(place: &NamespaceValues, here: &Here) -> Result<(), FixError> {
    let now = here.indices()?;
    match place.devices.iter().find(|(name, index)| now.get(*name) != Some(*index)) {
        Some((name, _)) => Err(FixError::Another { what: format!("network device {name}") }),
        None => Ok(()),
    }
}

/// Each pass settles what depends on the one before; chains are short.
const MAX_PASSES: usize = 4;
