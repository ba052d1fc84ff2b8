//! Reading again what may have changed, and only that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linux::facts::{link, qdisc, route};
use model::host::fact::{Fact, Source};
use model::host::interface::Interface;
use model::host::namespace::Namespace;
use model::host::snapshot::Snapshot;
use model::host::tracked;

use super::file::answered;
use super::interface::Asking;
use super::sysfs::Sysfs;
use super::{cpus, namespace};
use crate::provenance::sysctl_d::swapped;

/// Parts of a namespace, and of the host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Parts {
    /// All sysctls: one that is written may change others.
    pub(crate) sysctls: bool,
    /// Routes.
    pub(crate) routes: bool,
    /// The links of all devices, and their queueing disciplines.
    pub(crate) links: bool,
    /// All that can be asked of these devices, by their numbers.
    pub(crate) devices: BTreeSet<u32>,
    /// The same, by their names.
    pub(crate) named: BTreeSet<String>,
    /// The queues of all devices.
    pub(crate) queues: bool,
    /// The interrupts of all devices.
    pub(crate) interrupts: bool,
    /// The processors of the host.
    pub(crate) processors: bool,
}

impl Parts {
    /// What stands in files: sysctls and queues.
    pub(crate) fn of_files() -> Self {
        Self { sysctls: true, queues: true, ..Self::default() }
    }
}

/// Leaves out what changes by itself, which nobody compares: most of what a snapshot holds.
pub(crate) fn without_counters(snapshot: &mut Snapshot) {
    for namespace in &mut snapshot.namespaces {
        namespace.counters = Fact::known(BTreeMap::new(), namespace.counters.source.clone());
        namespace.tcp_metrics = Fact::known(Vec::new(), namespace.tcp_metrics.source.clone());
        namespace.interfaces.iter_mut().for_each(quiet);
    }
}

fn quiet(interface: &mut Interface) {
    interface.counters = Fact::known(BTreeMap::new(), interface.counters.source.clone());
    interface.driver_counters = Fact::known(BTreeMap::new(), interface.driver_counters.source.clone());
}

/// Reads the processors again.
pub(crate) fn refresh_processors(snapshot: &mut Snapshot) {
    snapshot.processors = cpus::read();
}

/// Reads these parts of the namespace of the calling thread again. What cannot be read at all stays as it was.
pub(crate) fn refresh(held: &mut Namespace, parts: &Parts) {
    let Ok(devices) = link::read() else { return };
    let names = link::names(&devices);
    if parts.links || parts.interrupts || parts.queues || !parts.devices.is_empty() || !parts.named.is_empty() {
        refresh_devices(held, devices, parts);
    }
    if parts.sysctls || parts.links {
        held.sysctls = namespace::sysctls(&names);
    }
    if parts.routes || parts.links {
        held.routes = answered(route::read(&names), Source::netlink(route::SOURCE));
    }
}

fn refresh_devices(held: &mut Namespace, devices: Vec<link::Device>, parts: &Parts) {
    let mut qdiscs = qdisc::read(&link::names(&devices));
    let mut asking = Asking::open();
    let mut before: BTreeMap<u32, Interface> = std::mem::take(&mut held.interfaces)
        .into_iter()
        .filter_map(|interface| Some((interface.link.value()?.index, interface)))
        .collect();
    for device in devices {
        let of_device = match &mut qdiscs {
            Ok(all) => Ok(all.remove(&device.name).unwrap_or_default()),
            Err(error) => Err(error.clone()),
        };
        let of_device = answered(of_device, Source::netlink(qdisc::SOURCE));
        let known = before.remove(&device.link.index).filter(|known| {
            let has_interrupts = known.interrupts.value().is_some_and(|interrupts| !interrupts.is_empty());
            let is_named = parts.devices.contains(&device.link.index) || parts.named.contains(&device.name);
            let is_stale = is_named || parts.queues || (parts.interrupts && has_interrupts);
            known.name == device.name && !is_stale
        });
        held.interfaces.push(match known {
            Some(known) => {
                let link = Fact::known(device.link, Source::netlink(link::SOURCE));
                Interface { link, qdiscs: of_device, ..known }
            }
            None => {
                let mut interface = asking.interface(device, of_device);
                quiet(&mut interface);
                interface
            }
        });
    }
    held.interfaces.sort_by(|one, other| one.name.cmp(&other.name));
}

/// Which files of a namespace are settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the namespace alone.
    Namespace,
    /// Those of the whole host besides.
    Host,
}

/// The directories whose files are sysctls of a namespace, below the mount `proc` of proc, as threads in it see them.
pub(crate) fn sysctl_directories(namespace: &Namespace, reach: Reach, proc: &str) -> BTreeSet<PathBuf> {
    let of_host = |key: &&&str| reach == Reach::Host || key.starts_with("net.");
    let keys = tracked::SYSCTLS.iter().filter(of_host).map(|key| swapped(key));
    let of_devices = namespace.interfaces.iter().flat_map(|interface| {
        tracked::PER_INTERFACE.iter().map(|pattern| swapped(&pattern.replace('*', &interface.name.replace('.', "/"))))
    });
    let files = keys.chain(of_devices).map(|key| PathBuf::from(format!("{proc}/sys/{key}")));
    files.filter_map(|file| file.parent().map(std::path::Path::to_owned)).collect()
}

/// The directories of a namespace's queues, in a view of /sys that belongs to it.
pub(crate) fn queue_directories(namespace: &Namespace, sysfs: &Sysfs) -> Vec<PathBuf> {
    let of_device = |interface: &Interface| {
        let link = interface.link.value()?;
        let directory = sysfs.directory(&interface.name, link).ok()?.join("queues");
        let queues = std::fs::read_dir(&directory).ok()?;
        Some(queues.filter_map(|entry| Some(entry.ok()?.path())).take(MAX_QUEUES).collect::<Vec<_>>())
    };
    namespace.interfaces.iter().filter_map(of_device).flatten().collect()
}

/// The directories of interrupts and processors.
pub(crate) fn host_directories(snapshot: &Snapshot) -> Vec<PathBuf> {
    let interrupts = snapshot.interfaces().filter_map(|(_, interface)| interface.interrupts.value()).flatten();
    let interrupts = interrupts.map(|interrupt| format!("/proc/irq/{}", interrupt.number));
    let processors = snapshot.processors.each.iter();
    let processors = processors.map(|cpu| format!("/sys/devices/system/cpu/cpu{}/cpufreq", cpu.number));
    let smt = std::iter::once("/sys/devices/system/cpu/smt".to_owned());
    interrupts.chain(processors).chain(smt).map(PathBuf::from).collect()
}

/// Most queues of one device that are watched.
const MAX_QUEUES: usize = 512;
