//! The connection of a test: non-blocking, with a count of what passes it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tungstenite::WebSocket;
use tungstenite::protocol::WebSocketConfig;

use super::size::{LARGEST_RECEIVED, LARGEST_SENT};
use super::tls::SecureStream;
use crate::serve::listener::canonical;

/// A TCP connection that counts.
#[derive(Debug)]
pub(crate) struct CountedStream {
    transport: Transport,
    /// Bytes read and written so far, handshake and framing included, records of TLS not.
    pub(super) read: u64,
    pub(super) written: u64,
}

#[derive(Debug)]
enum Transport {
    Plain(TcpStream),
    Secure(Box<dyn SecureStream>),
}

/// A connection after the handshake.
pub(crate) type Ndt7Socket = WebSocket<CountedStream>;

impl CountedStream {
    /// # Errors
    /// Where the kernel does not let it be non-blocking, or does not know its ends.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        prepare(&stream)?;
        Ok(Self::of(Transport::Plain(stream)))
    }

    /// The same beneath TLS; its handshake comes with the first bytes.
    ///
    /// # Errors
    /// As above, and where TLS cannot begin.
    pub(crate) fn secure(
        stream: TcpStream,
        begin: impl FnOnce(TcpStream) -> io::Result<Box<dyn SecureStream>>,
    ) -> io::Result<Self> {
        prepare(&stream)?;
        Ok(Self::of(Transport::Secure(begin(stream)?)))
    }

    const fn of(transport: Transport) -> Self {
        Self { transport, read: 0, written: 0 }
    }

    fn socket(&self) -> &TcpStream {
        match &self.transport {
            Transport::Plain(stream) => stream,
            Transport::Secure(stream) => stream.socket(),
        }
    }

    /// This host's end and the peer's.
    pub(crate) fn ends(&self) -> io::Result<SocketEnds> {
        let socket = self.socket();
        Ok(SocketEnds { local: canonical(socket.local_addr()?), peer: canonical(socket.peer_addr()?) })
    }

    /// Waits until there is something to do, or the time is over.
    pub(crate) fn wait(&self, wanted: Readiness, longest: Duration) -> io::Result<()> {
        match &self.transport {
            Transport::Secure(stream) if stream.has_decrypted() => Ok(()),
            _ => wait(self.as_fd(), wanted, longest),
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        if let Transport::Secure(stream) = &mut self.transport {
            stream.end();
        }
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
        self.socket().as_fd()
    }
}

impl Read for CountedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.transport {
            Transport::Plain(stream) => stream.read(buffer),
            // Who ends TLS without a word may do so: a WebSocket has a closing handshake of its own.
            Transport::Secure(stream) => match stream.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }?;
        self.read += read as u64;
        Ok(read)
    }
}

impl Write for CountedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => stream.write(bytes),
            Transport::Secure(stream) => stream.write(bytes),
        }?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.transport {
            Transport::Plain(_) => Ok(()),
            Transport::Secure(stream) => stream.flush(),
        }
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
