//! Sending and receiving through a buffer of the program, and receiving without a copy.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Progress, attempt, attempt_until_end, last_errno};

/// Sends from `data`, which the kernel copies. Part of it may be sent; a closed peer raises no signal.
///
/// # Errors
/// What `send` gives, except for what [`Progress`] holds.
pub fn send_copy(fd: BorrowedFd<'_>, data: &[u8]) -> io::Result<Progress> {
    attempt(|| send(fd, data, SendFlags::NOSIGNAL))
}

/// Receives into `buffer`, which must not be empty.
///
/// # Errors
/// What `recv` gives, except for what [`Progress`] holds.
pub fn receive_copy(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Progress> {
    attempt_until_end(|| recv(fd, &mut *buffer, RecvFlags::empty()).map(|(_, received)| received))
}

/// Takes up to `max` bytes off the receive queue of a TCP socket and throws them away inside the kernel.
///
/// TCP treats `MSG_TRUNC` so since Linux 2.4 (tcp(7)); the data is never touched, so limits of memory bandwidth do not
/// show, and nothing of the payload can be checked. With other protocols the call would lose whole messages.
///
/// # Errors
/// What `recv` gives, except for what [`Progress`] holds.
pub fn receive_discard(fd: BorrowedFd<'_>, max: usize) -> io::Result<Progress> {
    attempt_until_end(|| {
        // SAFETY: with MSG_TRUNC tcp_recvmsg_locked (net/ipv4/tcp.c) counts the bytes and writes none, so the null
        // pointer is not dereferenced. Were it, by a socket that is not TCP, the kernel would check it and give EFAULT.
        let received = unsafe { libc::recv(fd.as_raw_fd(), ptr::null_mut(), max, libc::MSG_TRUNC) };
        usize::try_from(received).map_err(|_| last_errno())
    })
}
