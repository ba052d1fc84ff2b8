//! The side that answers OWAMP and TWAMP, in open mode: for owping, twping, and linerate's own clients.
//!
//! Sessions beside a bulk test would measure it, and harm it little: whoever starts this server wants both. Packets go only
//! to the address that asked over TCP, so that nobody can have a stranger flooded.
//!
//! * `admission`: which sessions are accepted
//! * `connection`: one control connection, from greeting to records
//! * `sessions`: what runs between start and stop
//! * `reflector`: TWAMP's side of a session

mod admission;
mod connection;
mod host;
mod reflector;
mod sessions;

use std::io;
use std::net::{SocketAddr, TcpListener};

use units::DataRate;

use super::Event;
use super::clients::Entrance;
use super::listener::listen_at;
use super::log::Log;
use super::partner::ServeError;
use crate::one_way::now;
use crate::stop::Stop;

use admission::Limits;
use host::Host;

pub use host::ProbeConfig;

/// A server of test sessions whose port is open.
#[derive(Debug)]
pub struct ProbeServer {
    listener: TcpListener,
    config: ProbeConfig,
}

/// Control connections at once, half of them at most from one address.
const CONNECTIONS: usize = 32;
/// The highest rate of one session where none is set, as owampd's default class has it.
const RATE: DataRate = DataRate::from_bps(20_000_000);

impl ProbeServer {
    /// Opens the port.
    ///
    /// # Errors
    /// If it is taken or not allowed.
    pub fn open(config: ProbeConfig) -> Result<Self, ServeError> {
        let opened = listen_at(config.bind, config.port);
        let failed = |source| ServeError::Open { port: config.port, address: config.bind, source };
        opened.map_err(failed).map(|listener| Self { listener, config })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until told to stop. `report` is called from several threads.
    ///
    /// # Errors
    /// If the open port fails.
    pub fn serve(&self, stop: &Stop, report: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
        let address = self.address().map_err(ServeError::Listen)?;
        report(Event::ServesSessions { protocol: self.config.protocol, address });
        let log = Log::new(report);
        let limits = Limits::new(&self.config.policy, RATE);
        let host = Host { config: &self.config, limits, started: now(), stop, log: &log };
        let (listener, policy) = (&self.listener, &self.config.policy);
        let entrance = Entrance { listener, policy, room: CONNECTIONS, name: "probes of", log: &log };
        let serve = |stream, peer| {
            if let Err(error) = connection::serve(host, stream, peer) {
                host.log.nuisance(peer, connection::describe(&error));
            }
        };
        entrance.serve(stop, &serve).map_err(ServeError::Listen)
    }
}
