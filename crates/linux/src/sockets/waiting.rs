//! How long a blocking call on a socket waits. After that it ends with `EAGAIN`.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::SockRef;

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
