//! Whose a lab is.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Whose a lab is: a person of this machine, and the directory in which that person's linerate keeps its state. Two
/// administrators who are both root are two persons; so are two test environments of one user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The user who logged in: `loginuid`, else `SUDO_UID`, else the user of the process.
    pub user: u32,
    /// The directory of state, as the archive's options and environment name it.
    pub state: PathBuf,
}

impl Owner {
    /// The owner of labs that this process starts. `archive` is the file in which its runs are kept.
    #[must_use]
    pub fn this_process(archive: Option<PathBuf>) -> Self {
        let directory = archive.and_then(|archive| Some(archive.parent()?.to_path_buf())).unwrap_or_default();
        let state = fs::canonicalize(&directory).unwrap_or(directory);
        Self { user: person(), state }
    }
}

fn person() -> u32 {
    let logged_in = fs::read_to_string("/proc/self/loginuid").ok().and_then(|text| text.trim().parse().ok());
    let by_sudo = || std::env::var("SUDO_UID").ok().and_then(|text| text.parse().ok());
    let own = linux::namespaces::rights::outer_user;
    logged_in.filter(|uid| *uid != NOBODY_LOGGED_IN).or_else(by_sudo).unwrap_or_else(own)
}

/// What the kernel gives for processes of no session (`AUDIT_UID_UNSET`, include/linux/audit.h).
const NOBODY_LOGGED_IN: u32 = u32::MAX;
