//! Which host it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use linux::{affinity, host};
use model::host::fact::{Fact, Missing, Source};
use model::host::machine::Machine;

use super::file;

pub(super) fn read(role_group: Option<String>) -> Machine {
    let uname = || Source("uname".to_owned());
    let cpuinfo = file::text("/proc/cpuinfo");
    Machine {
        name: Fact::known(host::hostname(), uname()),
        role_group,
        kernel_release: Fact::known(host::kernel_release(), uname()),
        kernel_command_line: file::text("/proc/cmdline"),
        boot_id: file::text("/proc/sys/kernel/random/boot_id"),
        architecture: Fact::known(host::architecture(), uname()),
        operating_system: operating_system(file::text("/etc/os-release")),
        cpu_model: entry(cpuinfo.clone(), "model name"),
        sockets: count(|cpu| topology(cpu, "physical_package_id")),
        cores: count(|cpu| Some((topology(cpu, "physical_package_id")?, topology(cpu, "core_id")?))),
        numa_nodes: numa_nodes(),
        memory: memory(),
        page: Fact::known(host::page_bytes(), Source("sysconf _SC_PAGESIZE".to_owned())),
        product: product(),
        under_hypervisor: under_hypervisor(cpuinfo),
        iommu_groups: iommu_groups(),
    }
}

fn operating_system(release: Fact<String>) -> Fact<String> {
    let found = |text: String| {
        let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        value.map(|value| value.trim_matches(['"', '\'']).to_owned()).ok_or(Missing::Absent)
    };
    Fact { reading: release.reading.and_then(found), source: release.source }
}

/// The first line `key : value`.
fn entry(table: Fact<String>, key: &str) -> Fact<String> {
    let found = |text: String| {
        let mut entries = text.lines().filter_map(|line| line.split_once(':'));
        entries.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned()).ok_or(Missing::Absent)
    };
    Fact { reading: table.reading.and_then(found), source: table.source }
}

fn topology(cpu: usize, file: &str) -> Option<u32> {
    file::optional(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{file}"))?.parse().ok()
}

/// How many different values the processors that are online have.
fn count<T: Ord>(of: impl Fn(usize) -> Option<T>) -> Fact<u32> {
    let source = Source::file("/sys/devices/system/cpu/cpu*/topology");
    let online = affinity::online_cpus().unwrap_or_default();
    let values: BTreeSet<T> = online.into_iter().filter_map(of).collect();
    match u32::try_from(values.len()) {
        Ok(count) if count > 0 => Fact::known(count, source),
        _ => Fact::missing(Missing::Absent, source),
    }
}

pub(super) fn numa_nodes() -> Fact<BTreeMap<u32, String>> {
    let source = Source::file(NODES);
    let entries = match fs::read_dir(NODES) {
        Ok(entries) => entries,
        Err(error) => return Fact::missing(file::missing(&error), source),
    };
    let node = |name: &str| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        Some((number, file::optional(format!("{NODES}/{name}/cpulist")).unwrap_or_default()))
    };
    Fact::known(entries.filter_map(|entry| node(entry.ok()?.file_name().to_str()?)).collect(), source)
}

fn memory() -> Fact<u64> {
    let total = entry(file::text("/proc/meminfo"), "MemTotal");
    let bytes = |text: String| {
        let kibibytes = text.strip_suffix(" kB").and_then(|number| number.trim().parse::<u64>().ok());
        kibibytes
            .map(|kibibytes| kibibytes * 1024)
            .ok_or(Missing::Failed { reason: format!("`{text}` is not understood") })
    };
    Fact { reading: total.reading.and_then(bytes), source: total.source }
}

fn product() -> Fact<String> {
    let source = Source::file(DMI);
    let parts = ["sys_vendor", "product_name"].map(|part| file::optional(format!("{DMI}/{part}")));
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { Fact::missing(Missing::Absent, source) } else { Fact::known(known.join(" "), source) }
}

/// Only x86 tells, by a flag of the processor.
fn under_hypervisor(cpuinfo: Fact<String>) -> Fact<bool> {
    let flags = entry(cpuinfo, "flags");
    let reading = match flags.reading {
        Ok(flags) => Ok(flags.split_whitespace().any(|flag| flag == "hypervisor")),
        Err(Missing::Absent) => Err(Missing::Unsupported),
        Err(other) => Err(other),
    };
    Fact { reading, source: flags.source }
}

fn iommu_groups() -> Fact<u32> {
    let source = Source::file(GROUPS);
    match fs::read_dir(GROUPS) {
        Ok(entries) => Fact::known(u32::try_from(entries.count()).unwrap_or(u32::MAX), source),
        Err(error) => Fact::missing(file::missing(&error), source),
    }
}

const NODES: &str = "/sys/devices/system/node";
const DMI: &str = "/sys/class/dmi/id";
const GROUPS: &str = "/sys/kernel/iommu_groups";
