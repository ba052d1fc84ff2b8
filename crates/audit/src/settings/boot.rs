//! What files set at the next start.

use model::host::provenance::Definition;
use model::host::snapshot::Snapshot;

use super::key::Key;
use super::known::Settings;
use super::origin::Origin;
use super::value::yes_no;

pub(super) fn add(settings: &mut Settings, snapshot: &Snapshot) {
    let Some(provenance) = settings.value_or_why(&Key::host("boot"), &snapshot.provenance) else { return };
    for (name, setting) in &provenance.settings {
        let Some(definition) = setting.winning() else { continue };
        let package = provenance.files.get(&definition.file).and_then(|file| file.package.clone());
        if let Some(key) = running(name) {
            settings.origins.insert(key, origin(definition, package));
        }
        // The command line is in the snapshot as it was used.
        if !name.starts_with("cmdline.") {
            settings.put(at_boot(name), format!("{} by {}", definition.value, definition.file));
        }
    }
    if let Some(again) = provenance.tuned_reapplies_sysctl {
        settings.put(Key::host("tuned.reapply-sysctl"), yes_no(again));
    }
}

/// The setting that a definition is about, where a snapshot has it as it runs.
fn running(name: &str) -> Option<Key> {
    if let Some((device, field)) = of_device(name) {
        // NetworkManager names what it sets `feature-rx-gro-hw`, `ring-rx`, `coalesce-rx-usecs` (nm-settings(5)).
        let named = match field.split_once('-') {
            _ if field == "mtu" => "link.mtu".to_owned(),
            Some((group, rest)) => format!("{group}.{rest}"),
            None => return None,
        };
        return (device != "*").then(|| Key::device(device, named));
    }
    Some(if name.starts_with("module.") || name.starts_with("cmdline.") {
        Key::host(name)
    } else {
        Key::sysctl("", name)
    })
}

fn at_boot(name: &str) -> Key {
    match of_device(name) {
        Some((device, field)) if device != "*" => Key::device(device, format!("boot.{field}")),
        _ => Key::host(format!("boot.{name}")),
    }
}

/// Device and field of `link.IFACE.mtu` and `ethtool.IFACE.ring-rx`. Names of devices may have dots, fields have none.
fn of_device(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("link.").or_else(|| name.strip_prefix("ethtool."))?.rsplit_once('.')
}

fn origin(definition: &Definition, package: Option<String>) -> Origin {
    let package = package.filter(|package| package != "none");
    Origin { value: definition.value.clone(), file: definition.file.clone(), line: definition.line, package }
}
