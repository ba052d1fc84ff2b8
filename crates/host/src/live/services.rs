//! Programs that change settings by themselves: whether they run, and whether they start at boot.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::host::fact::{Fact, Missing, Source};
use model::host::service::{Service, Services, WATCHED};

use crate::provenance::Profile;

/// The names of all processes.
pub(super) struct Processes {
    names: BTreeSet<String>,
    all: bool,
}

impl Processes {
    pub(super) fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let names = pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        // Where /proc hides the processes of others (hidepid), the first is hidden too.
        Self { names: names.map(|name| name.trim().to_owned()).collect(), all: Path::new("/proc/1/comm").exists() }
    }
}

pub(super) fn read(processes: &Processes, tuned: Option<&Profile>) -> Services {
    let source = || Source::file("/proc/*/comm");
    let each = WATCHED.into_iter().map(|unit| {
        let running = process_names(unit).iter().any(|name| processes.names.contains(*name));
        let fact = if running || processes.all {
            Fact::known(Service { running, enabled: enabled(unit) }, source())
        } else {
            Fact::missing(Missing::Denied, source())
        };
        (unit.to_owned(), fact)
    });
    let profile = Source::file("/etc/tuned/active_profile");
    Services {
        each: each.collect(),
        tuned_profile: match tuned {
            Some(found) => Fact::known(found.name.clone(), profile.clone()),
            None => Fact::missing(Missing::Absent, profile.clone()),
        },
        tuned_sysctls: match tuned {
            Some(found) => Fact::known(found.sysctls.clone(), profile),
            None => Fact::missing(Missing::Absent, profile),
        },
    }
}

/// What the processes of a unit are called; the kernel keeps fifteen characters.
fn process_names(unit: &'static str) -> &'static [&'static str] {
    match unit {
        "docker" => &["dockerd"],
        "systemd-networkd" => &["systemd-network"],
        "irqbalance" => &["irqbalance"],
        "tuned" => &["tuned"],
        "bpftune" => &["bpftune"],
        "NetworkManager" => &["NetworkManager"],
        "firewalld" => &["firewalld"],
        "kubelet" => &["kubelet"],
        // SciTags: the first in Python, its successor in Go.
        "flowd-go" => &["flowd-go", "flowd"],
        _ => &[],
    }
}

/// Whether a target wants the unit. [`None`] where there is no systemd.
fn enabled(unit: &str) -> Option<bool> {
    let directories = ["/etc/systemd/system", "/usr/lib/systemd/system"];
    let targets = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten();
    let wants: Vec<_> = targets
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "wants"))
        .collect();
    if wants.is_empty() {
        return None;
    }
    let file = format!("{unit}.service");
    Some(wants.iter().any(|target| fs::symlink_metadata(target.join(&file)).is_ok()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn each_program_that_is_watched_has_a_process_to_look_for() {
        let units: BTreeMap<_, _> = WATCHED.into_iter().map(|unit| (unit, process_names(unit))).collect();
        assert!(
            units.values().all(|names| !names.is_empty() && names.iter().all(|name| name.len() <= 15)),
            "{units:?}"
        );
    }
}
