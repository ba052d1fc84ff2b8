//! All facts of this host, read from the running kernel.
//!
//! * [`read`]: the snapshot
//! * [`Request`]: of which namespaces
//! * `namespaces`: which there are; `namespace`, `interface`: what is in one
//! * `part`: reading again what may have changed
//! * `sysfs`: the view of /sys that belongs to a namespace
//! * `machine`, `processors`, `services`, `modules`: what belongs to the whole host

mod bus;
mod connections;
mod cpus;
pub(crate) mod file;
mod interface;
mod interrupts;
mod machine;
mod modules;
mod namespace;
pub(crate) mod namespaces;
pub(crate) mod part;
mod queues;
mod services;
mod storage;
pub(crate) mod sysfs;

use std::collections::BTreeMap;
use std::path::PathBuf;

use linux::netns::{NetnsError, NetnsRef};
use linux::{clock, netns};
use model::host::fact::{Fact, Source};
use model::host::namespace::{ClosedNamespace, Namespace};
use model::host::snapshot::{Anomaly, CollectionMethod, Snapshot};

use crate::files::Disk;
use crate::provenance::{self, Found};
use crate::recorded::{self, RecordedError};

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Of which namespaces.
    pub which: Which,
    /// The hosts that should be alike, as the operator calls them.
    pub role_group: Option<String>,
    /// A file of facts of hardware that this host does not have.
    pub recorded: Option<PathBuf>,
}

/// Of which namespaces.
#[derive(Debug, Clone, Default)]
pub enum Which {
    /// That of this process.
    #[default]
    Own,
    /// All that this process may enter.
    All,
    /// These.
    Named(Vec<NetnsRef>),
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A namespace that was asked for by name cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NetnsError),
    /// The recorded facts cannot be read.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}

/// Reads all facts. What cannot be read says so in its place.
///
/// # Errors
/// See [`ReadError`].
pub fn read(request: &Request) -> Result<Snapshot, ReadError> {
    let (taken, taken_mono) = (clock::wall_now(), clock::now());
    let disk = Disk::below("/");
    let mut gathered = Gathered::default();
    gathered.namespaces(&request.which)?;
    let processes = services::Processes::read();
    let module_options = modules::read(&gathered.namespaces);
    let found = provenance::find(&disk, &running(&gathered.namespaces, &module_options));
    gathered.say_what_is_unseen(&request.which, &found, &disk);
    gathered.anomalies.extend(found.anomalies.iter().cloned());
    let mut snapshot = Snapshot {
        format: Snapshot::FORMAT,
        taken,
        taken_mono: Some(taken_mono),
        software: software(),
        way: if namespaces::is_privileged() { CollectionMethod::Privileged } else { CollectionMethod::Unprivileged },
        machine: machine::read(request.role_group.clone()),
        processors: cpus::read(),
        namespaces: gathered.namespaces,
        closed_namespaces: gathered.closed,
        storage: storage::disks(),
        clock: storage::clock(),
        services: services::read(&processes, found.tuned.as_ref()),
        module_options,
        provenance: Fact::known(found.provenance, Source::file("/etc, /run, /usr/lib, /proc/cmdline")),
        unseen: gathered.unseen,
        anomalies: gathered.anomalies,
    };
    if let Some(path) = &request.recorded {
        recorded::overlay(&mut snapshot, path)?;
    }
    Ok(snapshot)
}

/// The interrupts of a device of a bus, by its directory.
pub(crate) fn interrupt_numbers(device: &std::path::Path) -> Option<Vec<u32>> {
    interrupts::numbers(device).map(|(_, numbers)| numbers)
}

/// The name and version of this program, as a snapshot keeps it.
pub(crate) fn software() -> String {
    concat!("linerate ", env!("CARGO_PKG_VERSION")).to_owned()
}

#[derive(Default)]
struct Gathered {
    namespaces: Vec<Namespace>,
    closed: Vec<ClosedNamespace>,
    unseen: Vec<String>,
    anomalies: Vec<Anomaly>,
}

impl Gathered {
    fn namespaces(&mut self, which: &Which) -> Result<(), ReadError> {
        let own = netns::current_inode().ok();
        match which {
            Which::Own => self.add(namespace::read(None, own)),
            Which::Named(references) => {
                for reference in references {
                    let name = reference.to_string();
                    let read = || namespace::read(Some(name), netns::current_inode().ok());
                    self.add(netns::with_netns(reference, read)?);
                }
            }
            Which::All => {
                self.add(namespace::read(None, own));
                for other in namespaces::others(own) {
                    let (name, inode) = (other.name.clone(), Some(other.inode));
                    match netns::with_netns(&other.reference, || namespace::read(Some(name), inode)) {
                        Ok(read) => self.add(read),
                        Err(error) => {
                            self.closed.push(ClosedNamespace { name: other.name, inode, reason: words(&error) });
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, (namespace, anomalies): (Namespace, Vec<Anomaly>)) {
        self.namespaces.push(namespace);
        self.anomalies.extend(anomalies);
    }

    fn say_what_is_unseen(&mut self, which: &Which, found: &Found, disk: &Disk) {
        if matches!(which, Which::Own) {
            let others = namespaces::others(netns::current_inode().ok()).len();
            if others > 0 {
                self.unseen.push(format!("{others} other network namespaces (all of them: --all-netns)"));
            }
        }
        let hidden = namespaces::hidden_processes();
        if hidden > 0 {
            let how = if namespaces::is_privileged() { "" } else { " (as root)" };
            let words = format!("network namespaces of {hidden} processes that this one may not look into{how}");
            self.unseen.push(words);
        }
        if !self.closed.is_empty() {
            self.unseen.push(format!("what is in {} namespaces (with CAP_SYS_ADMIN)", self.closed.len()));
        }
        if !namespaces::is_privileged() {
            self.unseen.push("firewall rules and optics, which no snapshot holds, would take CAP_NET_ADMIN".to_owned());
        }
        for path in &found.denied {
            self.unseen.push(format!("{path} (as root)"));
        }
        if crate::provenance::has_rpm(disk) {
            self.unseen.push("packages of files: the data base of rpm is not read".to_owned());
        }
    }
}

/// Sysctls that exist, with their value, and options of modules: what definitions are compared with.
fn running(namespaces: &[Namespace], modules: &Fact<BTreeMap<String, String>>) -> BTreeMap<String, Option<String>> {
    let own = namespaces.first().into_iter().flat_map(|namespace| &namespace.sysctls);
    let sysctls = own.map(|(key, fact)| (key.clone(), fact.value().cloned()));
    let options = modules.value().into_iter().flatten();
    sysctls.chain(options.map(|(key, value)| (format!("module.{key}"), Some(value.clone())))).collect()
}

fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
