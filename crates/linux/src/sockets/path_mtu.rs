//! Path MTU discovery of a socket, and what it has found.

use std::io;
use std::os::fd::AsFd;

use units::Mtu;

use super::Family;
use super::address::family;
use super::option::{self, SocketOption};

/// How a socket deals with packets larger than the path takes (`IP_MTU_DISCOVER`, `IPV6_MTU_DISCOVER`;
/// include/uapi/linux/in.h of 6.18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathMtuDiscovery {
    /// Fragments, never sets the don't-fragment bit (`IP_PMTUDISC_DONT`).
    Fragment,
    /// Obeys what is known of the route; the kernel's default (`IP_PMTUDISC_WANT`).
    PerRoute,
    /// Always sets don't-fragment; too large a datagram is refused with `EMSGSIZE` (`IP_PMTUDISC_DO`).
    Always,
    /// Sets don't-fragment but ignores what is known of the path, to probe it (`IP_PMTUDISC_PROBE`).
    Probe,
    /// Ignores path MTU messages and uses the MTU of the interface (`IP_PMTUDISC_INTERFACE`).
    Interface,
    /// As `Interface`, but fragments (`IP_PMTUDISC_OMIT`).
    InterfaceOrFragment,
}

/// Sets how the socket deals with packets larger than the path takes.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_path_mtu_discovery(fd: impl AsFd, discovery: PathMtuDiscovery) -> io::Result<()> {
    let index = MODES.iter().position(|&mode| mode == discovery).unwrap_or_default();
    let value = option::int_from(index)?;
    // An IPv6 socket may carry IPv4, which has its own setting.
    if family(&fd)? == Family::V6 {
        option::write_int(fd.as_fd(), SocketOption::ipv6(libc::IPV6_MTU_DISCOVER), value)?;
        return option::write_int_where_carried(fd.as_fd(), SocketOption::ip(libc::IP_MTU_DISCOVER), value);
    }
    option::write_int(fd.as_fd(), SocketOption::ip(libc::IP_MTU_DISCOVER), value)
}

/// How the socket deals with packets larger than the path takes; of an IPv6 socket with its IPv6 packets.
///
/// # Errors
/// What `getsockopt` gives; `InvalidData` for a mode that is not known here.
pub fn path_mtu_discovery(fd: impl AsFd) -> io::Result<PathMtuDiscovery> {
    let option = match family(&fd)? {
        Family::V4 => SocketOption::ip(libc::IP_MTU_DISCOVER),
        Family::V6 => SocketOption::ipv6(libc::IPV6_MTU_DISCOVER),
    };
    let mode = option::read_int(fd.as_fd(), option)?;
    let mode = usize::try_from(mode).ok().and_then(|index| MODES.get(index));
    mode.copied().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a mode of MTU discovery not known here"))
}

/// The MTU of the path of a connected socket as the kernel knows it now (`IP_MTU`, `IPV6_MTU`).
///
/// # Errors
/// `ENOTCONN` where the socket is not connected; `InvalidData` for a number that is no MTU.
pub fn path_mtu(fd: impl AsFd) -> io::Result<Mtu> {
    let option = match family(&fd)? {
        Family::V4 => SocketOption::ip(libc::IP_MTU),
        Family::V6 => SocketOption::ipv6(libc::IPV6_MTU),
    };
    let bytes = option::from_int(option::read_int(fd.as_fd(), option)?)?;
    Mtu::new(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The kernel's numbers 0 to 5, the same for both families.
const MODES: [PathMtuDiscovery; 6] = [
    PathMtuDiscovery::Fragment,
    PathMtuDiscovery::PerRoute,
    PathMtuDiscovery::Always,
    PathMtuDiscovery::Probe,
    PathMtuDiscovery::Interface,
    PathMtuDiscovery::InterfaceOrFragment,
];
