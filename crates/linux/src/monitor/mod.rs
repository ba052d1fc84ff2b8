//! Being told when a setting is changed, and by whom where the kernel tells.
//!
//! * [`NetworkMonitor`]: devices, addresses, routes, queueing disciplines and drivers' settings of one network namespace
//! * [`FileMonitor`]: files of the kernel that are written to, such as those of /proc/sys
//! * [`seen_process`]: who a process is, as long as it is there
//!
//! Both monitors have a queue in the kernel that may run over. They say so, and whoever listens reads everything anew.

mod family;
mod fanotify;
mod files;
mod inotify;
mod network;
mod process;
#[cfg(test)]
mod tests;

pub use files::{FileEventDetail, FileMonitor, FileWrite};
pub use network::{NetworkChange, NetworkMonitor, What};
pub use process::{SeenProcess, allow_many_files, netlink_process, seen_process};

/// Whether the kernel had to drop what it had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It did not.
    Everything,
    /// It did: what changed has to be found out by reading everything.
    NotEverything,
}
