//! `struct tcp_info`: what the kernel tells about one TCP connection.
//!
//! The kernel has lengthened the structure many times and returns as much as it knows. So a field is present only where
//! the returned length covers it: absent and zero are different answers. [`FIELDS`] is the table of all fields,
//! and [`TcpInfo`] has an accessor for each, with the kernel's name.
//!
//! Layout: `include/uapi/linux/tcp.h` of Linux 6.18, 280 bytes, little-endian machines.

mod fields;

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;

use crate::sockets::option::{self, SocketOption};
pub use fields::{FIELDS, Field, Unit};

/// Bytes of one record that holds every field known here: the size of `struct tcp_info` on Linux 6.18.
///
/// Samplers that keep raw records in an arena use it as the length of a slot.
pub const RECORD_LEN: usize = 280;

/// Bytes a [`TcpInfo`] keeps. What a later kernel returns beyond that is cut off.
pub const CAPACITY: usize = 512;

/// One `struct tcp_info` as some kernel returned it.
///
/// Has no time in it: whoever samples knows when it did.
#[derive(Clone, PartialEq, Eq)]
pub struct TcpInfo {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl TcpInfo {
    /// Asks the kernel about the TCP socket `fd`: one `getsockopt`, no allocation.
    ///
    /// # Errors
    /// What `getsockopt(TCP_INFO)` gives, such as `EOPNOTSUPP` for a socket that is not TCP.
    pub fn read(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let mut info = Self { bytes: [0; CAPACITY], len: 0 };
        info.len = read_into(fd, &mut info.bytes)?;
        Ok(info)
    }

    /// Takes a record from elsewhere: an attribute of `sock_diag`, or stored bytes. Bytes beyond [`CAPACITY`] are cut.
    #[must_use]
    pub fn from_bytes(record: &[u8]) -> Self {
        let len = record.len().min(CAPACITY);
        let mut bytes = [0; CAPACITY];
        bytes[..len].copy_from_slice(&record[..len]);
        Self { bytes, len }
    }

    /// The record as the kernel returned it.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The value of any field of [`FIELDS`], or `None` where the record is too short for it.
    #[must_use]
    #[inline]
    pub fn value(&self, field: &Field) -> Option<u64> {
        field.value_in(self.as_bytes())
    }
}

/// The fields that are present, by name, for logs and failed tests.
impl fmt::Debug for TcpInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        map.entry(&"length", &self.len);
        for field in FIELDS {
            if let Some(value) = self.value(field) {
                map.entry(&field.name, &value);
            }
        }
        map.finish()
    }
}

/// Asks the kernel about the TCP socket `fd` and writes the raw record into `record`. Returns how many bytes of it the
/// kernel has filled: the lesser of its own size and the length of `record`; the rest is left as it was.
///
/// # Errors
/// What `getsockopt(TCP_INFO)` gives, such as `EOPNOTSUPP` for a socket that is not TCP.
pub fn read_into(fd: BorrowedFd<'_>, record: &mut [u8]) -> io::Result<usize> {
    option::read(fd, SocketOption::tcp(libc::TCP_INFO), record)
}

#[cfg(target_endian = "big")]
compile_error!("struct tcp_info is read as little-endian machines lay it out, bit fields included");

#[cfg(test)]
mod tests;
