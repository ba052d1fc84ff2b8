//! One network namespace that is watched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use linux::monitor::{FileEventDetail, FileMonitor, NetworkMonitor};
use linux::netns::{self, NetnsRef};
use model::host::namespace::Namespace;
use model::host::snapshot::Snapshot;

use super::besides::NetworkState;
use super::listener::{Ears, Listener};
use crate::live::part::{Parts, Reach, host_directories, queue_directories, refresh, sysctl_directories};
use crate::live::sysfs::Sysfs;

/// A namespace with what listens there. Its sockets keep the namespace, so whoever watches looks whether it is still
/// somebody's ([`Place::is_gone`]).
pub(super) struct Place {
    /// What the listener calls it.
    pub(super) number: u32,
    pub(super) inode: u64,
    /// How to get there; none for the namespace of this process.
    reference: Option<NetnsRef>,
    ears: Arc<Ears>,
    sysfs: Sysfs,
}

/// What is heard, and what is not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Deafness(pub(super) Vec<String>);

impl Place {
    /// Begins to listen to a namespace.
    pub(super) fn open(
        listener: &mut Listener,
        reference: Option<NetnsRef>,
        inode: u64,
        queue_bytes: usize,
    ) -> Result<(Self, Deafness), String> {
        let mut deaf = Deafness::default();
        let (ears, sysfs) = within(reference.as_ref(), || (Ears::open(inode, queue_bytes, &mut deaf), Sysfs::open()))?;
        let (number, ears) = listener.add(ears).map_err(|error| error.to_string())?;
        Ok((Self { number, inode, reference, ears, sysfs }, deaf))
    }

    /// A namespace that was found by a process has got a name, or lost it.
    pub(super) fn is_now_called(&mut self, reference: &NetnsRef) {
        self.reference = Some(reference.clone());
    }

    /// Whether writers of files are told.
    pub(super) fn tells(&self) -> Option<FileEventDetail> {
        self.ears.files.as_ref().map(FileMonitor::detail)
    }

    /// Whether the namespace has no name and no process any more by which it was found.
    pub(super) fn is_gone(&self) -> bool {
        let path = match &self.reference {
            None => return false,
            Some(NetnsRef::Path(path)) => path.clone(),
            Some(NetnsRef::Pid(pid)) => format!("/proc/{pid}/ns/net").into(),
            // References of a watcher are paths or processes.
            Some(NetnsRef::Name(name)) => format!("/run/netns/{name}").into(),
        };
        fs::metadata(path).map_or(true, |metadata| metadata.ino() != self.inode)
    }

    /// Watches the files of all settings that the namespace has now. Tells how many directories of them are new: what was
    /// written to those since they were read was not heard.
    pub(super) fn mark(&self, snapshot: &Snapshot) -> Result<usize, String> {
        let Some(files) = &self.ears.files else { return Ok(0) };
        let is_this = |(_, namespace): &(usize, &Namespace)| namespace.inode == Some(self.inode);
        let Some((index, namespace)) = snapshot.namespaces.iter().enumerate().find(is_this) else { return Ok(0) };
        let reach = if index == 0 { Reach::Host } else { Reach::Namespace };
        let mut wanted: Vec<PathBuf> =
            self.mounts_of_proc(reach).iter().flat_map(|proc| sysctl_directories(namespace, reach, proc)).collect();
        if reach == Reach::Host {
            wanted.extend(host_directories(snapshot));
        }
        within(self.reference.as_ref(), || {
            wanted.extend(queue_directories(namespace, &self.sysfs));
            files.watch(&wanted).map_err(|error| format!("not all files can be watched: {error}"))
        })?
    }

    /// A container writes through a mount of proc of its own, whose files are others.
    fn mounts_of_proc(&self, reach: Reach) -> Vec<String> {
        let mut mounts = vec!["/proc".to_owned()];
        if let (Some(NetnsRef::Pid(pid)), Reach::Namespace) = (&self.reference, reach) {
            let theirs = format!("/proc/{pid}/root/proc");
            let device = |path: &str| fs::metadata(path).map(|metadata| metadata.dev()).ok();
            if device(&theirs).is_some_and(|other| Some(other) != device("/proc")) {
                mounts.push(theirs);
            }
        }
        mounts
    }

    /// Reads what is watched besides settings.
    pub(super) fn network_state(&self) -> Option<NetworkState> {
        within(self.reference.as_ref(), NetworkState::read).ok()
    }

    /// Reads parts of the namespace again.
    pub(super) fn refresh(&self, namespace: &mut Namespace, parts: &Parts) -> Result<(), String> {
        within(self.reference.as_ref(), || refresh(namespace, parts))
    }
}

impl Ears {
    fn open(inode: u64, queue_bytes: usize, deaf: &mut Deafness) -> Self {
        let network = NetworkMonitor::open(queue_bytes);
        let files = FileMonitor::open();
        if let Err(error) = &network {
            deaf.0.push(format!("changes of devices, routes and queues are not told: {error}"));
        }
        if let Err(error) = &files {
            deaf.0.push(format!("writes to /proc and /sys are not told: {error}"));
        }
        if network.as_ref().is_ok_and(|network| !network.hears_drivers()) {
            deaf.0.push("this kernel does not tell of changes in drivers (since Linux 5.6)".to_owned());
        }
        Self { inode, network: network.ok(), files: files.ok() }
    }
}

/// Does something in a namespace.
fn within<T: Send>(reference: Option<&NetnsRef>, work: impl FnOnce() -> T + Send) -> Result<T, String> {
    match reference {
        None => Ok(work()),
        Some(reference) => netns::with_netns(reference, work).map_err(|error| error.to_string()),
    }
}

/// The names of the devices of a namespace by their numbers.
pub(super) fn device_names(namespace: &Namespace) -> BTreeMap<u32, String> {
    namespace
        .interfaces
        .iter()
        .filter_map(|interface| Some((interface.link.value()?.index, interface.name.clone())))
        .collect()
}
