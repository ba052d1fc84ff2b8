//! Clients that each get a thread: who may come in, how many at once, and what is said of the others.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, Scope};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::listener::{canonical, is_passing};
use super::log::Log;
use super::policy::Policy;
use super::sessions::Sessions;
use crate::stop::Stop;

/// An open port, and who may come in.
#[derive(Clone, Copy)]
pub(super) struct Entrance<'env> {
    pub(super) listener: &'env TcpListener,
    pub(super) policy: &'env Policy,
    /// Clients at once, half of them at most from one address.
    pub(super) room: usize,
    /// What the thread of a client is called, before its address.
    pub(super) name: &'static str,
    pub(super) log: &'env Log<'env>,
}

/// Somebody who has come.
struct Arrival {
    stream: TcpStream,
    peer: SocketAddr,
}

/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);

impl Entrance<'_> {
    /// Serves each client on a thread of its own until it is stopped. Who is not let in finds the connection closed.
    ///
    /// # Errors
    /// If the open port fails.
    pub(super) fn serve(&self, stop: &Stop, serve: &(dyn Fn(TcpStream, SocketAddr) + Sync)) -> io::Result<()> {
        let clients = Sessions::new(self.room);
        thread::scope(|scope| {
            while !stop.is_stopped() {
                self.wait()?;
                match self.listener.accept() {
                    Ok((stream, peer)) => self.admit(scope, &clients, Arrival { stream, peer: canonical(peer) }, serve),
                    // The connection was gone before we took it, or we have too many: the next pass tries again.
                    Err(error) if is_passing(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    fn admit<'scope, 'env>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        clients: &'env Sessions,
        Arrival { stream, peer }: Arrival,
        serve: &'env (dyn Fn(TcpStream, SocketAddr) + Sync),
    ) {
        if !self.policy.allows(peer.ip()) {
            return self.log.nuisance(peer, "is not in an allowed network".to_owned());
        }
        let client = match clients.begin(peer.ip()) {
            Ok(client) => client,
            Err(crowded) => return self.log.nuisance(peer, crowded.to_string()),
        };
        let spawned = thread::Builder::new().name(format!("{} {peer}", self.name)).spawn_scoped(scope, move || {
            serve(stream, peer);
            drop(client);
        });
        if spawned.is_err() {
            self.log.nuisance(peer, "came while no thread could be had".to_owned());
        }
    }

    fn wait(&self) -> io::Result<()> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(GLANCE.subsec_nanos()) };
        match poll(&mut [PollFd::new(self.listener, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}
