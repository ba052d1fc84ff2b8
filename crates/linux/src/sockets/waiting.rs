//! How long a blocking call on a socket waits, and for how much. After that time it ends with `EAGAIN`.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::SockRef;
use units::ByteCount;

use super::option::{self, SocketOption};

/// Bounds how long a send waits (`SO_SNDTIMEO`); `None` waits without end.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_send_timeout(fd: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
    SockRef::from(&fd).set_write_timeout(timeout)
}

/// How long a send waits. The kernel keeps it in ticks, so it may differ from what was set by up to 10 ms.
///
/// # Errors
/// What `getsockopt` gives.
pub fn send_timeout(fd: impl AsFd) -> io::Result<Option<Duration>> {
    SockRef::from(&fd).write_timeout()
}

/// Bounds how long a receive waits (`SO_RCVTIMEO`); `None` waits without end.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_receive_timeout(fd: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
    SockRef::from(&fd).set_read_timeout(timeout)
}

/// How long a receive waits. The kernel keeps it in ticks, so it may differ from what was set by up to 10 ms.
///
/// # Errors
/// What `getsockopt` gives.
pub fn receive_timeout(fd: impl AsFd) -> io::Result<Option<Duration>> {
    SockRef::from(&fd).read_timeout()
}

/// For how many bytes a receive of a stream waits (`SO_RCVLOWAT`), 1 unless set. The end of the stream, the timeout of
/// [`set_receive_timeout`] and a full receive buffer end the waiting too.
///
/// A value above half of what the receive buffer holds makes the kernel enlarge it (net/ipv4/tcp.c of 6.18,
/// `tcp_set_rcvlowat`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_receive_low_water(fd: impl AsFd, bytes: ByteCount) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes.get()).unwrap_or(libc::c_int::MAX);
    option::write_int(fd.as_fd(), SocketOption::socket(libc::SO_RCVLOWAT), bytes)
}

/// For how many bytes a receive of a stream waits.
///
/// # Errors
/// What `getsockopt` gives.
pub fn receive_low_water(fd: impl AsFd) -> io::Result<ByteCount> {
    let bytes = option::read_int(fd.as_fd(), SocketOption::socket(libc::SO_RCVLOWAT))?;
    Ok(ByteCount::new(option::from_int(bytes)?))
}
