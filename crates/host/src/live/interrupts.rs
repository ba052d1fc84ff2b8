//! The interrupts of a device, and where they go.

use std::fs;
use std::path::Path;

use model::host::fact::{Fact, Missing, Source};
use model::host::interface::queues::Interrupt;

use super::bus::Hardware;
use super::file;

pub(super) fn read(hardware: Option<&Hardware>) -> Fact<Vec<Interrupt>> {
    let Some(hardware) = hardware else {
        return Fact::missing(Missing::Absent, Source::netlink("RTM_GETLINK"));
    };
    let above = hardware.directory.parent();
    let found = [Some(hardware.directory.as_path()), above].into_iter().flatten().find_map(numbers);
    match found {
        Some((source, numbers)) => Fact::known(numbers.into_iter().map(one).collect(), source),
        None => Fact::missing(Missing::Absent, Source::file(hardware.directory.join("msi_irqs").display())),
    }
}

/// The interrupts of a device of a bus: its messages, or else its line.
pub(super) fn numbers(device: &Path) -> Option<(Source, Vec<u32>)> {
    let messages = device.join("msi_irqs");
    if let Ok(entries) = fs::read_dir(&messages) {
        let mut numbers: Vec<u32> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        return Some((Source::file(messages.display()), numbers));
    }
    let line = device.join("irq");
    let number = file::optional(&line)?.parse().ok().filter(|&number| number != 0)?;
    Some((Source::file(line.display()), vec![number]))
}

fn one(number: u32) -> Interrupt {
    let place = format!("/proc/irq/{number}");
    Interrupt {
        number,
        name: name(&place),
        allowed_cpus: file::optional(format!("{place}/smp_affinity_list")),
        effective_cpus: file::optional(format!("{place}/effective_affinity_list")),
    }
}

/// Whoever handles an interrupt has a directory of its name there.
fn name(place: &str) -> String {
    let entries = fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<_> = directories.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.join(", ")
}
