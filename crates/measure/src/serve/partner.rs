//! A test partner: the door, the queue and a thread for each client.

use std::io;
use std::net::SocketAddr;
use std::thread::{self, Scope};

use super::listener::{Client, Host, Listener, turn_away};
use super::log::Log;
use super::queue::Queue;
use super::session::{self, Admission, Partner};
use super::sessions::Sessions;
use super::{Config, Event, Once};
use crate::stop::Stop;

/// Why a test partner cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port cannot be had.
    #[error("port {port} cannot be opened{}", address.map_or_else(String::new, |address| format!(" on {address}")))]
    Open {
        /// Port of TCP or UDP that was asked for.
        port: u16,
        /// The address, where one was asked for.
        address: Option<std::net::IpAddr>,
        /// What the kernel said.
        source: io::Error,
    },
    /// The open port failed.
    #[error("the listening socket failed")]
    Listen(#[source] io::Error),
}

/// Serves until told to stop, or for one test. `report` is called from several threads.
///
/// # Errors
/// If the port cannot be had, or fails.
pub fn serve(config: &Config, stop: &Stop, report: &(dyn Fn(Event) + Sync)) -> Result<(), ServeError> {
    let open = Listener::open(config);
    let mut door = open.map_err(|source| ServeError::Open { port: config.port, address: config.bind, source })?;
    report(Event::Listening { address: door.local_addr().map_err(ServeError::Listen)? });
    let partner = Partner {
        desk: door.expected_connections(),
        queue: config.queue.clone().unwrap_or_else(|| Queue::new(config.policy.max_queue)),
        policy: config.policy.clone(),
        patience: config.patience,
        cpus: config.cpus.clone(),
        results: config.results,
        stamp_minus_mono_ns: door.stamp_minus_mono_ns(),
        release: door.release(),
        stop: stop.clone(),
    };
    let visits = Sessions::new(usize::from(config.policy.max_queue) + SPARE_VISITS);
    let log = Log::new(report);
    thread::scope(|scope| {
        let reception = Reception { scope, partner: &partner, visits: &visits, once: config.once, log: &log };
        let kept = door.keep(stop, &reception);
        // Sessions that are under way see the wish and end; the scope waits for them.
        stop.stop();
        kept
    })
    .map_err(ServeError::Listen)
}

/// Clients that are heard at once beyond those that wait in the queue, so that each can be told that it is full.
const SPARE_VISITS: usize = 16;

struct Reception<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    partner: &'env Partner,
    visits: &'env Sessions,
    once: Once,
    log: &'env Log<'env>,
}

impl Host for Reception<'_, '_> {
    fn welcome(&self, client: Client) {
        let peer = client.peer;
        let visit = match self.visits.begin(peer.ip()) {
            Ok(visit) => visit,
            Err(crowded) => {
                turn_away(&client.stream);
                return self.nuisance(peer, crowded.to_string());
            }
        };
        let (partner, log, once) = (self.partner, self.log, self.once);
        let spawned = thread::Builder::new().name(format!("visit {peer}")).spawn_scoped(self.scope, move || {
            let admission = session::receive(client, partner, log.report);
            drop(visit);
            match admission {
                Admission::Tested if once == Once::Yes => partner.stop.stop(),
                Admission::Tested | Admission::TurnedAway => {}
                Admission::NoClient(error) => log.nuisance(peer, format!("is no client: {}", error.failure().detail)),
            }
        });
        if spawned.is_err() {
            self.nuisance(peer, "came while no thread could be had".to_owned());
        }
    }

    fn nuisance(&self, peer: SocketAddr, what: String) {
        self.log.nuisance(peer, what);
    }
}
