//! All facts of one host at one moment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::{MonoTime, WallTime};

use super::cpu::Cpus;
use super::fact::{Fact, Missing, Source};
use super::machine::Machine;
use super::namespace::{ClosedNamespace, Namespace};
use super::provenance::Provenance;
use super::service::Services;
use super::storage::{BlockDevice, ClockState};
use crate::plausible::{self, AdmitError};

/// All facts of one host at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// Version of this format; a reader refuses a newer one.
    pub format: u32,
    /// When, by the calendar.
    #[serde(rename = "taken_unix_ns")]
    pub taken: WallTime,
    /// When, by the monotonic clock of this boot; not known of what was read from text.
    #[serde(rename = "taken_mono_ns", default, skip_serializing_if = "Option::is_none")]
    pub taken_mono: Option<MonoTime>,
    /// What read it: `linerate 0.1.0`.
    pub software: String,
    /// How it was read.
    pub way: CollectionMethod,
    /// Which host it is.
    pub machine: Machine,
    /// CPUs with their sockets, NUMA nodes, governors and idle states.
    pub processors: Cpus,
    /// The network namespaces; the first is that of the reader.
    pub namespaces: Vec<Namespace>,
    /// Namespaces that exist and could not be entered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_namespaces: Vec<ClosedNamespace>,
    /// Disks.
    #[serde(default = "storage_not_read")]
    pub storage: Fact<Vec<BlockDevice>>,
    /// How the clock stands.
    #[serde(default = "clock_not_read")]
    pub clock: Fact<ClockState>,
    /// Programs that change settings by themselves.
    pub services: Services,
    /// Options of loaded kernel modules that matter to the network, as `module.option`.
    pub module_options: Fact<BTreeMap<String, String>>,
    /// Which file sets which value at boot.
    pub provenance: Fact<Provenance>,
    /// What a reader with more privilege would see besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// What was not understood in files and in other programs' output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<Anomaly>,
}

fn storage_not_read() -> Fact<Vec<BlockDevice>> {
    Fact::missing(Missing::Absent, Source(EARLIER.to_owned()))
}

fn clock_not_read() -> Fact<ClockState> {
    Fact::missing(Missing::Absent, Source(EARLIER.to_owned()))
}

const EARLIER: &str = "an earlier linerate, which did not read it";

/// How a snapshot was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CollectionMethod {
    /// From the running kernel, with all privileges.
    Privileged,
    /// From the running kernel, without privilege.
    Unprivileged,
    /// From outputs of other programs that somebody saved.
    SavedOutputs,
    /// From an archive of sosreport.
    Sosreport,
}

/// Something that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Anomaly {
    /// Saved file that was read.
    pub file: String,
    /// The line, from 1; none where it is of the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
}

/// Which host and network namespace something was worked out for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostIdentity {
    /// The host's name.
    pub name: String,
    /// The boot; not known of what was read from text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The number of the network namespace of the reader, which means something within one boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub netns_inode: Option<u64>,
}

impl HostIdentity {
    /// Why something that was worked out for `self` does not fit `here`; nothing where it does.
    #[must_use]
    pub fn misfit(&self, here: &Self) -> Option<String> {
        if self.name != here.name {
            let [theirs, ours] = [&self.name, &here.name].map(|name| foreign::terminal::line(name));
            return Some(format!("it was made for {theirs}, and this is {ours}"));
        }
        let same_boot = self.boot_id.is_some() && self.boot_id == here.boot_id;
        let other_namespace = self.netns_inode.zip(here.netns_inode).is_some_and(|(theirs, ours)| theirs != ours);
        (same_boot && other_namespace).then(|| "it was made for another network namespace of this host".to_owned())
    }
}

/// Why a stranger's snapshot is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotReadError {
    /// It is no snapshot, or a number in it is beyond what is real.
    #[error(transparent)]
    Form(#[from] AdmitError),
    /// A newer program wrote it.
    #[error("it has format {found}, and this program reads {} and below", Snapshot::FORMAT)]
    Newer {
        /// Format that the document states.
        found: u32,
    },
    /// A device has a name that no kernel gives.
    #[error(
        "`{}` in {place} is not the name of a network device: up to 15 characters, no slash, colon, blank or control character",
        foreign::terminal::line(name)
    )]
    Device {
        /// Name as the document has it, with control characters made visible.
        name: String,
        /// Where it stands.
        place: String,
    },
}

impl Snapshot {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;

    /// Reads the snapshot of a host that may be a stranger's: numbers have to be plausible and names of devices such as
    /// a kernel gives. What a host says of itself may hold anything else; whoever prints or quotes it goes through
    /// [`foreign`].
    ///
    /// # Errors
    /// See [`SnapshotReadError`].
    pub fn read(bytes: &[u8]) -> Result<Self, SnapshotReadError> {
        let snapshot: Self = plausible::read(bytes)?;
        if snapshot.format > Self::FORMAT {
            return Err(SnapshotReadError::Newer { found: snapshot.format });
        }
        snapshot.check_names()?;
        Ok(snapshot)
    }

    /// Which host and network namespace it is of.
    #[must_use]
    pub fn identity(&self) -> HostIdentity {
        HostIdentity {
            name: self.machine.name.value().cloned().unwrap_or_default(),
            boot_id: self.machine.boot_id.value().cloned(),
            netns_inode: self.own().and_then(|own| own.inode),
        }
    }

    /// Checks the names of all devices.
    ///
    /// # Errors
    /// The first that no kernel gives.
    pub fn check_names(&self) -> Result<(), SnapshotReadError> {
        for (namespace, interface) in self.interfaces() {
            if !foreign::device::is_name(&interface.name) {
                let place = namespace.name.clone().unwrap_or_else(|| "the host's own namespace".to_owned());
                return Err(SnapshotReadError::Device { name: interface.name.clone(), place });
            }
        }
        Ok(())
    }

    /// The namespace of the reader.
    #[must_use]
    pub fn own(&self) -> Option<&Namespace> {
        self.namespaces.first()
    }

    /// All interfaces of all namespaces, each with its namespace.
    pub fn interfaces(&self) -> impl Iterator<Item = (&Namespace, &super::interface::Interface)> {
        self.namespaces
            .iter()
            .flat_map(|namespace| namespace.interfaces.iter().map(move |interface| (namespace, interface)))
    }
}
