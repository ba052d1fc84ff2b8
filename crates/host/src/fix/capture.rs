//! The values that a change can touch, read before it and read again after it.

use std::collections::BTreeMap;
use std::fs;

use linux::set::route::WholeRoute;
use linux::set::{SetError, features, spread, tree};
use linux::{Reason, facts};
use model::host::fix::Change;
use model::host::fix::captured::{Captured, KernelFile, Table};
use model::host::fix::names::{DeviceName, Prefix, SysctlKey};

use super::error::FixError;
use super::here::{CPUS, Here};
use super::module;
use crate::live::interrupt_numbers;

/// All that `change` can touch, besides what it is about: what the kernel changes along with it.
pub(super) fn of(change: &Change, here: &Here) -> Result<Vec<Captured>, FixError> {
    Ok(match change {
        Change::Sysctl { key, .. } => sysctls(key, here)?,
        Change::Feature { device, .. } => vec![wanted(device, here)?],
        Change::Rings { device, .. } => vec![table(device, Table::Rings, here)?],
        Change::Channels { device, .. } => with_queues(device, here)?,
        Change::Coalesce { device, .. } => vec![table(device, Table::Coalesce, here)?],
        Change::Pause { device, .. } => vec![table(device, Table::Pause, here)?],
        Change::Eee { device, .. } => vec![table(device, Table::Eee, here)?],
        Change::Autonegotiation { device, .. } => {
            vec![table(device, Table::Mode, here)?, modes(device, here)?]
        }
        Change::Spread { device, .. } => vec![receive_spread(device, here)?],
        Change::Mtu { device, .. } => with_mtu(device, here)?,
        Change::TxQueueLength { device, .. } => vec![link(device, &["txqlen"], here)?],
        Change::LargestAggregate { device, .. } => {
            vec![link(device, &["gso-max", "gro-max", "gso-ipv4-max", "gro-ipv4-max"], here)?]
        }
        Change::BondHash { device, .. } => vec![table(device, Table::Bond, here)?],
        Change::Qdisc { device, .. } | Change::Class { device, .. } | Change::NoQdisc { device } => {
            vec![qdiscs(device, here)?]
        }
        Change::Route { to, .. } => vec![route(to)?],
        Change::Interrupts { device, .. } => interrupts(device, here)?,
        Change::Steering { device, .. } => files(steering(device, here)?, here)?,
        Change::Governor { .. } => files(governors(), here)?,
        Change::Smt { .. } => {
            let own = files(vec![KernelFile::Smt {}], here)?;
            // Processors that go take their settings with them.
            let others = all_interrupts().into_iter().chain(governors());
            own.into_iter().chain(others.filter_map(|file| one(file, here).ok())).collect()
        }
        Change::IdleStates { longest_exit_us } => files(slow_idle_states(*longest_exit_us), here)?,
        Change::Module { name } => vec![Captured::Module { name: name.to_string(), loaded: module::is_there(name) }],
    })
}

/// The same values as they are now.
pub(super) fn again(captured: &Captured, here: &Here) -> Result<Captured, FixError> {
    Ok(match captured {
        Captured::Sysctl { key, .. } => sysctl(key, here)?,
        Captured::File { file, .. } => one(file.clone(), here)?,
        Captured::Features { device, .. } => wanted(device, here)?,
        Captured::Numbers { device, table: Table::Link, values } => {
            link(device, &values.keys().map(String::as_str).collect::<Vec<_>>(), here)?
        }
        Captured::Numbers { device, table: kind, .. } => table(device, *kind, here)?,
        Captured::LinkModes { device, .. } => modes(device, here)?,
        Captured::Spread { device, .. } => receive_spread(device, here)?,
        Captured::Qdiscs { device, .. } => qdiscs(device, here)?,
        Captured::Route { to, .. } => route(to)?,
        Captured::Module { name, .. } => Captured::Module { name: name.clone(), loaded: module::is_loaded(name) },
    })
}

/// Puts what belongs together into one: a place has each value once, the oldest.
pub(super) fn add(values: &mut Vec<Captured>, more: Vec<Captured>) {
    for new in more {
        let known = values.iter_mut().find(|known| known.subject() == new.subject());
        match (known, new) {
            (Some(Captured::Numbers { values, .. }), Captured::Numbers { values: more, .. }) => {
                for (name, value) in more {
                    values.entry(name).or_insert(value);
                }
            }
            (Some(_), _) => {}
            (None, new) => values.push(new),
        }
    }
}

fn sysctl(key: &SysctlKey, here: &Here) -> Result<Captured, FixError> {
    Ok(Captured::Sysctl { key: key.clone(), value: here.read_sysctl(key)? })
}

fn sysctls(key: &SysctlKey, here: &Here) -> Result<Vec<Captured>, FixError> {
    let mut values = vec![sysctl(key, here)?];
    if key.as_str() == "net.ipv4.tcp_congestion_control" {
        // What is the default is allowed to all from then on (net/ipv4/tcp_cong.c, tcp_set_default_congestion_control).
        let allowed = SysctlKey::new("net.ipv4.tcp_allowed_congestion_control");
        values.extend(allowed.ok().and_then(|allowed| sysctl(&allowed, here).ok()));
    }
    Ok(values)
}

fn table(device: &DeviceName, table: Table, here: &Here) -> Result<Captured, FixError> {
    let mut values = here.numbers(device, table)?;
    if table == Table::Mode {
        // What is negotiated is no setting, and a link that is down has no speed.
        let negotiated = values.get("autoneg") == Some(&1);
        values.retain(|name, value| name == "autoneg" || !negotiated && *value != u32::MAX && *value != 0xff);
    }
    Ok(Captured::Numbers { device: device.clone(), table, values })
}

fn link(device: &DeviceName, names: &[&str], here: &Here) -> Result<Captured, FixError> {
    let mut values = here.numbers(device, Table::Link)?;
    values.retain(|name, _| names.contains(&name.as_str()));
    Ok(Captured::Numbers { device: device.clone(), table: Table::Link, values })
}

fn wanted(device: &DeviceName, here: &Here) -> Result<Captured, FixError> {
    let found = here.features(device)?;
    let wanted = found.into_iter().map(|(name, feature)| (name, feature.wanted)).collect();
    Ok(Captured::Features { device: device.clone(), wanted })
}

fn modes(device: &DeviceName, here: &Here) -> Result<Captured, FixError> {
    Ok(Captured::LinkModes { device: device.clone(), advertised: features::read_modes(here.index(device)?)? })
}

fn receive_spread(device: &DeviceName, here: &Here) -> Result<Captured, FixError> {
    // Asked by name, so it has to be here.
    here.index(device)?;
    Ok(Captured::Spread { device: device.clone(), queues: spread::read(device.as_str())? })
}

fn qdiscs(device: &DeviceName, here: &Here) -> Result<Captured, FixError> {
    Ok(Captured::Qdiscs { device: device.clone(), tree: tree::read(here.index(device)?)? })
}

fn route(to: &Prefix) -> Result<Captured, FixError> {
    let found = WholeRoute::read(to.parts())?;
    let (message, metrics) = match found {
        Some(route) => (Some(route.to_hex()), route.metrics),
        None => (None, BTreeMap::new()),
    };
    Ok(Captured::Route { to: to.clone(), message, metrics })
}

/// Channels, and what the kernel sets anew when their number changes. A part that the driver has not is left out.
fn with_queues(device: &DeviceName, here: &Here) -> Result<Vec<Captured>, FixError> {
    let mut values = vec![table(device, Table::Channels, here)?];
    match receive_spread(device, here) {
        Err(FixError::Set(error)) if error.reason() == Reason::Unsupported => {}
        spread => values.push(spread?),
    }
    values.push(qdiscs(device, here)?);
    // Without a view of the queues of this namespace their masks cannot be read, nor can they have been set.
    if here.directory(device).is_ok() {
        let masks = steering(device, here)?
            .into_iter()
            .chain(queues(device, "tx-", here, |device, queue| KernelFile::Sending { device, queue })?);
        values.extend(masks.filter_map(|file| one(file, here).ok()));
    }
    Ok(values)
}

/// The MTU, and what the kernel changes with it: devices that rest on this one, and the MTU that IPv6 keeps of its own
/// for each of them and for routes (net/ipv6/addrconf.c, addrconf_notify; net/ipv6/route.c, rt6_mtu_change).
fn with_mtu(device: &DeviceName, here: &Here) -> Result<Vec<Captured>, FixError> {
    let all = here.devices()?;
    let mut names = vec![device.to_string()];
    let mut seen = 0;
    while let Some(below) = names.get(seen).cloned() {
        seen += 1;
        let of_bridge = all.iter().find(|one| one.name == below).and_then(|one| one.link.controller.clone());
        let upon = all
            .iter()
            .filter(|one| one.link.lower.as_deref() == Some(&below) && one.link.kind.as_deref() != Some("veth"));
        for name in upon.map(|one| one.name.clone()).chain(of_bridge) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let mut values = Vec::new();
    for name in &names {
        // A name that this program would not take from a caller cannot be written either.
        let Ok(name) = DeviceName::new(name.as_str()) else { continue };
        values.push(link(&name, &["mtu"], here)?);
        let key = SysctlKey::new(format!("net.ipv6.conf.{}.mtu", name.as_str().replace('.', "/")));
        values.extend(key.ok().and_then(|key| sysctl(&key, here).ok()));
    }
    let routes = facts::route::read(&facts::link::names(&all)).map_err(SetError::Unavailable)?;
    let limited = routes.into_iter().filter(|route| {
        let through = route.interface.as_ref().is_some_and(|interface| names.contains(interface));
        through && route.metrics.contains_key("mtu") && route.destination.contains(':')
    });
    for route_of in limited {
        if let Ok(to) = Prefix::new(route_of.destination) {
            values.push(route(&to)?);
        }
    }
    Ok(values)
}

fn interrupts(device: &DeviceName, here: &Here) -> Result<Vec<Captured>, FixError> {
    let hardware = here.directory(device)?.join("device");
    let above = fs::canonicalize(&hardware).ok().and_then(|path| path.parent().map(std::path::Path::to_owned));
    let numbers = interrupt_numbers(&hardware).or_else(|| above.as_deref().and_then(interrupt_numbers));
    let missing = || FixError::Nothing { what: format!("{device} has no interrupts of its own") };
    let numbers = numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(missing)?;
    files(numbers.into_iter().map(|number| KernelFile::Interrupt { number }).collect(), here)
}

fn steering(device: &DeviceName, here: &Here) -> Result<Vec<KernelFile>, FixError> {
    queues(device, "rx-", here, |device, queue| KernelFile::Steering { device, queue })
}

fn queues(
    device: &DeviceName,
    direction: &str,
    here: &Here,
    make: impl Fn(DeviceName, u32) -> KernelFile,
) -> Result<Vec<KernelFile>, FixError> {
    let directory = here.directory(device)?.join("queues");
    let numbers = numbered(&directory.display().to_string(), direction);
    Ok(numbers.into_iter().map(|queue| make(device.clone(), queue)).collect())
}

fn governors() -> Vec<KernelFile> {
    let has = |cpu: &u32| fs::exists(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")).unwrap_or_default();
    numbered(CPUS, "cpu").into_iter().filter(has).map(|cpu| KernelFile::Governor { cpu }).collect()
}

fn slow_idle_states(longest_exit_us: u32) -> Vec<KernelFile> {
    let mut found = Vec::new();
    for cpu in numbered(CPUS, "cpu") {
        let directory = format!("{CPUS}/cpu{cpu}/cpuidle");
        found.extend(numbered(&directory, "state").into_iter().filter_map(|state| {
            let exit = fs::read_to_string(format!("{directory}/state{state}/latency")).ok()?;
            (exit.trim().parse::<u32>().ok()? > longest_exit_us).then_some(KernelFile::IdleState { cpu, state })
        }));
    }
    found
}

fn all_interrupts() -> Vec<KernelFile> {
    numbered("/proc/irq", "").into_iter().map(|number| KernelFile::Interrupt { number }).collect()
}

/// The numbers of what is called `prefix` and a number in a directory, in order.
fn numbered(directory: &str, prefix: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbers: Vec<u32> = names.filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn one(file: KernelFile, here: &Here) -> Result<Captured, FixError> {
    let content = here.read_file(&file)?;
    Ok(Captured::File { file, content })
}

/// All of them; none at all is an error, because a fix of nothing would pass for one that was applied.
fn files(files: Vec<KernelFile>, here: &Here) -> Result<Vec<Captured>, FixError> {
    if files.is_empty() {
        return Err(FixError::Nothing { what: "this host has nothing of the kind to set".to_owned() });
    }
    files.into_iter().map(|file| one(file, here)).collect()
}
