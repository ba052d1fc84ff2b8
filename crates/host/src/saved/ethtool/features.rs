//! `ethtool -k`.

use std::collections::BTreeMap;

use model::host::interface::tuning::Feature;

use crate::saved::Read;

/// Features by the kernel's names. Names that ethtool has for several features are left out: each of those stands for
/// itself below.
#[must_use]
pub fn read(text: &str) -> Read<BTreeMap<String, Feature>> {
    let mut read = Read::<BTreeMap<String, Feature>>::default();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with("Features for ") || line.starts_with("Offload parameters for ") {
            continue;
        }
        let parsed = line.trim().split_once(':').and_then(|(name, state)| Some((name, feature(state)?)));
        let Some((name, feature)) = parsed else {
            read.note(number, "not `feature: on` or `feature: off`");
            continue;
        };
        if !GROUPS.contains(&name) {
            let kernel = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, kernel)| kernel);
            read.value.insert(kernel.to_owned(), feature);
        }
    }
    read
}

fn feature(state: &str) -> Option<Feature> {
    let mut words = state.split_whitespace();
    let active = switch(words.next()?)?;
    let (mut fixed, mut wanted) = (false, active);
    let rest: Vec<&str> = words.collect();
    match rest.as_slice() {
        [] => {}
        ["[fixed]"] => fixed = true,
        ["[requested", asked] => wanted = switch(asked.strip_suffix(']')?)?,
        // Something of a driver's own about an old offload, in ethtool before 5.9.
        ["[not", "requested]"] => wanted = false,
        _ => return None,
    }
    Some(Feature { hw: !fixed, wanted, active, nochange: fixed })
}

fn switch(word: &str) -> Option<bool> {
    match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Names for several features at once, whose members follow.
const GROUPS: [&str; 3] = ["tx-checksumming", "scatter-gather", "tcp-segmentation-offload"];

/// Names that ethtool had before the kernel had its own (ethtool 6.1, `off_flag_def`).
const ALIASES: [(&str, &str); 8] = [
    ("rx-checksumming", "rx-checksum"),
    ("generic-segmentation-offload", "tx-generic-segmentation"),
    ("generic-receive-offload", "rx-gro"),
    ("large-receive-offload", "rx-lro"),
    ("rx-vlan-offload", "rx-vlan-hw-parse"),
    ("tx-vlan-offload", "tx-vlan-hw-insert"),
    ("ntuple-filters", "rx-ntuple-filter"),
    ("receive-hashing", "rx-hashing"),
];
