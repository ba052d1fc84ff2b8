//! From a snapshot to facts in the names of the vocabulary.

mod defaults;
mod files;
mod link;
mod machine;
mod namespace;
mod stack;
mod underlay;
mod value;

use model::host::snapshot::Snapshot;

use crate::scope::{HostFacts, Taken};
use crate::settings::Settings;

impl HostFacts {
    /// The facts of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let boot_id = snapshot.machine.boot_id.value();
        let taken = boot_id
            .zip(snapshot.taken_mono)
            .map(|(boot_id, mono)| Taken { boot_id: boot_id.clone(), micros: mono.as_nanos() / 1000 });
        Self {
            name: snapshot.machine.name.value().cloned().unwrap_or_default(),
            identity: snapshot.identity(),
            facts: machine::facts(snapshot),
            namespaces: namespace::all(snapshot),
            settings: Settings::of(snapshot),
            taken,
        }
    }
}
