//! The control connection: messages of fixed length one way, commands the other, and a deadline for each.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use linux::clock;
use owamp::control::command::Command;
use owamp::control::stop::StopSessions;
use owamp::control::{ControlError, Protocol, Reading};
use units::MonoTime;
use units::duration::show;

use crate::stop::Stop;

/// A control connection of either end.
#[derive(Debug)]
pub struct ControlConnection<'a> {
    stream: TcpStream,
    stop: &'a Stop,
    patience: Duration,
    unread: Vec<u8>,
}

/// Why a control connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The peer closed it.
    #[error("the peer closed the control connection; waited for {0}")]
    Closed(&'static str),
    /// It broke.
    #[error("the control connection broke")]
    Broken(#[source] io::Error),
    /// The peer was silent where it was its turn, or sent a message too slowly.
    #[error("the peer said nothing for {}; waited for {awaited}", show(*waited))]
    Silent {
        /// What should have come.
        awaited: &'static str,
        /// How long.
        waited: Duration,
    },
    /// The peer broke the protocol.
    #[error("the peer broke the protocol")]
    Protocol(#[from] ControlError),
    /// This host was told to stop.
    #[error("stopped by the user")]
    Stopped,
}

/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(50);

impl<'a> ControlConnection<'a> {
    /// The control connection over `stream`, whose peer has `patience` for each message.
    ///
    /// # Errors
    /// If the socket cannot be set up.
    pub fn new(stream: TcpStream, stop: &'a Stop, patience: Duration) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Self { stream, stop, patience, unread: Vec::new() })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the peer does not take it.
    pub fn send(&mut self, message: &[u8]) -> Result<(), ConnectionError> {
        self.stream.write_all(message).map_err(ConnectionError::Broken)
    }

    /// A message of fixed length.
    ///
    /// # Errors
    /// If it does not come in time.
    pub fn message<const N: usize>(&mut self, awaited: &'static str) -> Result<[u8; N], ConnectionError> {
        let mut message = [0; N];
        message.copy_from_slice(&self.octets(N, awaited)?);
        Ok(message)
    }

    /// So many octets.
    ///
    /// # Errors
    /// If they do not come in time: the time begins anew with each part of them.
    pub fn octets(&mut self, count: usize, awaited: &'static str) -> Result<Vec<u8>, ConnectionError> {
        let mut deadline = clock::now() + self.patience;
        while self.unread.len() < count {
            match self.read(deadline, awaited)? {
                Arrived::Octets => deadline = clock::now() + self.patience,
                Arrived::Nothing => return Err(ConnectionError::Silent { awaited, waited: self.patience }),
            }
        }
        Ok(self.unread.drain(..count).collect())
    }

    /// The peer's word that its sessions are over, awaited for as long as `within`.
    ///
    /// # Errors
    /// If it does not come in time, or something else comes.
    pub fn stop_sessions(&mut self, protocol: Protocol, within: Duration) -> Result<StopSessions, ConnectionError> {
        match self.command(protocol, clock::now() + within)? {
            Some(Command::Stop(stop)) => Ok(stop),
            Some(_) => Err(ControlError::Length("end of sessions").into()),
            None => Err(ConnectionError::Silent { awaited: "the end of sessions", waited: within }),
        }
    }

    /// The next command, where one begins before `deadline`. One that has begun has the peer's whole patience.
    ///
    /// # Errors
    /// If the connection is of no more use.
    pub fn command(&mut self, protocol: Protocol, deadline: MonoTime) -> Result<Option<Command>, ConnectionError> {
        let mut until = deadline;
        loop {
            if let Reading::Whole { message, length } = Command::parse(&self.unread, protocol)? {
                self.unread.drain(..length);
                return Ok(Some(message));
            }
            let begun = !self.unread.is_empty();
            match self.read(until, "a command")? {
                Arrived::Octets if !begun => until = clock::now() + self.patience,
                Arrived::Octets => {}
                Arrived::Nothing if begun => {
                    return Err(ConnectionError::Silent { awaited: "the rest of a command", waited: self.patience });
                }
                Arrived::Nothing => return Ok(None),
            }
        }
    }

    fn read(&mut self, deadline: MonoTime, awaited: &'static str) -> Result<Arrived, ConnectionError> {
        let mut octets = [0; 4_096];
        loop {
            if self.stop.is_stopped() {
                return Err(ConnectionError::Stopped);
            }
            match self.stream.read(&mut octets) {
                Ok(0) => return Err(ConnectionError::Closed(awaited)),
                Ok(count) => {
                    self.unread.extend(&octets[..count]);
                    return Ok(Arrived::Octets);
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(ConnectionError::Broken(error)),
            }
            if clock::now() >= deadline {
                return Ok(Arrived::Nothing);
            }
        }
    }
}

enum Arrived {
    Octets,
    Nothing,
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
