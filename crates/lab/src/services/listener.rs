//! Where connections come in: at most so many at once, each on a thread of its own.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use linux::sockets;
use measure::stop::Stop;
use serde::Serialize;
use units::ByteCount;

/// What a service bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; others hear that the service is busy.
    pub connections: usize,
    /// How long the head of a request may take.
    pub head_time: Duration,
    /// How long nothing may move.
    pub patience: Duration,
    /// How long a connection may last.
    pub connection_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            head_time: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            connection_time: Duration::from_secs(3600),
        }
    }
}

/// A service could not listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct OpenError {
    /// Where.
    pub address: SocketAddr,
    /// What the kernel said.
    pub source: io::Error,
}

/// A request and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// Who asked.
    pub peer: SocketAddr,
    /// What for; absent where the request could not be read.
    pub target: Option<String>,
    /// The status that was answered; absent where there was no time for it.
    pub status: Option<u16>,
    /// Bytes of the body that the kernel took.
    pub body_bytes: ByteCount,
    /// Who was asked in turn.
    pub through: Option<Passage>,
    /// Why it broke off; absent where it did not.
    pub broken: Option<String>,
}

/// A request that a proxy handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// To whom.
    pub to: SocketAddr,
    /// Whether it was one of the share that is passed on.
    pub rerouted: bool,
}

/// A listening socket.
#[derive(Debug)]
pub struct ServiceListener {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl ServiceListener {
    /// Listens on `address`; port 0 takes any that is free.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn open(address: SocketAddr, limits: Limits) -> Result<Self, OpenError> {
        let open = || {
            let listener = TcpListener::bind(address)?;
            // The timeout of a listening socket is how long `accept` waits (socket(7)).
            sockets::set_receive_timeout(&listener, Some(GLANCE))?;
            let address = listener.local_addr()?;
            Ok(Self { listener, address, limits })
        };
        open().map_err(|source| OpenError { address, source })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it bears.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Has each connection visited on a thread of its own until it is told to stop and all visits are over.
    pub(super) fn receive(
        &self,
        stop: &Stop,
        visit: &(dyn Fn(TcpStream, SocketAddr) + Sync),
        refuse: &(dyn Fn(TcpStream, SocketAddr) + Sync),
    ) {
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            while !stop.is_stopped() {
                let Some((stream, peer)) = self.accept() else { continue };
                if inside.load(Ordering::Acquire) >= self.limits.connections {
                    refuse(stream, peer);
                    continue;
                }
                let place = Place::take(&inside);
                let visitor = move || {
                    let _place = place;
                    visit(stream, peer);
                };
                // Where no thread can be had, the connection closes with what was to be run.
                let _ = thread::Builder::new().name("visit".to_owned()).spawn_scoped(scope, visitor);
            }
        });
    }

    fn accept(&self) -> Option<(TcpStream, SocketAddr)> {
        match self.listener.accept() {
            Ok(accepted) => Some(accepted),
            Err(error) => {
                // Too many open files and the like pass when a visit ends; asking without a pause would not help.
                if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                    thread::sleep(GLANCE);
                }
                None
            }
        }
    }
}

/// A place among the connections, free again when it is dropped.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(inside: &'a AtomicUsize) -> Self {
        inside.fetch_add(1, Ordering::AcqRel);
        Self(inside)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How soon a wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(20);
