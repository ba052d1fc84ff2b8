//! `getsockopt` and `setsockopt` on plain bytes.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// An option of a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketOption {
    /// Protocol level, such as `SOL_SOCKET`.
    pub(crate) level: libc::c_int,
    /// Number within the level.
    pub(crate) name: libc::c_int,
}

impl SocketOption {
    /// An option of the level `SOL_SOCKET`.
    pub(crate) const fn socket(name: libc::c_int) -> Self {
        Self { level: libc::SOL_SOCKET, name }
    }

    /// An option of TCP.
    pub(crate) const fn tcp(name: libc::c_int) -> Self {
        Self { level: libc::IPPROTO_TCP, name }
    }

    /// An option of UDP.
    pub(crate) const fn udp(name: libc::c_int) -> Self {
        Self { level: libc::IPPROTO_UDP, name }
    }

    /// An option of IPv4.
    pub(crate) const fn ip(name: libc::c_int) -> Self {
        Self { level: libc::IPPROTO_IP, name }
    }

    /// An option of IPv6.
    pub(crate) const fn ipv6(name: libc::c_int) -> Self {
        Self { level: libc::IPPROTO_IPV6, name }
    }
}

/// Reads an option into `value` and returns how many bytes of it the kernel has filled.
pub(crate) fn read(fd: BorrowedFd<'_>, option: SocketOption, value: &mut [u8]) -> io::Result<usize> {
    let mut len = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: `value` is writable for `len` bytes, which is what the kernel is told; `len` lives through the call.
    let outcome =
        unsafe { libc::getsockopt(fd.as_raw_fd(), option.level, option.name, value.as_mut_ptr().cast(), &raw mut len) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(len).map_or(value.len(), |len| len.min(value.len())))
}

/// Sets an option to the bytes of `value`.
pub(crate) fn write(fd: BorrowedFd<'_>, option: SocketOption, value: &[u8]) -> io::Result<()> {
    let len = libc::socklen_t::try_from(value.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `value` is readable for `len` bytes, which is what the kernel is told, and it keeps no pointer to it.
    let outcome = unsafe { libc::setsockopt(fd.as_raw_fd(), option.level, option.name, value.as_ptr().cast(), len) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads an option that is a C `int`.
pub(crate) fn read_int(fd: BorrowedFd<'_>, option: SocketOption) -> io::Result<libc::c_int> {
    let mut value = [0; size_of::<libc::c_int>()];
    read(fd, option, &mut value)?;
    Ok(libc::c_int::from_ne_bytes(value))
}

/// Sets an option that is a C `int`.
pub(crate) fn write_int(fd: BorrowedFd<'_>, option: SocketOption, value: libc::c_int) -> io::Result<()> {
    write(fd, option, &value.to_ne_bytes())
}

/// Sets an option of IPv4 on an IPv6 socket, which may carry IPv4 too. One that cannot, such as a raw one, has no such
/// option and needs none.
pub(crate) fn write_int_where_carried(fd: BorrowedFd<'_>, option: SocketOption, value: libc::c_int) -> io::Result<()> {
    match write_int(fd, option, value) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        outcome => outcome,
    }
}

/// A number as the C `int` an option takes.
pub(crate) fn int_from<T: TryInto<libc::c_int>>(value: T) -> io::Result<libc::c_int> {
    value.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "larger than the option can hold"))
}

/// The number in a C `int` that an option gave, where negative ones make no sense.
pub(crate) fn from_int<T: TryFrom<libc::c_int>>(value: libc::c_int) -> io::Result<T> {
    T::try_from(value).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the kernel gave a number out of range"))
}
