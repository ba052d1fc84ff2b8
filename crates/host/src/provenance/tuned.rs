//! The active profile of TuneD, with the profiles it includes (tuned.conf(5), tuned-main.conf(5)).

use std::collections::BTreeMap;

use model::host::provenance::{Definition, Origin};
use model::host::tracked::is_tracked;

use super::sysctl_d::{one_blank, with_points};
use super::{Gathering, ini};

/// The active profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name, or several.
    pub name: String,
    /// The sysctls that it sets.
    pub sysctls: BTreeMap<String, String>,
}

pub(super) fn gather(gathering: &mut Gathering<'_>) {
    let Ok(active) = gathering.files.text("/etc/tuned/active_profile") else { return };
    let names: Vec<String> = active.split_whitespace().map(str::to_owned).collect();
    if names.is_empty() {
        return;
    }
    let mut definitions = Vec::new();
    let mut seen = Vec::new();
    for name in &names {
        include(gathering, name, &mut seen, &mut definitions);
    }
    let sysctls = definitions.iter().map(|(key, definition)| (key.clone(), definition.value.clone())).collect();
    gathering.found.tuned = Some(Profile { name: names.join(" "), sysctls });
    for (key, definition) in definitions.into_iter().filter(|(key, _)| is_tracked(key)) {
        gathering.define(&key, definition);
    }
    gathering.found.provenance.tuned_reapplies_sysctl = Some(reapplies(gathering));
}

/// Adds the settings of a profile behind those of the profiles that it includes.
fn include(
    gathering: &mut Gathering<'_>,
    name: &str,
    seen: &mut Vec<String>,
    definitions: &mut Vec<(String, Definition)>,
) {
    // A profile may include the one of the same name that its maker shipped; any other circle is a mistake of its.
    if seen.len() >= MAX_PROFILES || seen.iter().any(|known| known == name) || name.contains('/') {
        return;
    }
    seen.push(name.to_owned());
    let paths = DIRECTORIES.map(|directory| format!("{directory}/{name}/tuned.conf"));
    let opened = paths.iter().find_map(|path| gathering.open(path, None).map(|text| (path, text)));
    let Some((path, text)) = opened else {
        gathering.anomaly("/etc/tuned/active_profile", None, format!("no profile called `{name}`"));
        return;
    };
    let (entries, unknown) = ini::read(&text);
    for line in unknown {
        gathering.anomaly(path, Some(line), "not `name=value`");
    }
    for entry in entries.iter().filter(|entry| (entry.section, entry.name) == ("main", "include")) {
        for included in entry.value.split([',', ' ']).filter(|part| !part.is_empty()) {
            // Model: a name that TuneD works out when it starts, such as ${f:…}, is not worked out here.
            include(gathering, included, seen, definitions);
        }
    }
    for entry in entries.iter().filter(|entry| entry.section == "sysctl") {
        match (entry.name, entry.value) {
            ("replace", "1" | "true") => definitions.clear(),
            (key, value) if key.contains(['.', '/']) => {
                let definition = Definition {
                    value: one_blank(value.trim_matches('"')),
                    origin: Origin::Tuned,
                    file: path.clone(),
                    line: entry.line,
                    pattern: None,
                    failure_ignored: false,
                    masked: false,
                };
                definitions.push((with_points(key), definition));
            }
            _ => {}
        }
    }
}

/// Whether TuneD applies the files of sysctl after its own settings; so it does where nobody says otherwise.
fn reapplies(gathering: &mut Gathering<'_>) -> bool {
    let Some(text) = gathering.open("/etc/tuned/tuned-main.conf", None) else { return true };
    let (entries, _) = ini::read(&text);
    let said = entries.iter().rev().find(|entry| entry.name == "reapply_sysctl").map(|entry| entry.value);
    !matches!(said, Some("0" | "false" | "False" | "no"))
}

/// The highest first.
const DIRECTORIES: [&str; 4] = ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"];

/// Most profiles that are read.
const MAX_PROFILES: usize = 32;
