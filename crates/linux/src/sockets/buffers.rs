//! Send and receive buffers, and the memory a socket holds at the moment.

use std::io;
use std::os::fd::AsFd;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use units::ByteCount;

use super::option::{self, SocketOption};

/// Which of the two buffers of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// What is to be sent, or sent and not acknowledged (`SO_SNDBUF`).
    Send,
    /// What is received and not read (`SO_RCVBUF`).
    Receive,
}

/// Asks for a buffer of `size` and returns what the kernel made of it.
///
/// The kernel doubles the number to leave room for its bookkeeping, bounds it by `net.core.wmem_max` or `rmem_max`, and
/// reports the doubled one (net/core/sock.c `sk_setsockopt`). Setting the size ends its automatic growth with TCP.
///
/// # Errors
/// What the kernel says if it refuses the call, which it does not for a size beyond the limit.
pub fn set_buffer_size(fd: impl AsFd, direction: Direction, size: ByteCount) -> io::Result<ByteCount> {
    let name = match direction {
        Direction::Send => libc::SO_SNDBUF,
        Direction::Receive => libc::SO_RCVBUF,
    };
    write_size(&fd, name, size)?;
    buffer_size(fd, direction)
}

/// As [`set_buffer_size`], but not bounded by the sysctls (`SO_SNDBUFFORCE`, `SO_RCVBUFFORCE`).
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN`.
pub fn set_buffer_size_beyond_limit(fd: impl AsFd, direction: Direction, size: ByteCount) -> io::Result<ByteCount> {
    let name = match direction {
        Direction::Send => libc::SO_SNDBUFFORCE,
        Direction::Receive => libc::SO_RCVBUFFORCE,
    };
    write_size(&fd, name, size)?;
    buffer_size(fd, direction)
}

fn write_size(fd: &impl AsFd, name: libc::c_int, size: ByteCount) -> io::Result<()> {
    let size = libc::c_int::try_from(size.get()).unwrap_or(libc::c_int::MAX);
    option::write_int(fd.as_fd(), SocketOption::socket(name), size)
}

/// The size of a buffer as the kernel accounts it: twice what was asked for, or what automatic growth has reached.
///
/// # Errors
/// What `getsockopt` gives.
pub fn buffer_size(fd: impl AsFd, direction: Direction) -> io::Result<ByteCount> {
    let name = match direction {
        Direction::Send => libc::SO_SNDBUF,
        Direction::Receive => libc::SO_RCVBUF,
    };
    let size = option::read_int(fd.as_fd(), SocketOption::socket(name))?;
    Ok(ByteCount::new(option::from_int(size)?))
}

/// The memory of a socket (`SO_MEMINFO`, `INET_DIAG_SKMEMINFO`; include/uapi/linux/sock_diag.h). Bytes unless said
/// otherwise; a field the kernel does not have is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketMemory {
    /// Received and not read, with bookkeeping (`SK_MEMINFO_RMEM_ALLOC`).
    pub rmem_alloc: Option<u32>,
    /// Limit of the receive buffer (`SK_MEMINFO_RCVBUF`).
    pub rcvbuf: Option<u32>,
    /// Handed to the layers below and not freed by them (`SK_MEMINFO_WMEM_ALLOC`).
    pub wmem_alloc: Option<u32>,
    /// Limit of the send buffer (`SK_MEMINFO_SNDBUF`).
    pub sndbuf: Option<u32>,
    /// Reserved for the socket and not in use (`SK_MEMINFO_FWD_ALLOC`).
    pub fwd_alloc: Option<u32>,
    /// Lies in the send queue (`SK_MEMINFO_WMEM_QUEUED`).
    pub wmem_queued: Option<u32>,
    /// Used by options and by notices of zero-copy sends (`SK_MEMINFO_OPTMEM`).
    pub optmem: Option<u32>,
    /// Received while the socket was locked, not yet processed (`SK_MEMINFO_BACKLOG`).
    pub backlog: Option<u32>,
    /// Packets the socket has dropped because its receive buffer was full, since the start (`SK_MEMINFO_DROPS`).
    pub drops: Option<u32>,
}

/// Which buffers of a socket its program fixed. The kernel tunes only those that are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferLocks {
    /// The send buffer (`SOCK_SNDBUF_LOCK`).
    pub send: bool,
    /// The receive buffer (`SOCK_RCVBUF_LOCK`).
    pub receive: bool,
}

/// Which buffers of a socket are fixed (`SO_BUF_LOCK`, since Linux 5.14).
///
/// # Errors
/// `ENOPROTOOPT` on an older kernel.
pub fn buffer_locks(socket: impl AsFd) -> io::Result<BufferLocks> {
    // include/uapi/asm-generic/socket.h; the bits are those of include/net/sock.h.
    const SO_BUF_LOCK: libc::c_int = 72;
    let mut bytes = [0; 4];
    option::read(socket.as_fd(), SocketOption::socket(SO_BUF_LOCK), &mut bytes)?;
    let bits = u32::from_ne_bytes(bytes);
    Ok(BufferLocks { send: bits & 1 != 0, receive: bits & 2 != 0 })
}

/// The same of a socket that another process has open, by its number there (`pidfd_getfd`, since Linux 5.6). The socket is
/// only asked.
///
/// # Errors
/// `EPERM` where this process may not trace the other one; what [`buffer_locks`] gives.
pub fn locks_of_another(process: u32, number: i32) -> io::Result<BufferLocks> {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    buffer_locks(pidfd_getfd(&pidfd, number, PidfdGetfdFlags::empty())?)
}

impl SocketMemory {
    /// Reads the array of 32-bit words the kernel gives.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |index: usize| {
            let word = bytes.get(4 * index..4 * index + 4)?;
            Some(u32::from_ne_bytes(word.try_into().ok()?))
        };
        Self {
            rmem_alloc: word(0),
            rcvbuf: word(1),
            wmem_alloc: word(2),
            sndbuf: word(3),
            fwd_alloc: word(4),
            wmem_queued: word(5),
            optmem: word(6),
            backlog: word(7),
            drops: word(8),
        }
    }
}

/// The memory a socket holds at the moment (`SO_MEMINFO`, since Linux 4.12).
///
/// # Errors
/// What `getsockopt` gives.
pub fn memory(fd: impl AsFd) -> io::Result<SocketMemory> {
    let mut bytes = [0; 64];
    let len = option::read(fd.as_fd(), SocketOption::socket(libc::SO_MEMINFO), &mut bytes)?;
    Ok(SocketMemory::from_bytes(&bytes[..len]))
}
