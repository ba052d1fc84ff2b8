//! The connection of a test: non-blocking, with a count of what passes it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tungstenite::WebSocket;
use tungstenite::protocol::WebSocketConfig;

use super::size::{LARGEST_RECEIVED, LARGEST_SENT};
use crate::serve::listener::canonical;

/// A TCP connection that counts.
#[derive(Debug)]
pub(crate) struct CountedStream {
    stream: TcpStream,
    /// Bytes read and written so far, handshake and framing included.
    pub(super) read: u64,
    pub(super) written: u64,
}

/// A connection after the handshake.
pub(crate) type Ndt7Socket = WebSocket<CountedStream>;

impl CountedStream {
    /// # Errors
    /// Where the kernel does not let it be non-blocking, or does not know its ends.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: 0, written: 0 })
    }

    /// This host's end and the peer's.
    pub(crate) fn ends(&self) -> io::Result<SocketEnds> {
        Ok(SocketEnds { local: canonical(self.stream.local_addr()?), peer: canonical(self.stream.peer_addr()?) })
    }

    /// Waits until there is something to do, or the time is over.
    pub(crate) fn wait(&self, wanted: Readiness, longest: Duration) -> io::Result<()> {
        wait(self.stream.as_fd(), wanted, longest)
    }
}

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketEnds {
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
}

/// What a connection is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Bytes to read.
    Input,
    /// Bytes to read, or room to write.
    Both,
}

pub(crate) fn wait(fd: BorrowedFd<'_>, wanted: Readiness, longest: Duration) -> io::Result<()> {
    let flags = match wanted {
        Readiness::Input => PollFlags::IN,
        Readiness::Both => PollFlags::IN | PollFlags::OUT,
    };
    let seconds = i64::try_from(longest.as_secs()).unwrap_or(i64::MAX);
    let timeout = Timespec { tv_sec: seconds, tv_nsec: i64::from(longest.subsec_nanos()) };
    match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

impl AsFd for CountedStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Read for CountedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl Write for CountedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a peer may have this host keep: one message of the largest size, and one that waits to be sent.
pub(crate) fn limits() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_AT_ONCE)
        .write_buffer_size(0)
        .max_write_buffer_size(4 * LARGEST_SENT)
        .max_message_size(Some(LARGEST_RECEIVED))
        .max_frame_size(Some(LARGEST_RECEIVED))
}

const READ_AT_ONCE: usize = 256 << 10;
