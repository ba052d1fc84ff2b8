//! Pages lent to a pipe, and from there to a socket: sending without a copy on every device, loopback included.

use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice, vmsplice,
};
use units::ByteCount;

use super::{FrozenBuffer, Progress, attempt};

/// A pipe through which the pages of a [`FrozenBuffer`] go to a socket.
#[derive(Debug)]
pub struct SplicePipe {
    read: OwnedFd,
    write: OwnedFd,
    capacity: usize,
    queued: usize,
}

impl SplicePipe {
    /// A pipe for `wanted` bytes, or the next smaller power of two the kernel allows: without `CAP_SYS_RESOURCE`
    /// `fs.pipe-max-size` is the limit, 1 MiB by default.
    ///
    /// # Errors
    /// What creating the pipe gives. A pipe that cannot be enlarged at all is none.
    pub fn new(wanted: ByteCount) -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut capacity = fcntl_getpipe_size(&write)?;
        let mut size = usize::try_from(wanted.get()).unwrap_or(LARGEST_PIPE).min(LARGEST_PIPE).next_power_of_two();
        while size > capacity {
            match fcntl_setpipe_size(&write, size) {
                Ok(got) => capacity = got,
                Err(Errno::PERM | Errno::NOMEM) => size /= 2,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(Self { read, write, capacity, queued: 0 })
    }

    /// How much the pipe can hold. It counts in whole pages, so a range that starts inside a page fills it sooner.
    #[must_use]
    pub fn capacity(&self) -> ByteCount {
        ByteCount::new(self.capacity as u64)
    }

    /// How many bytes lie in the pipe, not yet taken by the socket.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Sends from `range` of `buffer` to the socket `out` and returns how many bytes the socket has taken.
    ///
    /// Whatever an earlier call has left in the pipe goes first, and only an empty pipe takes from `range`. So a caller
    /// who always passes what follows the bytes counted so far sends each byte once and in order.
    ///
    /// A closed peer raises `SIGPIPE`, which programs in Rust ignore unless they ask for it.
    ///
    /// # Errors
    /// `InvalidInput` where `range` is empty or not within the buffer, else what `vmsplice` and `splice` give, except
    /// for what [`Progress`] holds.
    pub fn send(&mut self, out: BorrowedFd<'_>, buffer: &FrozenBuffer, range: Range<usize>) -> io::Result<Progress> {
        if self.queued == 0 {
            match self.fill(buffer, range)? {
                Progress::Moved(lent) => self.queued = lent,
                hindered => return Ok(hindered),
            }
        }
        self.drain(out)
    }

    /// Lends pages of `range` to the empty pipe.
    fn fill(&self, buffer: &FrozenBuffer, range: Range<usize>) -> io::Result<Progress> {
        let data = buffer.get(range).filter(|data| !data.is_empty()).ok_or(io::ErrorKind::InvalidInput)?;
        let pages = [IoSliceRaw::from_slice(data)];
        // SAFETY: the pages stay as they are for good, which is what a `FrozenBuffer` promises, and the kernel keeps
        // those it needs when the buffer is dropped.
        attempt(|| unsafe { vmsplice(&self.write, &pages, SpliceFlags::NONBLOCK) })
    }

    /// Has the socket take what is in the pipe.
    fn drain(&mut self, out: BorrowedFd<'_>) -> io::Result<Progress> {
        let progress = attempt(|| splice(&self.read, None, out, None, self.queued, SpliceFlags::MOVE))?;
        if let Progress::Moved(taken) = progress {
            self.queued = self.queued.saturating_sub(taken);
        }
        Ok(progress)
    }
}

/// The largest pipe the kernel makes (fs/pipe.c of 6.18, `round_pipe_size`: 2^31 bytes).
const LARGEST_PIPE: usize = 1 << 31;
