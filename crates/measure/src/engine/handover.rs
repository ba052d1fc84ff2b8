//! The ways in which a TCP sender can hand data to its kernel.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use linux::bulk::{FrozenBuffer, Memfd, Progress, SplicePipe, ZeroCopySender, send_copy};
use linux::clock;
use linux::sockets::{Switch, set_zerocopy};
use model::spec::SendMethod;

/// One way, with the memory that it sends from. The payload is the same block over and over.
#[derive(Debug)]
pub(super) struct Handover {
    way: Way,
    block: usize,
    copied: bool,
}

#[derive(Debug)]
enum Way {
    Write(Vec<u8>),
    Sendfile(Memfd),
    Splice(SplicePipe),
    Zerocopy { sender: ZeroCopySender, pages: FrozenBuffer },
}

/// Bytes of one send where nobody asked for a length. Copies work best within the second-level cache; without a copy,
/// larger is cheaper, up to what a pipe holds without privileges.
const COPY_BLOCK: usize = 256 << 10;
const LENT_BLOCK: usize = 1 << 20;

/// Zero-copy sends after which the notices of finished ones are taken, well before the kernel's memory for them ends.
const OUTSTANDING: u64 = 16;

impl Handover {
    /// The way by `method`, in blocks of `length`; where none is fixed, in blocks of at most `memory`. `Auto` takes the
    /// cheapest that this kernel allows.
    ///
    /// # Errors
    /// If the method was asked for by name and this kernel does not allow it.
    pub(super) fn open(
        method: SendMethod,
        (length, memory): (Option<usize>, usize),
        fd: BorrowedFd<'_>,
    ) -> io::Result<Self> {
        let copied = length.unwrap_or(COPY_BLOCK.min(memory));
        let lent = length.unwrap_or(LENT_BLOCK.min(memory));
        match method {
            SendMethod::Auto => {
                Self::splice(length, lent).or_else(|_| Self::sendfile(lent)).or_else(|_| Ok(Self::write(copied)))
            }
            SendMethod::Write => Ok(Self::write(copied)),
            SendMethod::Sendfile => Self::sendfile(lent),
            SendMethod::Splice => Self::splice(length, lent),
            SendMethod::Zerocopy => Self::zerocopy(lent, fd),
        }
    }

    fn new(way: Way, block: usize) -> Self {
        Self { way, block, copied: false }
    }

    fn write(block: usize) -> Self {
        let mut payload = vec![0; block];
        fill(&mut payload);
        Self::new(Way::Write(payload), block)
    }

    fn sendfile(block: usize) -> io::Result<Self> {
        let mut payload = vec![0; block];
        fill(&mut payload);
        Ok(Self::new(Way::Sendfile(Memfd::filled(&payload)?), block))
    }

    fn splice(length: Option<usize>, wanted: usize) -> io::Result<Self> {
        // More of it would only be filled while the first byte waits: what is sent repeats in any case.
        let mut payload = vec![0; wanted.min(COPY_BLOCK)];
        fill(&mut payload);
        let pipe = SplicePipe::holding(&payload)?.repeated(wanted)?;
        let block = length.unwrap_or(pipe.capacity());
        Ok(Self::new(Way::Splice(pipe), block))
    }

    fn zerocopy(block: usize, fd: BorrowedFd<'_>) -> io::Result<Self> {
        set_zerocopy(fd, Switch::On)?;
        let pages = FrozenBuffer::new(block, fill)?;
        Ok(Self::new(Way::Zerocopy { sender: ZeroCopySender::new(), pages }, block))
    }

    /// Bytes of one send.
    pub(super) const fn block(&self) -> usize {
        self.block
    }

    /// The way that is used.
    pub(super) const fn method(&self) -> SendMethod {
        match self.way {
            Way::Write(_) => SendMethod::Write,
            Way::Sendfile(_) => SendMethod::Sendfile,
            Way::Splice(_) => SendMethod::Splice,
            Way::Zerocopy { .. } => SendMethod::Zerocopy,
        }
    }

    /// Whether the kernel has copied in spite of a zero-copy send; `None` for the other ways, which it tells nothing of.
    pub(super) const fn copy_fallback(&self) -> Option<bool> {
        match self.way {
            Way::Zerocopy { .. } => Some(self.copied),
            Way::Write(_) | Way::Sendfile(_) | Way::Splice(_) => None,
        }
    }

    /// Hands up to `want` bytes over, at most a block.
    pub(super) fn send(&mut self, fd: BorrowedFd<'_>, want: usize) -> io::Result<Progress> {
        let want = want.min(self.block);
        match &mut self.way {
            Way::Write(payload) => send_copy(fd, &payload[..want]),
            Way::Sendfile(file) => file.send(fd, 0, want),
            Way::Splice(pipe) => pipe.send(fd, want),
            Way::Zerocopy { sender, pages } => {
                if sender.outstanding() >= OUTSTANDING {
                    self.copied |= sender.reap(fd)?.copied > 0;
                }
                match sender.send(fd, pages, 0..want)? {
                    // The kernel's memory for notices is used up: this once, it copies.
                    Progress::NoBuffers => send_copy(fd, &pages[..want]),
                    progress => Ok(progress),
                }
            }
        }
    }

    /// Takes the notices that are left, so that a short test knows of a fallback too. They come when the peer has
    /// acknowledged.
    pub(super) fn settle(&mut self, fd: BorrowedFd<'_>) {
        /// Longer than any path's round trip.
        const PATIENCE: Duration = Duration::from_secs(1);
        const GLANCE: Duration = Duration::from_millis(1);
        let Way::Zerocopy { sender, .. } = &mut self.way else { return };
        let deadline = clock::now() + PATIENCE;
        loop {
            self.copied |= sender.reap(fd).is_ok_and(|reaped| reaped.copied > 0);
            let now = clock::now();
            let over = self.copied || sender.outstanding() == 0 || now >= deadline;
            if over || clock::sleep_until(now + GLANCE).is_err() {
                return;
            }
        }
    }
}

/// A payload that no device compresses away: xorshift (Marsaglia 2003) from a fixed seed.
pub(super) fn fill(payload: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for chunk in payload.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}
