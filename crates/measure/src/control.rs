//! The control connection: a socket, a dialogue, and deadlines for both directions.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use linux::clock;
use model::spec::Limit;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use serde::Serialize;
use socket2::TcpKeepalive;
use units::MonoTime;

use wire::client::{ClientDialogue, ServerMessage};
use wire::extension::Message;
use wire::inbox::{WireError, write_blob};
use wire::limits::Patience;
use wire::server::{ClientMessage, ServerDialogue};
use wire::signal::Signal;

/// One side's reading of the protocol.
pub trait Dialogue: Default {
    /// What can be heard.
    type Incoming;
    /// Adds bytes from the peer.
    fn feed(&mut self, bytes: &[u8]);
    /// The next thing heard.
    ///
    /// # Errors
    /// If the peer broke the protocol.
    fn next_message(&mut self) -> Result<Option<Self::Incoming>, WireError>;
    /// Whether part of a message waits for its rest.
    fn mid_message(&self) -> bool;
}

/// A host that has vanished without a word is noticed after 25 s, also in a test that has no end in time.
const KEEPALIVE: TcpKeepalive =
    TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5)).with_retries(3);

/// A control connection that reads by `D`.
#[derive(Debug)]
pub struct Control<D> {
    stream: TcpStream,
    dialogue: D,
    waker: Waker,
    patience: Patience,
    message_since: Option<MonoTime>,
}

/// Why a control connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The peer closed it.
    #[error("the peer closed the control connection")]
    Closed,
    /// It broke.
    #[error("the control connection broke")]
    Broken(#[source] io::Error),
    /// The peer broke the protocol.
    #[error("the peer broke the protocol")]
    Wire(#[from] WireError),
    /// The peer was silent where it was its turn, or sent a message too slowly.
    #[error("the peer said nothing for {}; waited for {awaited}", units::duration::show(*waited))]
    Silent {
        /// How long.
        waited: Duration,
        /// What should have come.
        awaited: &'static str,
    },
    /// The peer does not read what is sent to it.
    #[error("the peer did not take {bytes} bytes within {}", units::duration::show(*waited))]
    NotReading {
        /// Bytes that were to be sent.
        bytes: usize,
        /// How long.
        waited: Duration,
    },
    /// A message could not be written.
    #[error("a message could not be written as JSON")]
    Unwritable(#[source] serde_json::Error),
}

/// Why [`Control::hear`] returned.
#[derive(Debug, PartialEq)]
pub enum Wake<M> {
    /// The peer said something.
    Message(M),
    /// The deadline came, or somebody used the waker.
    Nothing,
}

impl<D: Dialogue> Control<D> {
    /// The control connection over `stream`.
    ///
    /// # Errors
    /// If the socket cannot be set up.
    pub fn new(stream: TcpStream, patience: Patience) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        socket2::SockRef::from(&stream).set_tcp_keepalive(&KEEPALIVE)?;
        Ok(Self { stream, dialogue: D::default(), waker: Waker::new()?, patience, message_since: None })
    }

    /// Socket of the connection: non-blocking, with TCP_NODELAY and keepalive.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// How long the peer may take.
    #[must_use]
    pub const fn patience(&self) -> Patience {
        self.patience
    }

    /// A handle with which other threads end a [`Control::hear`] early.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Gives the dialogue bytes that were read before this connection was known to be a control connection.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.dialogue.feed(bytes);
    }

    /// What the peer says next, within its turn.
    ///
    /// # Errors
    /// If the connection is of no more use, silence included.
    pub fn await_turn(&mut self, awaited: &'static str) -> Result<D::Incoming, ControlError> {
        self.await_for(self.patience.turn, awaited)
    }

    /// What the peer says next, within its turn after it has read what is on the way of a test with this limit.
    ///
    /// # Errors
    /// If the connection is of no more use, silence included.
    pub fn await_drained(&mut self, limit: Limit, awaited: &'static str) -> Result<D::Incoming, ControlError> {
        self.await_for(self.patience.drain_and_turn(limit), awaited)
    }

    fn await_for(&mut self, waited: Duration, awaited: &'static str) -> Result<D::Incoming, ControlError> {
        let deadline = clock::now() + waited;
        loop {
            match self.hear(deadline)? {
                Wake::Message(heard) => return Ok(heard),
                Wake::Nothing if clock::now() < deadline => {}
                Wake::Nothing => return Err(ControlError::Silent { waited, awaited }),
            }
        }
    }

    /// What the peer says next; nothing where `deadline` comes first or the waker is used.
    ///
    /// # Errors
    /// If the connection is of no more use.
    pub fn hear(&mut self, deadline: MonoTime) -> Result<Wake<D::Incoming>, ControlError> {
        loop {
            if let Some(heard) = self.dialogue.next_message()? {
                self.message_since = None;
                return Ok(Wake::Message(heard));
            }
            self.check_trickle()?;
            let woken = self.waker.take();
            if woken || clock::now() >= deadline {
                return Ok(Wake::Nothing);
            }
            self.wait_for(PollFlags::IN, deadline)?;
            self.read_what_is_there()?;
        }
    }

    /// Sends a control byte.
    ///
    /// # Errors
    /// If the peer does not take it.
    pub fn send_signal(&mut self, signal: Signal) -> Result<(), ControlError> {
        self.send(&[signal.byte()])
    }

    /// Sends a message of the extension.
    ///
    /// # Errors
    /// If the peer does not take it.
    pub fn send_extension(&mut self, message: &Message) -> Result<(), ControlError> {
        let mut bytes = vec![Signal::Extension.byte()];
        write_blob(message, &mut bytes).map_err(ControlError::Unwritable)?;
        self.send(&bytes)
    }

    /// Sends a blob of JSON.
    ///
    /// # Errors
    /// If the peer does not take it.
    pub fn send_blob<T: Serialize>(&mut self, value: &T) -> Result<(), ControlError> {
        let mut bytes = Vec::new();
        write_blob(value, &mut bytes).map_err(ControlError::Unwritable)?;
        self.send(&bytes)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the peer does not take them.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), ControlError> {
        let mut rest = bytes;
        let waited = self.patience.turn;
        let mut deadline = clock::now() + waited;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(written) => {
                    rest = &rest[written..];
                    // A peer that reads slowly is not one that does not read.
                    deadline = clock::now() + waited;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if clock::now() >= deadline {
                        return Err(ControlError::NotReading { bytes: bytes.len(), waited });
                    }
                    self.wait_for(PollFlags::OUT, deadline)?;
                }
                Err(error) => return Err(ControlError::Broken(error)),
            }
        }
        Ok(())
    }

    fn read_what_is_there(&mut self) -> Result<(), ControlError> {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(ControlError::Closed),
            Ok(length) => {
                self.dialogue.feed(&buffer[..length]);
                if self.dialogue.mid_message() {
                    self.message_since.get_or_insert_with(clock::now);
                }
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(ControlError::Broken(error)),
        }
    }

    /// One message must not trickle for ever.
    fn check_trickle(&self) -> Result<(), ControlError> {
        let waited = self.patience.message;
        match self.message_since {
            Some(since) if clock::now().since(since) > waited => {
                Err(ControlError::Silent { waited, awaited: "the rest of a message" })
            }
            _ => Ok(()),
        }
    }

    fn wait_for(&self, wanted: PollFlags, deadline: MonoTime) -> Result<(), ControlError> {
        let mut fds = [PollFd::new(&self.stream, wanted), PollFd::new(&self.waker.0, PollFlags::IN)];
        let left = deadline.since(clock::now()).min(self.patience.message);
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(ControlError::Broken(errno.into())),
        }
    }
}

/// Ends the waiting of the thread that owns a [`Control`].
#[derive(Debug, Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// A waker that nobody waits for yet.
    ///
    /// # Errors
    /// If the kernel has no more descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)))
    }

    /// What is readable once somebody has used it, for an owner that polls.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Wakes the owner, now or when it waits next.
    pub fn wake(&self) {
        // The write fails only where the owner has 2^64 - 1 wakes to take already.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    /// Takes the wakes so far, and says whether there were any.
    pub(crate) fn take(&self) -> bool {
        rustix::io::read(&*self.0, &mut [0; 8]).is_ok()
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}

impl Dialogue for ClientDialogue {
    type Incoming = ServerMessage;

    fn feed(&mut self, bytes: &[u8]) {
        Self::feed(self, bytes);
    }

    fn next_message(&mut self) -> Result<Option<ServerMessage>, WireError> {
        Self::next_message(self)
    }

    fn mid_message(&self) -> bool {
        Self::mid_message(self)
    }
}

impl Dialogue for ServerDialogue {
    type Incoming = ClientMessage;

    fn feed(&mut self, bytes: &[u8]) {
        Self::feed(self, bytes);
    }

    fn next_message(&mut self) -> Result<Option<ClientMessage>, WireError> {
        Self::next_message(self)
    }

    fn mid_message(&self) -> bool {
        Self::mid_message(self)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_host_that_has_vanished_is_asked_whether_it_is_there() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let control = Control::<ClientDialogue>::new(stream, Patience::default()).unwrap();
        let socket = socket2::SockRef::from(control.stream());
        assert!(socket.keepalive().unwrap());
        let (time, interval) = (socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap());
        // allow(second try): the kernel's own word for the questions that it asks.
        let questions = socket.tcp_keepalive_retries().unwrap();
        assert_eq!(time + interval * questions, Duration::from_secs(25));
    }
}
