//! Kernel settings of a network namespace, through /proc/sys/net. The calling thread is in the host.

use std::fs::OpenOptions;
use std::io::{self, Write};

/// What is wrong with a kernel setting.
#[derive(Debug, thiserror::Error)]
pub enum SysctlTrouble {
    /// The kernel has none of this name.
    #[error("does not exist in this kernel")]
    Absent,
    /// It is one for the whole machine, which a lab does not touch.
    #[error("is one of the whole machine: only those of a network namespace can be set for a host")]
    OfTheMachine,
    /// It has that name, but no such value.
    #[error("cannot be `{value}`: {source}")]
    Value {
        /// Value that the kernel refused.
        value: String,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The file of a setting, by its name with dots; one with slashes keeps dots within its parts (sysctl(8)). [`None`] for
/// what is no name.
pub(super) fn file(key: &str) -> Option<String> {
    let path = if key.contains('/') { key.to_owned() } else { key.replace('.', "/") };
    let is_name = path.split('/').all(|part| !part.is_empty() && part != "..");
    is_name.then(|| format!("/proc/sys/{path}"))
}

/// Sets one.
pub(super) fn set(key: &str, value: &str) -> Result<(), SysctlTrouble> {
    let file = file(key).ok_or(SysctlTrouble::Absent)?;
    if !file.starts_with("/proc/sys/net/") {
        return Err(if std::path::Path::new(&file).exists() {
            SysctlTrouble::OfTheMachine
        } else {
            SysctlTrouble::Absent
        });
    }
    let opened = OpenOptions::new().write(true).open(&file);
    let mut opened = opened.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => SysctlTrouble::Absent,
        // A namespace sees some settings of the machine, but may only read them.
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => SysctlTrouble::OfTheMachine,
        _ => SysctlTrouble::Value { value: value.to_owned(), source },
    })?;
    // One write: the kernel takes each as a whole value.
    opened.write_all(value.as_bytes()).map_err(|source| match source.kind() {
        io::ErrorKind::PermissionDenied => SysctlTrouble::OfTheMachine,
        _ => SysctlTrouble::Value { value: value.to_owned(), source },
    })
}

/// Whether a setting is one of the device, which has to exist first.
pub(super) fn is_of_device(key: &str, device: &str) -> bool {
    let parts: Vec<&str> = if key.contains('/') { key.split('/').collect() } else { key.split('.').collect() };
    parts.get(2).is_some_and(|part| matches!(*part, "conf" | "neigh")) && parts.get(3) == Some(&device)
}

/// Has addresses of IPv6 work at once and nobody ask for routers, since the addresses and routes of a lab are given
/// (Documentation/networking/ip-sysctl.rst). A kernel without IPv6 has nothing to set.
pub(super) fn quieten_ipv6() -> Result<(), (String, SysctlTrouble)> {
    if !std::path::Path::new("/proc/sys/net/ipv6").exists() {
        return Ok(());
    }
    for group in ["all", "default"] {
        for (name, value) in [("accept_dad", "0"), ("accept_ra", "0"), ("router_solicitations", "0")] {
            let key = format!("net.ipv6.conf.{group}.{name}");
            set(&key, value).map_err(|trouble| (key, trouble))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_files_and_cannot_leave_their_directory() {
        assert_eq!(file("net.ipv4.tcp_rmem").unwrap(), "/proc/sys/net/ipv4/tcp_rmem");
        assert_eq!(file("net/ipv6/conf/eth0.10/mtu").unwrap(), "/proc/sys/net/ipv6/conf/eth0.10/mtu");
        for wrong in ["", "net..ipv4", "net/../../etc/passwd", ".net"] {
            assert_eq!(file(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn settings_of_a_device_wait_for_it() {
        assert!(is_of_device("net.ipv4.conf.eth0.rp_filter", "eth0"));
        assert!(is_of_device("net/ipv6/conf/eth0.10/mtu", "eth0.10"));
        assert!(!is_of_device("net.ipv4.conf.all.rp_filter", "eth0"));
        assert!(!is_of_device("net.ipv4.tcp_rmem", "eth0"));
    }
}
