//! The side that answers NDT7: for M-Lab's clients, those in browsers among them, and linerate's own.
//!
//! Its tests fill the path, so they take their turn with the others of this host. A client of NDT7 knows of no queue: where
//! another test runs, it is sent away (503).
//!
//! * `admission`: which requests become tests
//! * `host`: what all clients share
//! * `visit`: one client, from its request to its measurement
//! * [`upgrade`]: a client of another server of this program, whose connection becomes a test

mod admission;
mod host;
pub mod upgrade;
mod visit;

use std::io;
use std::net::{SocketAddr, TcpListener};

use tungstenite::Bytes;

use super::Event;
use super::clients::Entrance;
use super::listener::listen_at;
use super::log::Log;
use super::partner::ServeError;
use crate::ndt7::exchange::payload;
use crate::ndt7::url::Security;
use crate::stop::Stop;

use host::Host;

pub(crate) use admission::judge;
pub use host::Ndt7Config;

/// A server of NDT7 whose port is open.
#[derive(Debug)]
pub struct Ndt7Server {
    listener: TcpListener,
    config: Ndt7Config,
    payload: Bytes,
}

/// Connections at once, half of them at most from one address: one tests, the others are sent away, or have not asked yet. Each
/// may take 32 MiB at most.
const CONNECTIONS: usize = 8;

impl Ndt7Server {
    /// Opens the port.
    ///
    /// # Errors
    /// If it is taken or not allowed.
    pub fn open(config: Ndt7Config) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Open { port: config.port, address: config.bind, source };
        let listener = listen_at(config.bind, config.port).map_err(failed)?;
        let payload = payload().map_err(ServeError::Listen)?;
        Ok(Self { listener, config, payload })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is stopped. `report` is called from several threads.
    ///
    /// # Errors
    /// If the open port fails.
    pub fn serve(&self, stop: &Stop, report: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
        let security = if self.config.identity.is_some() { Security::Tls } else { Security::Plain };
        report(Event::ServesNdt7 { address: self.address().map_err(ServeError::Listen)?, security });
        let log = Log::new(report);
        let host = Host { config: &self.config, payload: &self.payload, stop, log: &log };
        let (listener, policy) = (&self.listener, &self.config.policy);
        let entrance = Entrance { listener, policy, room: CONNECTIONS, name: "ndt7", log: &log };
        entrance.serve(stop, &|stream, peer| visit::serve(host, stream, peer)).map_err(ServeError::Listen)
    }
}
