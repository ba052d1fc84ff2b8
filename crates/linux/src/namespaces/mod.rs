//! Hosts made of namespaces: network, mounts, processes, names and IPC of their own.
//!
//! A host's first process ([`Init`]) does nothing but be there: the kernel ends all processes of a host with it, however
//! they were started and wherever they went. It ends when the process that made it does, even by `kill -9`, so the
//! network devices and the namespaces of a host never outlive their maker.
//!
//! * [`separate`]: fresh namespaces for the calling thread
//! * [`Init`]: the first process of a host
//! * [`Entrance`]: starting programs in a host, from the process that made it or from any other
//! * [`process`]: processes of others, found again and ended
//! * [`rights`]: whether this process may do all that, and how it gets there without root

mod entrance;
mod init;
pub mod process;
pub mod rights;

use std::io;

use rustix::thread::UnshareFlags;

use crate::netns::unshare;

pub use entrance::Entrance;
pub use init::{DutyCycle, Init};

/// Moves the calling thread into fresh namespaces of network, mounts, host name, System V IPC, and its children into
/// one of processes. The first child must be an [`Init`]; the thread can start no other threads any more.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`, `ENOSPC` where there are too many namespaces (`user.max_net_namespaces` and others).
pub fn separate() -> io::Result<()> {
    let kinds =
        UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWUTS | UnshareFlags::NEWIPC | UnshareFlags::NEWPID;
    Ok(unshare(kinds)?)
}

/// Sets the name of the host in which the calling thread is.
///
/// # Errors
/// `EINVAL` for a name of more than 64 bytes, `EPERM` without `CAP_SYS_ADMIN` over it.
pub fn set_host_name(name: &str) -> io::Result<()> {
    Ok(rustix::system::sethostname(name.as_bytes())?)
}

#[cfg(test)]
mod tests;
