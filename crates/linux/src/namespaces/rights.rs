//! Whether this process may make namespaces, and how it gets there without root.

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use crate::netns::{become_root_inside, unshare};

/// Why hosts cannot be made here.
#[derive(Debug, thiserror::Error)]
pub enum RightsError {
    /// Neither the capabilities nor a way to get them.
    #[error(
        "making network namespaces takes {missing}, which this process lacks, or a user namespace, which it may not make"
    )]
    Denied {
        /// The capabilities that are missing.
        missing: String,
        /// What the kernel says about a user namespace.
        source: io::Error,
    },
    /// The capabilities of this process cannot be read.
    #[error("cannot read /proc/thread-self/status")]
    Unreadable {
        /// Why not.
        source: io::Error,
    },
}

/// Where the rights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The process had them.
    Had,
    /// It is root of a user namespace of its own now.
    UserNamespace,
}

/// The names of the capabilities that making hosts takes and that the calling thread lacks.
///
/// # Errors
/// What reading /proc gives.
pub fn missing() -> io::Result<Vec<&'static str>> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    let effective = effective.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no line CapEff"))?;
    Ok(NEEDED.into_iter().filter(|(_, bit)| effective & (1 << bit) == 0).map(|(name, _)| name).collect())
}

/// Has this process be able to make hosts: as it is, or as root of a fresh user namespace, which takes that it has one
/// thread only.
///
/// # Errors
/// See [`RightsError`]. The process is as before then.
pub fn acquire() -> Result<Source, RightsError> {
    let missing = missing().map_err(|source| RightsError::Unreadable { source })?;
    if missing.is_empty() {
        return Ok(Source::Had);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER)
        .map_err(io::Error::from)
        .and_then(|()| become_root_inside(user, group))
        .map_err(|source| RightsError::Denied { missing: missing.join(" and "), source })?;
    Ok(Source::UserNamespace)
}

/// The user that this process acts for, as its own user namespace numbers it.
#[must_use]
pub fn user() -> u32 {
    geteuid().as_raw()
}

/// The user that this process acts for, as the next outer user namespace numbers it: who is root by a user namespace is
/// not that of the machine.
#[must_use]
pub fn outer_user() -> u32 {
    let own = user();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let outer = map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u32>().ok());
        let [inside, outside, count] = [numbers.next()??, numbers.next()??, numbers.next()??];
        let offset = own.checked_sub(inside).filter(|offset| *offset < count)?;
        outside.checked_add(offset)
    });
    outer.unwrap_or(own)
}

/// include/uapi/linux/capability.h
const NEEDED: [(&str, u32); 2] = [("CAP_SYS_ADMIN", 21), ("CAP_NET_ADMIN", 12)];
