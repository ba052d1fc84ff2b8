//! Settings of the host as a whole: kernel, command line, processors, services, modules.

use std::collections::BTreeMap;

use model::host::cpu::Cpu;
use model::host::fact::Fact;
use model::host::snapshot::Snapshot;

use super::key::Key;
use super::known::Settings;
use super::value::{counted, on_off, yes_no};

pub(super) fn add(settings: &mut Settings, snapshot: &Snapshot) {
    machine(settings, snapshot);
    processors(settings, snapshot);
    services(settings, snapshot);
    if let Some(options) = settings.value_or_why(&Key::host("module"), &snapshot.module_options) {
        for (name, value) in options {
            settings.put(Key::host(format!("module.{name}")), value.as_str());
        }
    }
}

fn machine(settings: &mut Settings, snapshot: &Snapshot) {
    let machine = &snapshot.machine;
    let texts: [(&str, &Fact<String>); 5] = [
        ("machine.kernel", &machine.kernel_release),
        ("machine.architecture", &machine.architecture),
        ("machine.operating-system", &machine.operating_system),
        ("machine.product", &machine.product),
        ("machine.cpu-model", &machine.cpu_model),
    ];
    for (name, fact) in texts {
        settings.put_fact(Key::host(name), fact, Clone::clone);
    }
    settings.put_fact(Key::host("machine.cpu-sockets"), &machine.sockets, u32::to_string);
    settings.put_fact(Key::host("machine.cpu-cores"), &machine.cores, u32::to_string);
    settings.put_fact(Key::host("machine.numa-nodes"), &machine.numa_nodes, |nodes| {
        nodes.iter().map(|(node, cpus)| format!("{node}: {cpus}")).collect::<Vec<_>>().join("; ")
    });
    // To the kilobyte it is another with every start.
    settings.put_fact(Key::host("machine.memory"), &machine.memory, |bytes| {
        format!("{} GiB", bytes.saturating_add(GIB / 2) / GIB)
    });
    settings.put_fact(Key::host("machine.hypervisor"), &machine.under_hypervisor, |&under| yes_no(under).to_owned());
    settings.put_fact(Key::host("machine.iommu"), &machine.iommu_groups, |&groups| on_off(groups > 0).to_owned());
    if let Some(line) = settings.value_or_why(&Key::host("cmdline"), &machine.kernel_command_line) {
        for (name, value) in command_line(line) {
            settings.put(Key::host(format!("cmdline.{name}")), value);
        }
    }
}

/// Parameters of the kernel by name; one that is given several times has all its values, a bare one has `given`.
fn command_line(line: &str) -> BTreeMap<&str, String> {
    let mut parameters: BTreeMap<&str, String> = BTreeMap::new();
    // What stands after `--` is for the first process (Documentation/admin-guide/kernel-parameters.rst).
    for word in line.split_whitespace().take_while(|word| *word != "--") {
        let (name, value) = word.split_once('=').unwrap_or((word, "given"));
        let is_of_this_disk = OF_DISKS.contains(&name) || name.starts_with("rd.");
        if !is_of_this_disk {
            let values = parameters.entry(name).or_default();
            if !values.is_empty() {
                values.push(' ');
            }
            values.push_str(value);
        }
    }
    parameters
}

fn processors(settings: &mut Settings, snapshot: &Snapshot) {
    let processors = &snapshot.processors;
    settings.put_fact(Key::host("cpu.online"), &processors.online, Clone::clone);
    settings.put_fact(Key::host("cpu.smt"), &processors.smt_control, Clone::clone);
    each(settings, "cpu.governor", &processors.each, |cpu| &cpu.governor, Clone::clone);
    each(settings, "cpu.energy-preference", &processors.each, |cpu| &cpu.energy_preference, Clone::clone);
    each(settings, "cpu.max-khz", &processors.each, |cpu| &cpu.max_frequency, u64::to_string);
    each(
        settings,
        "cpu.idle-states",
        &processors.each,
        |cpu| &cpu.idle_states,
        |states| {
            let shown =
                states.iter().map(|state| format!("{}{}", state.name, if state.disabled { " off" } else { "" }));
            shown.collect::<Vec<_>>().join(", ")
        },
    );
}

/// One setting for all processors, which says where they differ.
fn each<T>(
    settings: &mut Settings,
    name: &str,
    processors: &[Cpu],
    fact: fn(&Cpu) -> &Fact<T>,
    text: fn(&T) -> String,
) {
    let mut values = Vec::new();
    for processor in processors {
        values.extend(settings.value_or_why(&Key::host(name), fact(processor)).map(text));
    }
    if !values.is_empty() {
        settings.put(Key::host(name), counted(values.iter().map(String::as_str)));
    }
}

fn services(settings: &mut Settings, snapshot: &Snapshot) {
    for (name, fact) in &snapshot.services.each {
        settings.put_fact(Key::host(format!("service.{name}")), fact, |service| {
            let running = if service.running { "running" } else { "not running" };
            match service.enabled {
                Some(true) => format!("{running}, started at boot"),
                _ => running.to_owned(),
            }
        });
    }
    settings.put_fact(Key::host("tuned.profile"), &snapshot.services.tuned_profile, Clone::clone);
}

const GIB: u64 = 1 << 30;

/// Parameters that name a disk or a file of this very host.
const OF_DISKS: [&str; 6] = ["BOOT_IMAGE", "root", "resume", "initrd", "crashkernel", "UUID"];
