//! Applying one change, and whether the kernel has taken it.

use std::collections::BTreeMap;

use linux::rtnetlink::route::Metric;
use linux::set::route::WholeRoute;
use linux::set::{discipline, numbers, spread};
use model::host::fix::captured::{Captured, NodeKind, Table};
use model::host::fix::check;
use model::host::fix::discipline::Hook;
use model::host::fix::names::{BOND_POLICIES, ClassId, CpuMask, DeviceName, Prefix};
use model::host::fix::{Change, Unfit, sysctl};

use super::error::FixError;
use super::here::Here;
use super::{capture, module};

/// Applies `change`. What it does is done when this returns, or it has failed.
pub(super) fn apply(change: &Change, here: &Here) -> Result<(), FixError> {
    match change {
        Change::Sysctl { key, value } => {
            let unfit = |error| FixError::Unfit { step: 1, source: Unfit::from(error) };
            let value = sysctl::checked(key.as_str(), value).map_err(unfit)?;
            here.write_sysctl(key, &value)?;
            taken(key.to_string(), &value, here.read_sysctl(key)?)
        }
        Change::Route { to, metrics } => route(to, metrics),
        Change::Governor { name } => write_each(change, name.as_str(), here),
        Change::Interrupts { cpus, .. } => write_each(change, cpus.as_str(), here),
        Change::Steering { cpus, .. } => write_each(change, cpus.as_str(), here),
        Change::IdleStates { .. } => write_each(change, "1", here),
        Change::Smt { on } => {
            let file = model::host::fix::captured::KernelFile::Smt {};
            let wanted = if *on { "on" } else { "off" };
            let now = here.read_file(&file)?;
            if !matches!(now.as_str(), "on" | "off") {
                return Err(FixError::Nothing { what: format!("two threads a core cannot be switched here: {now}") });
            }
            here.write_file(&file, wanted)?;
            taken("smt".to_owned(), wanted, here.read_file(&file)?)
        }
        Change::Module { name } => module::load(name),
        _ => match change.device() {
            Some(device) => of_device(change, device, here),
            None => Ok(()),
        },
    }
}

fn of_device(change: &Change, device: &DeviceName, here: &Here) -> Result<(), FixError> {
    let index = here.index(device)?;
    let set = |table, pairs: &[(&str, Option<u32>)]| {
        let values: BTreeMap<String, u32> =
            pairs.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?))).collect();
        set_numbers(device, here, table, &values)
    };
    let bit = |on: bool| Some(u32::from(on));
    match change {
        Change::Feature { name, on, .. } => feature(device, here, &WantedFeature { name: name.as_str(), on: *on }),
        Change::Rings { rx, tx, .. } => set(Table::Rings, &[("rx", *rx), ("tx", *tx)]),
        Change::Channels { combined, rx, tx, .. } => {
            set(Table::Channels, &[("combined", *combined), ("rx", *rx), ("tx", *tx)])
        }
        Change::Coalesce { adaptive, .. } => {
            set(Table::Coalesce, &[("adaptive-rx", bit(*adaptive)), ("adaptive-tx", bit(*adaptive))])
        }
        Change::Pause { rx, tx, .. } => set(Table::Pause, &[("rx", bit(*rx)), ("tx", bit(*tx))]),
        Change::Eee { on, .. } => set(Table::Eee, &[("enabled", bit(*on))]),
        Change::Autonegotiation { on, .. } => set(Table::Mode, &[("autoneg", bit(*on))]),
        Change::Spread { queues, .. } => {
            let entries = spread::read(device.as_str())?.len();
            let table: Vec<u32> = (0..*queues).cycle().take(entries).collect();
            spread::write(device.as_str(), &table)?;
            let now = spread::read(device.as_str())?;
            taken(format!("receive spread of {device}"), &words(&table), words(&now))
        }
        Change::Mtu { bytes, .. } => set(Table::Link, &[("mtu", Some(*bytes))]),
        Change::TxQueueLength { packets, .. } => set(Table::Link, &[("txqlen", Some(*packets))]),
        Change::LargestAggregate { bytes, .. } => {
            set(Table::Link, &[("gso-ipv4-max", Some(*bytes)), ("gro-ipv4-max", Some(*bytes))])
        }
        Change::BondHash { policy, .. } => {
            let place = BOND_POLICIES.iter().position(|known| *known == policy.as_str());
            set(Table::Bond, &[(numbers::HASH, place.and_then(|place| u32::try_from(place).ok()))])
        }
        Change::Qdisc { hook, discipline, .. } => {
            discipline::set(index, *hook, discipline)?;
            is_there(device, index, *hook, discipline.kind())
        }
        Change::Class { hook, class, htb, .. } => {
            discipline::set_class(index, *hook, *class, htb)?;
            let tree = linux::set::tree::read(index)?;
            let found = tree.iter().any(|node| node.what == NodeKind::Class && node.handle == number_of(*class));
            taken(format!("class {class} of {device}"), "there", if found { "there" } else { "missing" }.to_owned())
        }
        Change::NoQdisc { .. } => Ok(discipline::unset(index)?),
        // All others have been taken before.
        _ => Ok(()),
    }
}

/// Reads the tree of a device again, and whether what was asked for hangs where it was to.
fn is_there(device: &DeviceName, index: u32, hook: Hook, kind: &str) -> Result<(), FixError> {
    let parent = match hook {
        Hook::Root => u32::MAX,
        Hook::Class(class) => number_of(class),
    };
    let tree = linux::set::tree::read(index)?;
    let there = tree.iter().find(|node| node.what == NodeKind::Qdisc && node.parent == parent);
    let found = there.map_or("none", |node| node.kind.as_str());
    taken(format!("qdisc of {device} at {hook}"), kind, found.to_owned())
}

fn number_of(class: ClassId) -> u32 {
    u32::from(class.major) << 16 | u32::from(class.minor)
}

/// Writes the numbers that are not so already: a driver may take a link down for one that stays the same.
fn set_numbers(device: &DeviceName, here: &Here, table: Table, values: &BTreeMap<String, u32>) -> Result<(), FixError> {
    let now = here.numbers(device, table)?;
    let missing = values.keys().find(|name| !now.contains_key(*name));
    // Of coalescing a driver may adapt one direction only.
    if let Some(name) =
        missing.filter(|_| table != Table::Coalesce || values.keys().all(|name| !now.contains_key(name)))
    {
        return Err(FixError::Nothing { what: format!("{device} has no setting {table} {name}") });
    }
    let different = |(name, value): &(&String, &u32)| now.get(*name).is_some_and(|old| old != *value);
    let different: BTreeMap<String, u32> =
        values.iter().filter(different).map(|(name, value)| (name.clone(), *value)).collect();
    if different.is_empty() {
        return Ok(());
    }
    here.set_numbers(device, table, &different)?;
    let after = here.numbers(device, table)?;
    let unmoved = different.iter().find(|(name, _)| after.get(*name) == now.get(*name));
    match unmoved {
        // A driver may round what it takes, but what has not moved it has not taken.
        Some((name, wanted)) => taken(
            format!("{device} {table} {name}"),
            &wanted.to_string(),
            after.get(name).map(u32::to_string).unwrap_or_default(),
        ),
        None => Ok(()),
    }
}

/// A feature of a driver, and how it should be.
struct WantedFeature<'a> {
    name: &'a str,
    on: bool,
}

fn feature(device: &DeviceName, here: &Here, wanted: &WantedFeature<'_>) -> Result<(), FixError> {
    let WantedFeature { name, on } = *wanted;
    let fixed = || FixError::Nothing { what: format!("the feature {name} of {device} cannot be switched, or is none") };
    let now = *here.features(device)?.get(name).ok_or_else(fixed)?;
    if now.active == on && now.wanted == on {
        return Ok(());
    }
    here.set_features(device, &BTreeMap::from([(name.to_owned(), on)]))?;
    let after = *here.features(device)?.get(name).ok_or_else(fixed)?;
    let text = |on: bool| if on { "on" } else { "off" };
    taken(format!("feature {name} of {device}"), text(on), text(after.active).to_owned())
}

fn route(to: &Prefix, metrics: &str) -> Result<(), FixError> {
    let missing = || FixError::Nothing { what: format!("the main table has no route to {to}") };
    let old = WholeRoute::read(to.parts())?.ok_or_else(missing)?;
    let pairs = check::pairs(metrics).map_err(|source| FixError::Unfit { step: 1, source })?;
    let read = |(name, value): &(String, String)| {
        Metric::parse(name, value).map_err(|error| FixError::Nothing { what: error.to_string() })
    };
    let changed = pairs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let new = old.with_metrics(&changed);
    new.write()?;
    let now = WholeRoute::read(to.parts())?.map(|route| route.metrics).unwrap_or_default();
    let text = |metrics: &BTreeMap<String, String>| {
        metrics.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(" ")
    };
    taken(format!("metrics of the route to {to}"), &text(&new.metrics), text(&now))
}

/// Writes to each file that the change is about.
fn write_each(change: &Change, content: &str, here: &Here) -> Result<(), FixError> {
    for captured in capture::of(change, here)? {
        let Captured::File { file, content: now } = captured else { continue };
        if same(content, &now) {
            continue;
        }
        here.write_file(&file, content)?;
        let after = here.read_file(&file)?;
        if !same(content, &after) {
            return Err(FixError::NotTaken { what: file.to_string(), wanted: content.to_owned(), found: after });
        }
    }
    Ok(())
}

/// Whether two texts of a file mean the same: masks have leading zeros, lists of processors have several forms.
fn same(wanted: &str, found: &str) -> bool {
    let mask = |text: &str| CpuMask::new(text).ok().map(|mask| mask.words());
    let list = |text: &str| linux::affinity::parse_cpu_list(text);
    wanted == found
        || mask(wanted).zip(mask(found)).is_some_and(|(one, other)| one == other) && !wanted.contains('-')
        || list(wanted).zip(list(found)).is_some_and(|(one, other)| one == other)
}

fn words(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn taken(what: String, wanted: &str, found: String) -> Result<(), FixError> {
    if wanted == found { Ok(()) } else { Err(FixError::NotTaken { what, wanted: wanted.to_owned(), found }) }
}
