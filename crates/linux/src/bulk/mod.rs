//! Moving bytes through sockets as fast as the kernel lets one.
//!
//! Small types with no allocation and no lock in the loop; each call is one system call, made anew after a signal. What
//! ends a loop in ordinary life (nothing to do now, the peer has gone) is a value of [`Progress`], not an error.
//!
//! | File | What it does |
//! |---|---|
//! | `copy` | send and receive through a buffer, and receive without touching the data |
//! | `memfd` | a file in memory, sent with `sendfile` |
//! | `splice` | a payload in a pipe, whose pages are lent to a socket |
//! | `frozen` | page-aligned memory that is never rewritten, for the next |
//! | `zerocopy` | `MSG_ZEROCOPY` and the notices that it is done |
//! | [`datagrams`] | many datagrams in one call, segmented and coalesced by the kernel |

pub(crate) mod control;
mod copy;
pub mod datagrams;
mod frozen;
mod memfd;
mod splice;
mod zerocopy;

use std::io;

use rustix::io::Errno;

pub use copy::{receive_copy, receive_discard, send_copy};
pub use frozen::FrozenBuffer;
pub use memfd::Memfd;
pub use splice::SplicePipe;
pub use zerocopy::{Reaped, ZeroCopySender};

/// How one call of the data path went, where it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes were moved; with batches of datagrams, so many messages.
    Moved(usize),
    /// The peer has closed its side, or the file to send has ended.
    EndOfStream,
    /// Nothing could be moved now (`EAGAIN`): the socket does not block, or its timeout ran out.
    WouldBlock,
    /// The kernel has no buffer for it now (`ENOBUFS`): too many zero-copy sends outstanding, or a full device queue.
    NoBuffers,
    /// The peer does not take data any more (`EPIPE`).
    BrokenPipe,
    /// The peer has reset the connection (`ECONNRESET`).
    Reset,
}

/// Makes a system call, again after each signal, and sorts its outcome.
fn attempt(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<Progress> {
    loop {
        return match call() {
            Err(Errno::INTR) => continue,
            Ok(moved) => Ok(Progress::Moved(moved)),
            Err(Errno::AGAIN) => Ok(Progress::WouldBlock),
            Err(Errno::NOBUFS) => Ok(Progress::NoBuffers),
            Err(Errno::PIPE) => Ok(Progress::BrokenPipe),
            Err(Errno::CONNRESET) => Ok(Progress::Reset),
            Err(errno) => Err(errno.into()),
        };
    }
}

/// As [`attempt`], where a call that moves nothing means the end.
fn attempt_until_end(call: impl FnMut() -> Result<usize, Errno>) -> io::Result<Progress> {
    attempt(call).map(|progress| if progress == Progress::Moved(0) { Progress::EndOfStream } else { progress })
}

/// The error of the C library call that has just failed.
fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests;
