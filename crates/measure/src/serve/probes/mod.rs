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
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread::{self, Scope};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::DataRate;

use super::Event;
use super::listener::{canonical, is_passing, listen_at};
use super::partner::ServeError;
use super::sessions::Sessions;
use crate::one_way::now;
use crate::stop::Stop;

use admission::Limits;
use host::{Host, Log};

pub use host::ProbeConfig;

/// A server of test sessions whose port is open.
#[derive(Debug)]
pub struct ProbeServer {
    listener: TcpListener,
    config: ProbeConfig,
}

/// Control connections at once, half of them at most from one address.
const CONNECTIONS: usize = 32;
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);
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
        let heard = Sessions::new(CONNECTIONS);
        let log = Log { nuisances: Mutex::default(), report };
        let limits = Limits::new(&self.config.policy, RATE);
        let host = Host { config: &self.config, limits, started: now(), stop, heard: &heard, log: &log };
        thread::scope(|scope| {
            while !stop.is_stopped() {
                self.wait()?;
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

    fn wait(&self) -> io::Result<()> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(GLANCE.subsec_nanos()) };
        match poll(&mut [PollFd::new(&self.listener, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl<'env> Host<'env> {
    /// Hears a client on a thread of its own. Who is not let in finds the connection closed, as at an owampd.
    fn receive<'scope>(self, scope: &'scope Scope<'scope, 'env>, stream: TcpStream, peer: SocketAddr)
    where
        'env: 'scope,
    {
        if !self.config.policy.allows(peer.ip()) {
            return self.log.nuisance(peer, "is not in an allowed network".to_owned());
        }
        let session = match self.heard.begin(peer.ip()) {
            Ok(session) => session,
            Err(crowded) => return self.log.nuisance(peer, crowded.to_string()),
        };
        let spawned = thread::Builder::new().name(format!("probes of {peer}")).spawn_scoped(scope, move || {
            if let Err(error) = connection::serve(self, stream, peer) {
                self.log.nuisance(peer, connection::describe(&error));
            }
            drop(session);
        });
        if spawned.is_err() {
            self.log.nuisance(peer, "came while no thread could be had".to_owned());
        }
    }
}
