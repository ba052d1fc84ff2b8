//! Pages lent to a socket through a pipe: sending without a copy on every device, loopback included.
//!
//! The payload lies in a pipe that is never emptied. Each send doubles its references into a second pipe (`tee`), from
//! which the socket takes them (`splice`). What the kernel does for each reference is most of what such a send costs,
//! so the first pipe is filled from a socket, whose buffers hold up to 32 KiB; memory lent with `vmsplice` comes in
//! pages of 4 KiB.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice, tee};

use super::{Progress, attempt};

/// A payload that a socket can be sent over and over, from its start each time.
#[derive(Debug)]
pub struct SplicePipe {
    payload: Pipe,
    held: usize,
    outgoing: Pipe,
    queued: usize,
}

#[derive(Debug)]
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl SplicePipe {
    /// Takes `payload`, or as much of its start as the kernel lets a pipe hold: without `CAP_SYS_RESOURCE`
    /// `fs.pipe-max-size` is the limit, 1 MiB by default.
    ///
    /// # Errors
    /// `InvalidInput` for no bytes, or what creating and filling the pipes gives.
    pub fn holding(payload: &[u8]) -> io::Result<Self> {
        let (kept, outgoing) = (Pipe::new(payload.len())?, Pipe::new(payload.len())?);
        let held = kept.fill(payload)?;
        if held == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { payload: kept, held, outgoing, queued: 0 })
    }

    /// The same payload again and again, up to `wanted` bytes at once as far as the kernel lets a pipe hold them. Its pages
    /// are lent once more each time, not copied.
    ///
    /// # Errors
    /// What `tee` and `splice` give, and `Other` where they stop on the way.
    pub fn repeated(mut self, wanted: usize) -> io::Result<Self> {
        for pipe in [&self.payload, &self.outgoing] {
            pipe.enlarge(wanted)?;
        }
        while self.held < wanted {
            let count = self.held.min(wanted - self.held);
            let room = fcntl_getpipe_size(&self.payload.write)?;
            if self.held + count > room {
                break;
            }
            let lent = tee(&self.payload.read, &self.outgoing.write, count, SpliceFlags::NONBLOCK)?;
            let (from, to) = (&self.outgoing.read, &self.payload.write);
            let moved = splice(from, None, to, None, lent, SpliceFlags::NONBLOCK)?;
            if lent != count || moved != lent {
                return Err(io::Error::other("a pipe with room takes less than it has room for"));
            }
            self.held += moved;
        }
        Ok(self)
    }

    /// Bytes of the payload: the most that one call sends.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.held
    }

    /// How many bytes are on their way to the socket, not yet taken by it.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Sends up to `count` bytes of the payload to the socket `out` and returns how many bytes the socket has taken.
    ///
    /// What the socket did not take goes first at the next call, which then takes nothing anew. So a caller who asks for
    /// what is left of a number of bytes sends exactly that number, as long as `count` only falls until they are sent.
    ///
    /// A closed peer raises `SIGPIPE`, which programs in Rust ignore unless they ask for it.
    ///
    /// # Errors
    /// What `tee` and `splice` give, except for what [`Progress`] holds.
    pub fn send(&mut self, out: BorrowedFd<'_>, count: usize) -> io::Result<Progress> {
        if self.queued == 0 {
            match attempt(|| tee(&self.payload.read, &self.outgoing.write, count, SpliceFlags::NONBLOCK))? {
                Progress::Moved(lent) => self.queued = lent,
                hindered => return Ok(hindered),
            }
        }
        let progress = attempt(|| splice(&self.outgoing.read, None, out, None, self.queued, SpliceFlags::MOVE))?;
        if let Progress::Moved(taken) = progress {
            self.queued = self.queued.saturating_sub(taken);
        }
        Ok(progress)
    }
}

impl Pipe {
    /// A pipe for `wanted` bytes even where memory is in single pages, or the next smaller power of two the kernel
    /// allows.
    fn new(wanted: usize) -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let pipe = Self { read, write };
        pipe.enlarge(wanted)?;
        Ok(pipe)
    }

    fn enlarge(&self, wanted: usize) -> io::Result<()> {
        let capacity = fcntl_getpipe_size(&self.write)?;
        let mut size = wanted.min(LARGEST_PIPE).next_power_of_two();
        while size > capacity {
            match fcntl_setpipe_size(&self.write, size) {
                Ok(_) => break,
                Err(Errno::PERM | Errno::NOMEM) => size /= 2,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Moves `payload` in through a socket, whose memory nobody else has and nobody writes to again. Returns how much
    /// found room.
    fn fill(&self, payload: &[u8]) -> io::Result<usize> {
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let mut held = 0;
        for piece in payload.chunks(SOCKET_BUFFER) {
            let mut left = send(&near, piece, SendFlags::NOSIGNAL)?;
            while left > 0 {
                match attempt(|| splice(&far, None, &self.write, None, left, SpliceFlags::NONBLOCK))? {
                    Progress::Moved(moved) if moved > 0 => (held, left) = (held + moved, left - moved),
                    _ => return Ok(held),
                }
            }
        }
        Ok(held)
    }
}

/// The largest pipe the kernel makes (fs/pipe.c of 6.18, `round_pipe_size`: 2^31 bytes).
const LARGEST_PIPE: usize = 1 << 31;

/// Most that a local socket keeps in one piece (net/unix/af_unix.c of 6.18, `UNIX_SKB_FRAGS_SZ`: 32 KiB).
const SOCKET_BUFFER: usize = 32 << 10;
