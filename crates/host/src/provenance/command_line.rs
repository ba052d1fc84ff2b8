//! What the kernel was started with (Documentation/admin-guide/kernel-parameters.rst): its own parameters, options of
//! modules as `module.option`, and sysctls as `sysctl.name` (since Linux 5.8).

use model::host::provenance::{Definition, Origin};
use model::host::tracked::is_tracked;

use super::Gathering;
use super::modprobe::setting;
use super::sysctl_d::{one_blank, with_points};

pub(super) fn gather(gathering: &mut Gathering<'_>) {
    let Ok(text) = gathering.files.text(FILE) else { return };
    // What follows two dashes is for the first program, not for the kernel.
    for word in words(&text).into_iter().take_while(|word| word != "--") {
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        let definition = Definition {
            value: one_blank(value),
            origin: Origin::CommandLine,
            file: FILE.to_owned(),
            line: 1,
            pattern: None,
            failure_ignored: false,
            masked: false,
        };
        if let Some(key) = name.strip_prefix("sysctl.").map(with_points) {
            if is_tracked(&key) {
                gathering.define(&key, definition);
            }
        } else {
            if let Some((module, option)) = name.split_once('.') {
                gathering.define(&setting(module, option), definition.clone());
            }
            if PARAMETERS.contains(&name) || name.contains('.') {
                gathering.define(&format!("cmdline.{name}"), definition);
            }
        }
    }
}

/// Words separated by blanks that are not between quotation marks.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted) = (String::new(), false);
    for character in text.trim().chars() {
        match character {
            '"' => quoted = !quoted,
            blank if blank.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

const FILE: &str = "/proc/cmdline";

/// Parameters of the kernel itself that decide about rates.
const PARAMETERS: [&str; 20] = [
    "amd_iommu",
    "amd_pstate",
    "hugepages",
    "idle",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "mitigations",
    "nohz",
    "nohz_full",
    "noirqbalance",
    "nosmt",
    "numa_balancing",
    "pcie_aspm",
    "rcu_nocbs",
    "skew_tick",
    "transparent_hugepage",
    "tsc",
];
