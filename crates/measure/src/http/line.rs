//! A connection with patience, that can be told to stop.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use linux::clock;
use linux::sockets;
use units::{MonoTime, duration::show};

use super::head::{HeadError, Parsed};
use crate::stop::Stop;

/// A connection. Reading and writing look after a wish to stop every few milliseconds.
#[derive(Debug)]
pub struct HttpConnection<'a> {
    stream: TcpStream,
    stop: &'a Stop,
    patience: Duration,
    deadline: MonoTime,
}

/// Why a conversation broke off.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Nothing moved for as long as one waits.
    #[error("nothing came or went for {}", show(*waited))]
    Silent {
        /// How long.
        waited: Duration,
    },
    /// All of it took too long.
    #[error("it was not done in time")]
    Late,
    /// It was told to stop.
    #[error("it was asked to stop")]
    Stopped,
    /// The other side closed early.
    #[error("the other side closed the connection")]
    Closed,
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[from] io::Error),
    /// What came is no HTTP.
    #[error(transparent)]
    Head(#[from] HeadError),
}

impl<'a> HttpConnection<'a> {
    /// A conversation over `stream` that waits at most `patience` for the next byte, and ends at `deadline`.
    ///
    /// # Errors
    /// Where the socket does not take its timeouts.
    pub fn new(stream: TcpStream, patience: Duration, deadline: MonoTime, stop: &'a Stop) -> io::Result<Self> {
        sockets::set_receive_timeout(&stream, Some(GLANCE))?;
        sockets::set_send_timeout(&stream, Some(GLANCE))?;
        Ok(Self { stream, stop, patience, deadline })
    }

    /// The connection itself.
    #[must_use]
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Ends the conversation at this instant.
    pub fn set_deadline(&mut self, deadline: MonoTime) {
        self.deadline = deadline;
    }

    /// Reads what is there, one byte at least; nothing at the end of the stream.
    ///
    /// # Errors
    /// See [`LineError`].
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LineError> {
        self.patiently(|stream| stream.read(buffer))
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// See [`LineError`].
    pub fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), LineError> {
        while !bytes.is_empty() {
            let written = self.patiently(|stream| stream.write(bytes))?;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads a head with `parse`, and says when its first byte came. What came after it is left in `buffer`.
    ///
    /// # Errors
    /// See [`LineError`]; [`LineError::Closed`] where the stream ends before it.
    pub fn read_head<T>(
        &mut self,
        buffer: &mut Vec<u8>,
        parse: fn(&[u8]) -> Result<Parsed<T>, HeadError>,
    ) -> Result<(T, MonoTime), LineError> {
        let mut first = None;
        loop {
            if let Some((head, length)) = parse(buffer)? {
                buffer.drain(..length);
                return Ok((head, first.unwrap_or_else(clock::now)));
            }
            let mut piece = [0; PIECE];
            let length = self.read(&mut piece)?;
            if length == 0 {
                return Err(LineError::Closed);
            }
            first.get_or_insert_with(clock::now);
            buffer.extend(&piece[..length]);
        }
    }

    fn patiently(&mut self, mut call: impl FnMut(&mut TcpStream) -> io::Result<usize>) -> Result<usize, LineError> {
        let began = clock::now();
        let mut now = began;
        loop {
            // Before each call, since a stream that never pauses must end in time too.
            if self.stop.is_stopped() {
                return Err(LineError::Stopped);
            } else if now >= self.deadline {
                return Err(LineError::Late);
            } else if now.since(began) >= self.patience {
                return Err(LineError::Silent { waited: self.patience });
            }
            match call(&mut self.stream) {
                Ok(moved) => return Ok(moved),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error.into()),
            }
            now = clock::now();
        }
    }
}

/// How soon a wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(20);
/// Bytes read at once while a head is awaited.
const PIECE: usize = 4096;
