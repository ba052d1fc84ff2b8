//! Connections of NetworkManager (nm-settings-keyfile(5)): MTU, and what it sets by ethtool.

use model::host::provenance::{Definition, Origin};

use super::{Gathering, ini};

pub(super) fn gather(gathering: &mut Gathering<'_>) {
    for directory in DIRECTORIES {
        for name in gathering.files.list(directory).into_iter().take(MAX_FILES) {
            if !name.starts_with('.') {
                gather_file(gathering, &format!("{directory}/{name}"));
            }
        }
    }
}

fn gather_file(gathering: &mut Gathering<'_>, path: &str) {
    let Some(text) = gathering.open(path, None) else { return };
    let (entries, unknown) = ini::read(&text);
    for line in unknown {
        gathering.anomaly(path, Some(line), "not `name=value`");
    }
    let interface = entries.iter().find(|entry| (entry.section, entry.name) == ("connection", "interface-name"));
    // A connection without an interface may come up on any.
    let interface = interface.map_or("*", |entry| entry.value);
    for entry in &entries {
        let setting = match (entry.section, entry.name) {
            ("ethernet" | "802-3-ethernet" | "infiniband", "mtu") => format!("link.{interface}.mtu"),
            ("ethtool", name) => format!("ethtool.{interface}.{name}"),
            _ => continue,
        };
        let definition = Definition {
            value: entry.value.to_owned(),
            origin: Origin::NetworkManager,
            file: path.to_owned(),
            line: entry.line,
            pattern: None,
            failure_ignored: false,
            masked: false,
        };
        gathering.define(&setting, definition);
    }
}

const DIRECTORIES: [&str; 3] = [
    "/usr/lib/NetworkManager/system-connections",
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
];

/// Most connections of one directory.
const MAX_FILES: usize = 1_000;
