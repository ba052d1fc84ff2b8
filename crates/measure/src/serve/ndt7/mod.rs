//! The side that answers NDT7: for M-Lab's clients, those in browsers among them, and linerate's own.
//!
//! Its tests fill the path, so they take their turn with the others of this host. A client of NDT7 knows of no queue: where
//! another test runs, it is sent away (503).
//!
//! * `admission`: which requests become tests
//! * `host`: what all clients share
//! * `visit`: one client, from its request to its measurement

mod admission;
mod host;
mod visit;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::thread::{self, Scope};
use std::time::Duration;

use tungstenite::Bytes;

use super::Event;
use super::listener::{canonical, is_passing, listen_at};
use super::partner::{Nuisances, ServeError};
use super::sessions::Sessions;
use crate::ndt7::exchange::payload;
use crate::ndt7::socket::{Readiness, wait};
use crate::stop::Stop;

use host::Host;

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
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);

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
        report(Event::ServesNdt7 { address: self.address().map_err(ServeError::Listen)? });
        let clients = Sessions::new(CONNECTIONS);
        let nuisances = Mutex::new(Nuisances::default());
        let host = Host {
            config: &self.config,
            payload: &self.payload,
            stop,
            clients: &clients,
            nuisances: &nuisances,
            report,
        };
        thread::scope(|scope| {
            while !stop.is_stopped() {
                wait(self.listener.as_fd(), Readiness::Input, GLANCE)?;
                match self.listener.accept() {
                    Ok((stream, peer)) => host.receive(scope, stream, canonical(peer)),
                    Err(error) if is_passing(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
        .map_err(ServeError::Listen)
    }
}

impl<'env> Host<'env> {
    fn receive<'scope>(self, scope: &'scope Scope<'scope, 'env>, stream: TcpStream, peer: SocketAddr)
    where
        'env: 'scope,
    {
        if !self.config.policy.allows(peer.ip()) {
            return self.nuisance(peer, "is not in an allowed network".to_owned());
        }
        let client = match self.clients.begin(peer.ip()) {
            Ok(client) => client,
            Err(crowded) => return self.nuisance(peer, crowded.to_string()),
        };
        let spawned = thread::Builder::new().name(format!("ndt7 {peer}")).spawn_scoped(scope, move || {
            visit::serve(self, stream, peer);
            drop(client);
        });
        if spawned.is_err() {
            self.nuisance(peer, "came while no thread could be had".to_owned());
        }
    }
}
