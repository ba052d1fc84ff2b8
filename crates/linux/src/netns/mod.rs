//! Network namespaces: naming them, entering them, making fresh ones.
//!
//! The namespace belongs to a thread, not to the process: entering one affects only what the calling thread opens from
//! then on. Sockets stay where they were opened. Files under `/proc/net` are of the main thread, those under
//! `/proc/thread-self/net` of the calling one; `/sys/class/net` shows the namespace in which sysfs was mounted.

mod fresh;
mod reference;

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::fstatfs;
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

pub(crate) use fresh::{become_root_inside, unshare};
pub use fresh::{bring_up_loopback, in_fresh_netns, isolate, unshare_user_net};
pub use reference::{NetnsRef, NetnsRefError};

/// An open network namespace. It exists at least as long as this.
#[derive(Debug)]
pub struct Netns {
    file: OwnedFd,
    reference: NetnsRef,
}

impl Netns {
    /// Opens the namespace that `reference` names.
    ///
    /// # Errors
    /// See [`NetnsError`].
    pub fn open(reference: &NetnsRef) -> Result<Self, NetnsError> {
        let candidates = reference.candidates();
        let mut outcome = Err(NetnsError::Absent { reference: reference.clone(), looked_at: candidates.clone() });
        for path in candidates {
            match fs::File::open(&path) {
                Ok(file) => {
                    let netns = Self { file: file.into(), reference: reference.clone() };
                    return if netns.is_network_namespace() {
                        Ok(netns)
                    } else {
                        Err(NetnsError::NotANetns { reference: reference.clone(), path })
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => outcome = Err(NetnsError::from_open(reference, error)),
            }
        }
        outcome
    }

    /// Moves the calling thread into the namespace (`setns`).
    ///
    /// # Errors
    /// [`NetnsError::Denied`] without `CAP_SYS_ADMIN` over the namespace.
    pub fn enter(&self) -> Result<(), NetnsError> {
        let outcome = move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network));
        outcome.map_err(|errno| match errno {
            Errno::PERM => {
                NetnsError::Denied { reference: self.reference.clone(), needs: "CAP_SYS_ADMIN", source: errno.into() }
            }
            _ => NetnsError::Failed { reference: self.reference.clone(), source: errno.into() },
        })
    }

    /// Whether the open file is a namespace, and one of the network (`NS_GET_NSTYPE`, since Linux 4.11).
    fn is_network_namespace(&self) -> bool {
        // The request means something else to other files, so it is made to namespaces only.
        if !fstatfs(&self.file).is_ok_and(|status| u64::try_from(status.f_type) == Ok(NSFS_MAGIC)) {
            return false;
        }
        // SAFETY: the request takes no argument, and the file is a namespace, as was just checked.
        let kind = unsafe { libc::ioctl(self.file.as_raw_fd(), NS_GET_NSTYPE) };
        kind == libc::CLONE_NEWNET
    }
}

/// Why a network namespace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NetnsError {
    /// There is none by that name.
    #[error("network namespace {reference} does not exist (looked at {})", shown(looked_at))]
    Absent {
        /// What was asked for.
        reference: NetnsRef,
        /// The files that would have been it.
        looked_at: Vec<PathBuf>,
    },
    /// It exists, but this process may not use it.
    #[error("network namespace {reference} may not be used without {needs}")]
    Denied {
        /// What was asked for.
        reference: NetnsRef,
        /// The privilege it would take.
        needs: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file exists, but it is something else.
    #[error("{} is not a network namespace", path.display())]
    NotANetns {
        /// What was asked for.
        reference: NetnsRef,
        /// File that could be opened, and is something else.
        path: PathBuf,
    },
    /// Anything else.
    #[error("cannot use network namespace {reference}")]
    Failed {
        /// What was asked for.
        reference: NetnsRef,
        /// What the kernel said.
        source: io::Error,
    },
    /// A fresh namespace could not be made.
    #[error("cannot make a fresh network namespace: {step} failed (needs {needs})")]
    Fresh {
        /// What was tried.
        step: &'static str,
        /// What it takes.
        needs: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl NetnsError {
    fn from_open(reference: &NetnsRef, source: io::Error) -> Self {
        let reference = reference.clone();
        if source.kind() == io::ErrorKind::PermissionDenied {
            let needs = match &reference {
                NetnsRef::Pid(_) => "CAP_SYS_PTRACE or being the owner of the process",
                NetnsRef::Name(_) | NetnsRef::Path(_) => "permission to read the file",
            };
            return Self::Denied { reference, needs, source };
        }
        Self::Failed { reference, source }
    }
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Runs `work` on a thread of its own inside the namespace and returns what it returns. A panic goes on in the caller.
///
/// # Errors
/// Why the namespace could not be entered; `work` has not run then.
pub fn with_netns<T: Send>(reference: &NetnsRef, work: impl FnOnce() -> T + Send) -> Result<T, NetnsError> {
    let netns = Netns::open(reference)?;
    on_scratch_thread(|| netns.enter(), work)
}

/// Runs `enter` and then `work` on a thread that ends with them.
fn on_scratch_thread<T: Send>(
    enter: impl FnOnce() -> Result<(), NetnsError> + Send,
    work: impl FnOnce() -> T + Send,
) -> Result<T, NetnsError> {
    thread::scope(|scope| {
        let scratch = scope.spawn(|| enter().map(|()| work()));
        scratch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A namespace that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedNetns {
    /// Its name, for [`NetnsRef::Name`].
    pub name: String,
    /// The file that keeps it.
    pub path: PathBuf,
    /// Its number: the same file or another with the same number is the same namespace.
    pub inode: u64,
}

/// The namespaces that have a name: those of `ip netns` and of Docker. Directories that do not exist or may not be read
/// count as empty, and files that keep no namespace (any more) are left out.
#[must_use]
pub fn list() -> Vec<NamedNetns> {
    let entries = reference::DIRECTORIES.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten();
    let mut known: Vec<NamedNetns> = entries.filter_map(|entry| named(&entry.ok()?.path())).collect();
    known.sort_by(|one, other| one.path.cmp(&other.path));
    // One of the directories may be a link to another.
    known.dedup_by(|one, other| one.name == other.name && one.inode == other.inode);
    known
}

fn named(path: &Path) -> Option<NamedNetns> {
    let name = path.file_name()?.to_str()?.to_owned();
    Netns::open(&NetnsRef::Path(path.to_owned())).ok()?;
    Some(NamedNetns { name, path: path.to_owned(), inode: fs::metadata(path).ok()?.ino() })
}

/// The number of the network namespace of the calling thread.
///
/// # Errors
/// What reading `/proc/thread-self/ns/net` gives.
pub fn current_inode() -> io::Result<u64> {
    fs::metadata("/proc/thread-self/ns/net").map(|metadata| metadata.ino())
}

const NSFS_MAGIC: u64 = 0x6e73_6673; // include/uapi/linux/magic.h
const NS_GET_NSTYPE: libc::Ioctl = 0xb703; // include/uapi/linux/nsfs.h

#[cfg(test)]
mod tests;
