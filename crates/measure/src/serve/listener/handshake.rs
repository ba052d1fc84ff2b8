//! A connection that has not said yet what it is.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use linux::clock;
use units::MonoTime;

use super::canonical;
use wire::cookie::{COOKIE_LEN, Cookie};

/// A connection that has not said yet what it is.
#[derive(Debug)]
pub(super) struct PendingConnection {
    stream: TcpStream,
    peer: SocketAddr,
    deadline: MonoTime,
    bytes: [u8; COOKIE_LEN],
    heard: usize,
}

/// What a connection has said.
#[derive(Debug)]
pub(super) enum Said {
    /// Not all of it.
    NothingYet,
    /// It was closed.
    Gone,
    /// The name of a test.
    Name(Cookie),
}

impl PendingConnection {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, turn: Duration) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, peer, deadline: clock::now() + turn, bytes: [0; COOKIE_LEN], heard: 0 })
    }

    pub(super) const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub(super) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(super) const fn deadline(&self) -> MonoTime {
        self.deadline
    }

    /// Reads what is there, not a byte beyond the name: what follows belongs to whoever gets the connection.
    pub(super) fn hear(&mut self) -> Said {
        loop {
            match self.stream.read(&mut self.bytes[self.heard..]) {
                Ok(0) => return Said::Gone,
                Ok(length) => self.heard += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Said::NothingYet,
                Err(_) => return Said::Gone,
            }
            if self.heard == COOKIE_LEN {
                return Said::Name(Cookie::from_bytes(self.bytes));
            }
        }
    }

    /// The connection, blocking as it was, and the address that it reached.
    pub(super) fn into_stream(self) -> io::Result<(TcpStream, SocketAddr)> {
        self.stream.set_nonblocking(false)?;
        let local = self.stream.local_addr()?;
        Ok((self.stream, canonical(local)))
    }
}
