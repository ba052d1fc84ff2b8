//! One host at two times, or two hosts: what is set otherwise.

use std::collections::BTreeSet;

use model::host::fact::Missing;
use serde::{Deserialize, Serialize};

use crate::settings::{Key, Reading, Settings, Value};

/// One setting that is another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Which setting differs.
    pub key: Key,
    /// What it was; none where there was no such thing.
    pub old: Option<Value>,
    /// What it is; none where there is no such thing.
    pub new: Option<Value>,
}

/// A setting of which nobody can say whether it is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncertain<'a> {
    /// The setting, or the group of settings: `em1: fec`.
    pub key: &'a Key,
    /// Why it is not known.
    pub why: &'a Missing,
}

/// What is set otherwise in `after`, in the order of the keys. A device that came or went is one change (`em1: device`), a
/// network namespace likewise (`namespace in NAME`); what is not known of either is none, see [`uncertain`].
#[must_use]
pub fn changes(before: &Settings, after: &Settings) -> Vec<Change> {
    let mut changes = namespaces(before, after);
    let keys: BTreeSet<&Key> = before.known().chain(after.known()).map(|(key, _)| key).collect();
    for key in keys {
        let both_have_its_place = [before, after].iter().all(|side| has_place(side, key));
        if !both_have_its_place {
            continue;
        }
        let (old, new) = match (before.get(key), after.get(key)) {
            (Reading::Unknown(_), _) | (_, Reading::Unknown(_)) => continue,
            (old, new) => (value(old), value(new)),
        };
        let same = match (&old, &new) {
            (Some(old), Some(new)) => old.is_same(new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !same {
            changes.push(Change { key: key.clone(), old, new });
        }
    }
    changes.sort_by(|one, other| one.key.cmp(&other.key));
    changes
}

/// What is not known of one of two hosts and is known of the other, or not known of both.
pub fn uncertain<'a>(before: &'a Settings, after: &'a Settings) -> impl Iterator<Item = Uncertain<'a>> {
    let all: std::collections::BTreeMap<&Key, &Missing> = before.unknown().chain(after.unknown()).collect();
    all.into_iter().map(|(key, why)| Uncertain { key, why })
}

fn value(reading: Reading<'_>) -> Option<Value> {
    if let Reading::Known(value) = reading { Some(value.clone()) } else { None }
}

/// Whether namespace and device of the key are there. The device itself is told of by one key.
fn has_place(side: &Settings, key: &Key) -> bool {
    let there = side.namespaces().any(|name| name == key.namespace);
    let is_device = key.name == DEVICE;
    let has_device = || {
        key.device.as_ref().is_none_or(|device| {
            let of_device = Key::of(&key.namespace, Some(device), DEVICE);
            matches!(side.get(&of_device), Reading::Known(_))
        })
    };
    there && (is_device || has_device() || is_boot(key))
}

/// What a file says of a device does not take the device.
fn is_boot(key: &Key) -> bool {
    key.group() == "boot"
}

fn namespaces(before: &Settings, after: &Settings) -> Vec<Change> {
    let mut changes = Vec::new();
    if looked_elsewhere(before) && looked_elsewhere(after) {
        let there = |side: &Settings, name: &str| {
            let known = side.namespaces().chain(side.closed().map(|(name, _)| name));
            known.into_iter().any(|known| known == name)
        };
        let names: BTreeSet<&str> = before.namespaces().chain(after.namespaces()).filter(|name| lasts(name)).collect();
        for name in names {
            let value = |side| there(side, name).then(|| Value::new("there"));
            let (old, new) = (value(before), value(after));
            if old.is_some() != new.is_some() {
                changes.push(Change { key: Key::of(name, None, "namespace"), old, new });
            }
        }
    }
    changes
}

/// Whether the snapshot is of more than the reader's own namespace. If not, it says nothing of others.
fn looked_elsewhere(side: &Settings) -> bool {
    side.namespaces().count() + side.closed().count() > 1
}

/// A namespace without a name is called by a process or a number, which is another after the next start of it.
fn lasts(name: &str) -> bool {
    !name.starts_with("pid:") && !name.starts_with("net:[")
}

/// The setting that every device has.
const DEVICE: &str = "device";
