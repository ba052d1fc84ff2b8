//! The settings of a host: all facts of a snapshot that somebody sets, in one flat list.
//!
//! What changes by itself is not among them: counters, addresses, limits of the moment, numbers that a boot gives out. So
//! two lists differ only where somebody, or an installation, made a difference. A list of what is taken stands here in the
//! code, never one of what is left out: comparing everything was given up elsewhere as noise.
//!
//! * `key`: the name of a setting; `value`: its value; `known`: all of them; `origin`: where one comes from
//! * `whole`: settings of the host as a whole
//! * `namespace`: sysctls and routes
//! * `device`: link, driver, offloads; `queueing`: disciplines, queues, interrupts
//! * `boot`: what files set at the next start

mod boot;
mod device;
mod key;
mod known;
mod namespace;
mod origin;
mod place;
mod queueing;
mod value;
mod whole;

use model::host::fact::Missing;
use model::host::snapshot::{CollectionMethod, Snapshot};

pub(crate) use device::PHYSICAL;
pub use key::{Key, NotAKey};
pub use known::{Reading, Settings};
pub use origin::Origin;
pub use value::Value;

impl Settings {
    /// The settings that a snapshot holds.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let is_of_saved_outputs = matches!(snapshot.way, CollectionMethod::SavedOutputs | CollectionMethod::Sosreport);
        let partial = is_of_saved_outputs.then(|| Missing::Failed { reason: "not among what was saved".to_owned() });
        let mut settings = Self { partial, ..Self::default() };
        whole::add(&mut settings, snapshot);
        for (index, each) in snapshot.namespaces.iter().enumerate() {
            let name = if index == 0 { String::new() } else { namespace::name(each) };
            namespace::add(&mut settings, &name, each, snapshot);
            settings.namespaces.insert(name);
        }
        for closed in &snapshot.closed_namespaces {
            settings.closed.insert(closed.name.clone(), Missing::Failed { reason: closed.reason.clone() });
        }
        boot::add(&mut settings, snapshot);
        if is_of_saved_outputs {
            let group = |key: &Key| (key.namespace.clone(), key.device.clone(), key.group().to_owned());
            settings.groups = settings.known.keys().map(group).collect();
        }
        settings
    }
}

#[cfg(test)]
mod tests;
