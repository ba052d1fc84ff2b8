//! Which addresses, device and CPU a socket has, and its cookie.

use std::io;
use std::os::fd::AsFd;

use socket2::SockRef;

use super::option::{self, SocketOption};
use super::{Family, Switch};

/// The family of a socket (`SO_DOMAIN`).
///
/// # Errors
/// What `getsockopt` gives; `InvalidInput` for a socket that is not IP.
pub fn family(fd: impl AsFd) -> io::Result<Family> {
    match option::read_int(fd.as_fd(), SocketOption::socket(libc::SO_DOMAIN))? {
        libc::AF_INET => Ok(Family::V4),
        libc::AF_INET6 => Ok(Family::V6),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the socket is neither IPv4 nor IPv6")),
    }
}

/// Lets a listener take an address that old connections still use (`SO_REUSEADDR`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_reuse_address(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    SockRef::from(&fd).set_reuse_address(switch.is_on())
}

/// Lets several sockets of one user share an address, among which the kernel spreads flows (`SO_REUSEPORT`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_reuse_port(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    SockRef::from(&fd).set_reuse_port(switch.is_on())
}

/// Keeps IPv4 off an IPv6 socket (`IPV6_V6ONLY`). To be set before `bind`.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_only_v6(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    SockRef::from(&fd).set_only_v6(switch.is_on())
}

/// Sends and receives through one device only, or through any (`SO_BINDTODEVICE`).
///
/// # Errors
/// `ENODEV` for an unknown device; `EPERM` without `CAP_NET_RAW` where the socket is bound to a device already.
pub fn bind_to_device(fd: impl AsFd, device: Option<&str>) -> io::Result<()> {
    SockRef::from(&fd).bind_device(device.map(str::as_bytes))
}

/// The device the socket is bound to.
///
/// # Errors
/// What `getsockopt` gives.
pub fn bound_device(fd: impl AsFd) -> io::Result<Option<String>> {
    let name = SockRef::from(&fd).device()?;
    Ok(name.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()))
}

/// The CPU on which the kernel last processed a packet for this socket (`SO_INCOMING_CPU`); `None` before the first.
///
/// # Errors
/// What `getsockopt` gives.
pub fn incoming_cpu(fd: impl AsFd) -> io::Result<Option<usize>> {
    let cpu = option::read_int(fd.as_fd(), SocketOption::socket(libc::SO_INCOMING_CPU))?;
    Ok(usize::try_from(cpu).ok())
}

/// Prefers this socket, among those sharing its port, for packets processed on `cpu` (`SO_INCOMING_CPU`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_incoming_cpu(fd: impl AsFd, cpu: usize) -> io::Result<()> {
    option::write_int(fd.as_fd(), SocketOption::socket(libc::SO_INCOMING_CPU), option::int_from(cpu)?)
}

/// The number that names this socket and no other until the next boot (`SO_COOKIE`), as `sock_diag` has it.
///
/// # Errors
/// What `getsockopt` gives.
pub fn cookie(fd: impl AsFd) -> io::Result<u64> {
    let mut value = [0; 8];
    option::read(fd.as_fd(), SocketOption::socket(libc::SO_COOKIE), &mut value)?;
    Ok(u64::from_ne_bytes(value))
}
