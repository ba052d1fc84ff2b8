//! Which network namespaces there are: those with a name, and those of processes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use linux::netns::{self, NetnsRef};

/// A namespace other than that of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) name: String,
    pub(crate) inode: u64,
    pub(crate) reference: NetnsRef,
}

/// All namespaces but `own`, each once; a name of `ip netns` or Docker before the number of a process.
pub(crate) fn others(own: Option<u64>) -> Vec<Other> {
    let named = netns::list().into_iter();
    let mut found: Vec<Other> = named
        .map(|known| Other { name: known.name, inode: known.inode, reference: NetnsRef::Path(known.path) })
        .collect();
    for pid in processes() {
        if let Ok(inode) = inode_of(pid) {
            found.push(Other { name: format!("pid:{pid}"), inode, reference: NetnsRef::Pid(pid) });
        }
    }
    let mut seen: Vec<u64> = own.into_iter().collect();
    found.retain(|other| {
        let is_new = !seen.contains(&other.inode);
        seen.push(other.inode);
        is_new
    });
    found.truncate(MAX_NAMESPACES);
    found
}

/// How many processes do not let this one see their namespace.
pub(super) fn hidden_processes() -> usize {
    let is_hidden = |pid: &u32| inode_of(*pid).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    processes().iter().filter(|pid| is_hidden(pid)).count()
}

/// Whether this process has the capabilities that reading everything takes.
pub(super) fn is_privileged() -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or_default();
    NEEDED.iter().all(|bit| effective & 1 << bit != 0)
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let mut pids: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

fn inode_of(pid: u32) -> io::Result<u64> {
    fs::metadata(format!("/proc/{pid}/ns/net")).map(|metadata| metadata.ino())
}

/// `CAP_NET_ADMIN`, `CAP_SYS_PTRACE` and `CAP_SYS_ADMIN` (include/uapi/linux/capability.h).
const NEEDED: [u32; 3] = [12, 19, 21];

/// Most namespaces of one snapshot.
const MAX_NAMESPACES: usize = 4_096;
