//! A network namespace in which work is done, and its devices and files.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use linux::facts::link::{self, Device};
use linux::netns::{self, NetnsRef};
use linux::{mounts, set::SetError};
use model::host::fix::captured::KernelFile;
use model::host::fix::names::{DeviceName, NamespaceName, SysctlKey};
use model::host::fix::sysctl;

use super::error::FixError;
use crate::files::read_bounded;
use crate::provenance::sysctl_d::one_blank;
use crate::recorded;

/// The namespace of the calling thread.
#[derive(Debug, Default)]
pub(super) struct Here {
    sysfs: OnceCell<Option<OwnedFd>>,
    /// The file of the hardware that this process is shown, where it is that of this namespace.
    hardware: Option<PathBuf>,
}

/// Runs `work` in a namespace; in that of this process where it has no name.
pub(super) fn inside<T: Send>(
    namespace: Option<&NamespaceName>,
    work: impl FnOnce(&Here) -> Result<T, FixError> + Send,
) -> Result<T, FixError> {
    match namespace {
        None => work(&Here::own()),
        Some(name) => netns::with_netns(&reference(name), || work(&Here::default()))?,
    }
}

/// Runs `work` in the namespace that has this number: the one of that name, or whichever has it by now.
pub(super) fn inside_same<T: Send>(
    namespace: Option<&NamespaceName>,
    inode: u64,
    work: impl FnOnce(&Here) -> Result<T, FixError> + Send,
) -> Result<T, FixError> {
    let own = netns::current_inode().ok();
    if own == Some(inode) {
        return work(&Here::own());
    }
    let named = namespace.map(reference).filter(|name| inode_of(name) == Some(inode));
    let found = named.or_else(|| {
        let known = netns::list().into_iter().find(|known| known.inode == inode);
        known.map(|known| NetnsRef::Path(known.path)).or_else(|| of_process(inode))
    });
    let gone = || FixError::Another {
        what: namespace.map_or("the network namespace".to_owned(), |name| format!("network namespace {name}")),
    };
    netns::with_netns(&found.ok_or_else(gone)?, || work(&Here::default()))?
}

fn inode_of(reference: &NetnsRef) -> Option<u64> {
    netns::with_netns(reference, || netns::current_inode().ok()).ok().flatten()
}

/// A process in the namespace of this number.
fn of_process(inode: u64) -> Option<NetnsRef> {
    use std::os::unix::fs::MetadataExt;
    let mut pids =
        fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_in = |pid: &u32| fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|file| file.ino() == inode);
    pids.find(is_in).map(NetnsRef::Pid)
}

/// The namespace as the kernel's interface wants it. There is no way to a path.
fn reference(name: &NamespaceName) -> NetnsRef {
    match name.as_str().strip_prefix("pid:").and_then(|pid| pid.parse().ok()) {
        Some(pid) => NetnsRef::Pid(pid),
        None => NetnsRef::Name(name.as_str().to_owned()),
    }
}

impl Here {
    /// The namespace of this process.
    fn own() -> Self {
        let hardware = std::env::var_os(recorded::VARIABLE).map(PathBuf::from);
        Self { hardware, ..Self::default() }
    }

    /// The file of the hardware that stands for this namespace's.
    pub(super) fn shown_hardware(&self) -> Option<PathBuf> {
        self.hardware.clone()
    }

    /// The number of this namespace.
    pub(super) fn inode(&self) -> Result<u64, FixError> {
        let unknown = |source| FixError::File { what: "the network namespace".to_owned(), source };
        netns::current_inode().map_err(unknown)
    }

    /// All devices.
    pub(super) fn devices(&self) -> Result<Vec<Device>, FixError> {
        link::read().map_err(|error| FixError::Set(SetError::Unavailable(error)))
    }

    /// The device called `name`.
    pub(super) fn device(&self, name: &DeviceName) -> Result<Device, FixError> {
        let missing = || FixError::File {
            what: format!("network device {name}"),
            source: io::Error::new(io::ErrorKind::NotFound, "there is none of that name in this namespace"),
        };
        self.devices()?.into_iter().find(|device| device.name == name.as_str()).ok_or_else(missing)
    }

    /// The number of the device called `name`.
    pub(super) fn index(&self, name: &DeviceName) -> Result<u32, FixError> {
        Ok(self.device(name)?.link.index)
    }

    /// The numbers of devices by their names.
    pub(super) fn indices(&self) -> Result<BTreeMap<String, u32>, FixError> {
        Ok(self.devices()?.into_iter().map(|device| (device.name, device.link.index)).collect())
    }

    pub(super) fn read_sysctl(&self, key: &SysctlKey) -> Result<String, FixError> {
        let wrong = |source| FixError::File { what: key.to_string(), source };
        let content = read_bounded(&sysctl_path(key)).map_err(wrong)?;
        Ok(one_blank(&String::from_utf8_lossy(&content)))
    }

    pub(super) fn write_sysctl(&self, key: &SysctlKey, value: &str) -> Result<(), FixError> {
        let wrong = |source| FixError::File { what: format!("write {value} to {key}"), source };
        write_whole(&sysctl_path(key), value).map_err(wrong)
    }

    pub(super) fn read_file(&self, file: &KernelFile) -> Result<String, FixError> {
        let content = read_bounded(&self.path(file)?);
        let content = content.map_err(|source| FixError::File { what: file.to_string(), source })?;
        Ok(String::from_utf8_lossy(&content).trim().to_owned())
    }

    pub(super) fn write_file(&self, file: &KernelFile, content: &str) -> Result<(), FixError> {
        let wrong = |source| FixError::File { what: format!("write {content} to {file}"), source };
        write_whole(&self.path(file)?, content).map_err(wrong)
    }

    /// The directory of a device below `/sys/class/net` of this namespace.
    pub(super) fn directory(&self, name: &DeviceName) -> Result<PathBuf, FixError> {
        let own = self.sysfs.get_or_init(|| mounts::detached_sysfs_to_write().ok());
        let base = match own {
            Some(mount) => PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())),
            None => PathBuf::from("/sys"),
        };
        let directory = base.join("class/net").join(name.as_str());
        let device = self.device(name)?;
        let shows = |file: &str, expected: Option<String>| {
            let found = fs::read_to_string(directory.join(file)).ok();
            expected.is_none() || found.map(|text| text.trim().to_owned()) == expected
        };
        if shows("ifindex", Some(device.link.index.to_string())) && shows("address", device.link.address) {
            return Ok(directory);
        }
        let other = io::Error::new(io::ErrorKind::PermissionDenied, "/sys shows the devices of another namespace");
        Err(FixError::File { what: format!("queues of {name}"), source: other })
    }

    fn path(&self, file: &KernelFile) -> Result<PathBuf, FixError> {
        Ok(match file {
            KernelFile::Interrupt { number } => format!("/proc/irq/{number}/smp_affinity_list").into(),
            KernelFile::Steering { device, queue } => {
                self.directory(device)?.join(format!("queues/rx-{queue}/rps_cpus"))
            }
            KernelFile::Sending { device, queue } => {
                self.directory(device)?.join(format!("queues/tx-{queue}/xps_cpus"))
            }
            KernelFile::Governor { cpu } => format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor").into(),
            KernelFile::IdleState { cpu, state } => format!("{CPUS}/cpu{cpu}/cpuidle/state{state}/disable").into(),
            KernelFile::Smt {} => format!("{CPUS}/smt/control").into(),
        })
    }
}

fn sysctl_path(key: &SysctlKey) -> PathBuf {
    PathBuf::from("/proc/sys").join(sysctl::file(key.as_str()))
}

/// Writes all of `content` with one call, as files of the kernel want it.
fn write_whole(path: &std::path::Path, content: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    let written = file.write(content.as_bytes())?;
    if written == content.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

pub(super) const CPUS: &str = "/sys/devices/system/cpu";
