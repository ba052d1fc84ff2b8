//! Whose a socket is: the process that has its file open, its user, its container.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Duration;

use model::transfer::SocketOwner;
use passive::owner;
use units::MonoTime;

/// What the kernel says of a socket's owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketFile {
    pub(super) inode: u32,
    pub(super) uid: u32,
}

/// Owners by the number of the socket's file.
#[derive(Debug, Default)]
pub(super) struct Owners {
    known: HashMap<u32, SocketOwner>,
    users: HashMap<u32, String>,
    searched: Option<MonoTime>,
    /// Files that a search did not find: their processes may not be looked at, or have gone.
    missing: HashSet<u32>,
}

impl Owners {
    /// Looks for owners that are not known yet. Going through all processes takes some milliseconds, so it is done at most
    /// once in [`SEARCH_EVERY`].
    pub(super) fn search(&mut self, inodes: impl Iterator<Item = u32>, now: MonoTime) {
        let wanted: HashSet<u32> = inodes
            .filter(|inode| *inode != 0 && !self.known.contains_key(inode) && !self.missing.contains(inode))
            .collect();
        let is_soon = self.searched.is_some_and(|last| now.since(last) < SEARCH_EVERY);
        if wanted.is_empty() || is_soon {
            return;
        }
        self.searched = Some(now);
        if self.known.len() + self.missing.len() > MOST_KNOWN {
            self.known.clear();
            self.missing.clear();
        }
        let found = processes_of(&wanted);
        self.missing.extend(wanted.into_iter().filter(|inode| !found.contains_key(inode)));
        self.known.extend(found);
    }

    /// The owner of a socket, as far as it is known: of a process that may not be looked at, the user.
    pub(super) fn of(&mut self, file: SocketFile) -> SocketOwner {
        let SocketFile { inode, uid } = file;
        let user = self.user(uid);
        match self.known.get(&inode) {
            Some(owner) => SocketOwner { user, ..owner.clone() },
            None => SocketOwner { user, ..SocketOwner::default() },
        }
    }

    /// Whether there were sockets whose process could not be found.
    pub(super) fn has_hidden(&self) -> bool {
        !self.missing.is_empty()
    }

    fn user(&mut self, uid: u32) -> String {
        let name = || {
            let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
            owner::user(&passwd, uid).unwrap_or_else(|| uid.to_string())
        };
        self.users.entry(uid).or_insert_with(name).clone()
    }
}

/// The processes that have these sockets open. A process that ends meanwhile has none.
fn processes_of(wanted: &HashSet<u32>) -> HashMap<u32, SocketOwner> {
    let mut found: HashMap<u32, SocketOwner> = HashMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    for process in processes {
        if found.len() == wanted.len() {
            break;
        }
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().filter_map(Result::ok);
        let mut owner = None;
        for file in files.take(MOST_FILES) {
            let Some(inode) = socket_of(&file.path()).filter(|inode| wanted.contains(inode)) else { continue };
            let owner = owner.get_or_insert_with(|| describe(pid));
            found.entry(inode).or_insert_with(|| owner.clone());
        }
    }
    found
}

/// The number in `socket:[12345]`.
fn socket_of(file: &std::path::Path) -> Option<u32> {
    let target = fs::read_link(file).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn describe(pid: u32) -> SocketOwner {
    let text = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    SocketOwner {
        pid: Some(pid),
        program: text("comm").map(|name| name.trim_end().to_owned()),
        user: String::new(),
        container: text("cgroup").and_then(|groups| owner::container(&groups)),
    }
}

const SEARCH_EVERY: Duration = Duration::from_secs(2);
const MOST_KNOWN: usize = 16_384;
/// A process with more open files than these has sockets beyond them that are not found.
const MOST_FILES: usize = 65_536;
