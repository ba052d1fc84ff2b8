//! Puts saved outputs together as a snapshot. What was not saved is not known, and says so.

use std::collections::BTreeMap;

use model::host::cpu::Cpus;
use model::host::fact::{Fact, Missing, Source};
use model::host::interface::Interface;
use model::host::machine::Machine;
use model::host::namespace::Namespace;
use model::host::service::Services;
use model::host::snapshot::{Anomaly, CollectionMethod, Snapshot};
use units::WallTime;

use super::naming::{self, OutputKind};
use super::{Read, anomaly, ethtool, ip_link, refusal, sysctl, tc};
use crate::files::{Files, FilesInMemory};
use crate::live::software;
use crate::provenance;

pub(super) fn snapshot(
    held: &FilesInMemory,
    taken: WallTime,
    way: CollectionMethod,
    anomalies: Vec<Anomaly>,
) -> Snapshot {
    let mut gathered = Gathered { namespaces: BTreeMap::new(), anomalies };
    gathered.namespaces.insert(None, empty_namespace(None));
    for (path, content) in &held.files {
        if let Some(output) = naming::of(path) {
            gathered.take(path, &String::from_utf8_lossy(content), output);
        }
    }
    let own = gathered.namespaces.get(&None).map(|namespace| &namespace.sysctls);
    let running = own.into_iter().flatten().map(|(key, fact)| (key.clone(), fact.value().cloned())).collect();
    let found = provenance::find(held, &running);
    gathered.anomalies.extend(found.anomalies);
    let tuned = found.tuned;
    Snapshot {
        format: Snapshot::FORMAT,
        taken,
        taken_mono: None,
        software: software(),
        way,
        machine: machine(held),
        processors: Cpus { online: not_saved(), smt_control: not_saved(), each: Vec::new() },
        namespaces: gathered.namespaces.into_values().collect(),
        closed_namespaces: Vec::new(),
        storage: not_saved(),
        clock: not_saved(),
        services: Services {
            each: BTreeMap::new(),
            tuned_profile: tuned.as_ref().map_or_else(not_saved, |tuned| Fact::known(tuned.name.clone(), active())),
            tuned_sysctls: tuned.map_or_else(not_saved, |tuned| Fact::known(tuned.sysctls, active())),
        },
        module_options: not_saved(),
        provenance: Fact::known(found.provenance, Source("saved files".to_owned())),
        unseen: Vec::new(),
        anomalies: gathered.anomalies,
    }
}

struct Gathered {
    /// That of the host first.
    namespaces: BTreeMap<Option<String>, Namespace>,
    anomalies: Vec<Anomaly>,
}

impl Gathered {
    fn take(&mut self, path: &str, text: &str, output: naming::Output) {
        let namespace = output.namespace.clone();
        let namespace = self.namespaces.entry(namespace).or_insert_with(|| empty_namespace(output.namespace));
        let unknown = match output.kind {
            OutputKind::Sysctl => {
                let Read { value, unknown } = sysctl::read(text);
                let source = Source::saved("sysctl -a", path);
                let facts = value.into_iter().map(|(key, reading)| (key, Fact { reading, source: source.clone() }));
                namespace.sysctls.extend(facts);
                unknown
            }
            OutputKind::Link => take_links(namespace, path, ip_link::read(text)),
            OutputKind::Qdisc { device } => {
                let Read { value, unknown } = tc::read(text, device.as_deref());
                for (name, qdiscs) in value {
                    interface(namespace, &name).qdiscs = Fact::known(qdiscs, Source::saved("tc -s qdisc", path));
                }
                unknown
            }
            OutputKind::Mode { device } => {
                let source = Source::saved("ethtool", path);
                put(&mut interface(namespace, &device).mode, ethtool::mode::read(text), text, source)
            }
            OutputKind::Ethtool { option, device } => take_ethtool(interface(namespace, &device), option, path, text),
        };
        self.anomalies.extend(unknown.into_iter().map(|(line, reason)| anomaly(path, Some(line), reason)));
    }
}

fn take_links(namespace: &mut Namespace, path: &str, read: Read<ip_link::Shown>) -> Vec<(u32, String)> {
    let source = Source::saved("ip -d link", path);
    for device in read.value.devices {
        let interface = interface(namespace, &device.name);
        interface.link = Fact::known(device.link, source.clone());
        if !device.counters.is_empty() {
            interface.counters = Fact::known(device.counters, source.clone());
        }
    }
    if !read.value.addresses.is_empty() {
        namespace.addresses = Fact::known(read.value.addresses, source);
    }
    read.unknown
}

fn take_ethtool(interface: &mut Interface, option: char, path: &str, text: &str) -> Vec<(u32, String)> {
    let source = Source::saved(&format!("ethtool -{option}"), path);
    match option {
        'k' => put(&mut interface.features, ethtool::features::read(text), text, source),
        'g' => put(&mut interface.rings, ethtool::tables::rings(text), text, source),
        'l' => put(&mut interface.channels, ethtool::tables::channels(text), text, source),
        'c' => put(&mut interface.coalesce, ethtool::tables::coalesce(text), text, source),
        'a' => put(&mut interface.pause, ethtool::tables::pause(text), text, source),
        'i' => put(&mut interface.driver, ethtool::driver::driver(text), text, source),
        'm' => put(&mut interface.optics, ethtool::module::read(text), text, source),
        'S' => put(&mut interface.driver_counters, ethtool::driver::counters(text), text, source),
        _ => Vec::new(),
    }
}

/// A table of which no line is understood is no table: the program said why, or the file holds something else.
fn put<T: Default + PartialEq>(fact: &mut Fact<T>, read: Read<T>, text: &str, source: Source) -> Vec<(u32, String)> {
    let (reading, unknown) = if read.value != T::default() {
        (Ok(read.value), read.unknown)
    } else if let Some(missing) = refusal(text) {
        (Err(missing), Vec::new())
    } else if read.unknown.is_empty() && !text.trim().is_empty() {
        (Ok(read.value), Vec::new())
    } else {
        (Err(Missing::Failed { reason: "nothing in it is understood".to_owned() }), read.unknown)
    };
    *fact = Fact { reading, source };
    unknown
}

fn machine(held: &FilesInMemory) -> Machine {
    let line = |paths: &[&str]| {
        let found = paths.iter().find_map(|path| Some((path, held.text(path).ok()?)));
        found.map_or_else(not_saved, |(path, text)| Fact::known(text.trim().to_owned(), Source::file(path)))
    };
    let uname = line(&["/uname", "/sos_commands/kernel/uname_-a"]);
    let word = |number: usize| {
        let of = |text: String| text.split_whitespace().nth(number).map(str::to_owned).ok_or(Missing::Absent);
        Fact { reading: uname.reading.clone().and_then(of), source: uname.source.clone() }
    };
    let named = line(&["/sos_commands/host/hostname", "/hostname", "/etc/hostname"]);
    Machine {
        name: if named.value().is_some() { named } else { word(1) },
        role_group: None,
        kernel_release: word(2),
        kernel_command_line: line(&["/proc/cmdline"]),
        boot_id: line(&["/proc/sys/kernel/random/boot_id"]),
        architecture: not_saved(),
        operating_system: entry(line(&["/etc/os-release", "/usr/lib/os-release"]), "PRETTY_NAME", '='),
        cpu_model: entry(line(&["/proc/cpuinfo"]), "model name", ':'),
        sockets: not_saved(),
        cores: not_saved(),
        numa_nodes: not_saved(),
        memory: not_saved(),
        page: not_saved(),
        product: not_saved(),
        under_hypervisor: not_saved(),
        iommu_groups: not_saved(),
    }
}

/// The first line that begins with `key`.
fn entry(text: Fact<String>, key: &str, separator: char) -> Fact<String> {
    let of = |text: String| {
        let mut entries = text.lines().filter_map(|line| line.split_once(separator));
        let value = entries.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().trim_matches('"'));
        value.map(str::to_owned).ok_or(Missing::Absent)
    };
    Fact { reading: text.reading.and_then(of), source: text.source }
}

fn interface<'a>(namespace: &'a mut Namespace, name: &str) -> &'a mut Interface {
    let place = match namespace.interfaces.binary_search_by(|known| known.name.as_str().cmp(name)) {
        Ok(place) => place,
        Err(place) => {
            namespace.interfaces.insert(place, empty_interface(name));
            place
        }
    };
    &mut namespace.interfaces[place]
}

fn empty_namespace(name: Option<String>) -> Namespace {
    Namespace {
        name,
        inode: None,
        sysctls: BTreeMap::new(),
        routes: not_saved(),
        tcp_metrics: not_saved(),
        addresses: not_saved(),
        counters: not_saved(),
        connections: not_saved(),
        interfaces: Vec::new(),
    }
}

fn empty_interface(name: &str) -> Interface {
    Interface {
        name: name.to_owned(),
        link: not_saved(),
        driver: not_saved(),
        bus: not_saved(),
        mode: not_saved(),
        fec: not_saved(),
        eee: not_saved(),
        optics: not_saved(),
        features: not_saved(),
        rings: not_saved(),
        channels: not_saved(),
        coalesce: not_saved(),
        pause: not_saved(),
        receive_hashing: not_saved(),
        private_flags: not_saved(),
        qdiscs: not_saved(),
        queues: not_saved(),
        interrupts: not_saved(),
        counters: not_saved(),
        driver_counters: not_saved(),
    }
}

fn not_saved<T>() -> Fact<T> {
    let reason = "not among what was saved".to_owned();
    Fact::missing(Missing::Failed { reason }, Source("saved".to_owned()))
}

fn active() -> Source {
    Source::file("/etc/tuned/active_profile")
}
