//! Sends that lend pages to the kernel (`MSG_ZEROCOPY`), and the notices that it has given them back.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::control::{self, ControlBuffer, Kind};
use super::{FrozenBuffer, Progress, attempt, last_errno};

/// Sends on one socket with `MSG_ZEROCOPY`, and counts what is still lent.
///
/// The socket needs [`set_zerocopy`](crate::sockets::set_zerocopy). Loopback, veth and tunnels copy all the same
/// (Documentation/networking/msg_zerocopy.rst) and the notices say so: once [`Reaped::copied`] grows, plain sends are
/// cheaper.
#[derive(Debug, Default)]
pub struct ZeroCopySender {
    sent: u64,
    completed: u64,
}

/// What notices told since the last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reaped {
    /// Sends whose pages the kernel does not need any more.
    pub completed: u64,
    /// Those of them that the kernel has copied after all (`SO_EE_CODE_ZEROCOPY_COPIED`).
    pub copied: u64,
}

impl ZeroCopySender {
    /// Nothing sent yet. One for each socket, from its first zero-copy send on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends from `range` of `buffer`. [`Progress::NoBuffers`] means that too many sends are outstanding (the socket's
    /// `optmem` or the locked-memory limit is used up): reap, or send with a copy.
    ///
    /// # Errors
    /// `InvalidInput` where `range` is not within the buffer, else what `send` gives, except for what [`Progress`]
    /// holds.
    pub fn send(&mut self, fd: BorrowedFd<'_>, buffer: &FrozenBuffer, range: Range<usize>) -> io::Result<Progress> {
        let data = buffer.get(range).filter(|data| !data.is_empty()).ok_or(io::ErrorKind::InvalidInput)?;
        let flags = SendFlags::NOSIGNAL | MSG_ZEROCOPY;
        let progress = attempt(|| send(fd, data, flags))?;
        if let Progress::Moved(_) = progress {
            self.sent += 1;
        }
        Ok(progress)
    }

    /// Sends of which the kernel may still read the pages.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.sent.saturating_sub(self.completed)
    }

    /// Takes all notices that are there, without waiting. `poll` reports `POLLERR` when some are.
    ///
    /// # Errors
    /// What `recvmsg(MSG_ERRQUEUE)` gives, and the error of a message in the queue that is no notice, as such a message
    /// tells of a failure of the path (ICMP).
    pub fn reap(&mut self, fd: BorrowedFd<'_>) -> io::Result<Reaped> {
        let mut reaped = Reaped::default();
        let mut control = ControlBuffer::EMPTY;
        loop {
            let mut length = 0;
            let progress = attempt(|| {
                length = receive_error(fd, &mut control)?;
                Ok(0)
            })?;
            if progress != Progress::Moved(0) {
                break;
            }
            for (kind, data) in control::messages(control.0.get(..length).unwrap_or_default()) {
                if kind == RECEIVE_ERROR_V4 || kind == RECEIVE_ERROR_V6 {
                    reaped.add(&Notice::parse(data)?);
                }
            }
        }
        self.completed += reaped.completed;
        Ok(reaped)
    }
}

impl Reaped {
    fn add(&mut self, notice: &Notice) {
        self.completed += notice.sends;
        self.copied += if notice.copied { notice.sends } else { 0 };
    }
}

/// One notice: a run of sends that are done.
struct Notice {
    sends: u64,
    copied: bool,
}

impl Notice {
    /// Reads `struct sock_extended_err` (include/uapi/linux/errqueue.h): errno, four bytes, first and last send.
    fn parse(data: &[u8]) -> io::Result<Self> {
        let (Some(errno), Some(&[origin, _, code]), Some(first), Some(last)) =
            (control::word(data, 0), data.get(4..7), control::word(data, 8), control::word(data, 12))
        else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message of the error queue is cut short"));
        };
        if errno != 0 || origin != SO_EE_ORIGIN_ZEROCOPY {
            return Err(io::Error::from_raw_os_error(errno.try_into().unwrap_or(libc::EIO)));
        }
        // The kernel counts sends in 32 bits that wrap.
        let sends = u64::from(last.wrapping_sub(first)) + 1;
        Ok(Self { sends, copied: code & SO_EE_CODE_ZEROCOPY_COPIED != 0 })
    }
}

/// Takes one message off the error queue and returns the length of its control messages.
fn receive_error(fd: BorrowedFd<'_>, control: &mut ControlBuffer) -> Result<usize, Errno> {
    // SAFETY: `msghdr` is a struct of integers and pointers, for which zero is a value: no address, no data.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: `message` names `control` with its length and nothing else, and both live through the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE) };
    if received < 0 { Err(last_errno()) } else { Ok(message.msg_controllen as _) }
}

const MSG_ZEROCOPY: SendFlags = SendFlags::from_bits_retain(0x0400_0000); // include/linux/socket.h
const RECEIVE_ERROR_V4: Kind = Kind { level: libc::SOL_IP, name: libc::IP_RECVERR };
const RECEIVE_ERROR_V6: Kind = Kind { level: libc::SOL_IPV6, name: libc::IPV6_RECVERR };
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5; // include/uapi/linux/errqueue.h
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1; // include/uapi/linux/errqueue.h

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(code: u8, first: u32, last: u32) -> Vec<u8> {
        let mut data = vec![0, 0, 0, 0, SO_EE_ORIGIN_ZEROCOPY, 0, code, 0];
        data.extend(first.to_ne_bytes().iter().chain(&last.to_ne_bytes()));
        data
    }

    #[test]
    fn notice_counts_a_run_of_sends_even_where_the_counter_wraps() {
        let read = Notice::parse(&notice(0, u32::MAX, 1)).unwrap();
        assert_eq!((read.sends, read.copied), (3, false));
        assert!(Notice::parse(&notice(SO_EE_CODE_ZEROCOPY_COPIED, 7, 7)).unwrap().copied);
    }

    #[test]
    fn message_that_is_no_notice_is_the_error_it_tells_of() {
        let mut unreachable = notice(0, 0, 0);
        unreachable[..4].copy_from_slice(&libc::EHOSTUNREACH.to_ne_bytes());
        unreachable[4] = 2;
        let error = Notice::parse(&unreachable).err().unwrap();
        assert_eq!(error.raw_os_error(), Some(libc::EHOSTUNREACH));
        assert!(Notice::parse(&[0; 15]).is_err());
    }
}
