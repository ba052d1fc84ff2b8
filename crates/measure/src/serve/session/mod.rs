//! One client, from its parameters to its goodbye.
//!
//! * [`setup`]: what it wants, whether it may, when its turn comes
//! * [`data_connections`]: its data connections
//! * [`run`]: the test
//! * [`teardown`]: the results

mod data_connections;
mod run;
mod setup;
mod teardown;

use std::net::SocketAddr;

use linux::clock;
use model::host::HostIdentity;
use model::run::{Outcome, Peer};
use model::series::RunSamples;
use model::spec::TestSpec;

use super::listener::Client;
use super::listener::expected::ExpectedConnections;
use super::policy::Policy;
use super::queue::{Queue, QueueSlot};
use super::{Event, ServedResults, ServedTest};
use crate::control::{Control, Waker};
use crate::session::assemble::{Gathered, assemble};
use crate::session::failure::SessionError;
use crate::session::part::Ready;
use crate::stop::Stop;
use wire::cookie::Cookie;
use wire::extension::Offer;
use wire::limits::Patience;
use wire::server::ServerDialogue;
use wire::signal::Signal;

/// What every visit needs of the partner that it comes to.
#[derive(Debug, Clone)]
pub(super) struct Partner {
    pub(super) desk: ExpectedConnections,
    pub(super) queue: Queue,
    pub(super) policy: Policy,
    pub(super) patience: Patience,
    pub(super) cpus: Vec<u16>,
    pub(super) results: ServedResults,
    pub(super) stamp_minus_mono_ns: i64,
    /// Has the probes answered that are held.
    pub(super) release: Waker,
    pub(super) stop: Stop,
}

/// A client that may test and whose turn it is.
#[derive(Debug)]
struct ServerSession {
    control: Control<ServerDialogue>,
    peer: SocketAddr,
    local: SocketAddr,
    cookie: Cookie,
    spec: TestSpec,
    offer: Option<Offer>,
    client_version: Option<String>,
    wants_output: bool,
    wide_counters: bool,
    /// Kept until the test is over: dropping it lets the next one in.
    place: Option<QueueSlot>,
}

/// What became of a client.
#[derive(Debug)]
pub(super) enum Admission {
    /// It was let in, and its test is over.
    Tested,
    /// It was not let in.
    TurnedAway,
    /// It did not get as far as that.
    NoClient(SessionError),
}

/// Receives a client, runs its test, and reports what happened.
pub(super) fn receive(client: Client, partner: &Partner, report: &(dyn Fn(Event) + Sync)) -> Admission {
    let peer = client.peer;
    let mut visit = match setup::receive(client, partner, report) {
        Ok(visit) => visit,
        Err(error @ SessionError::Control(_)) => return Admission::NoClient(error),
        Err(error) => {
            report(Event::Refused { peer, reason: error.failure().detail });
            return Admission::TurnedAway;
        }
    };
    report(Event::Started { peer, spec: Box::new(visit.spec.clone()) });
    let started = clock::wall_now();
    let mut gathered = Gathered::default();
    let result = visit.test(partner, &mut gathered);
    if result.is_err() {
        // A client that is still there learns that this is the end.
        let _ = visit.control.send_signal(Signal::ServerTerminate);
    }
    // The path is free; what follows costs only our own time.
    visit.place = None;
    let (measurement, samples) = match partner.results {
        ServedResults::Kept => assemble(&mut gathered, &visit.spec),
        ServedResults::Dropped => (None, RunSamples::default()),
    };
    report(Event::Finished(Box::new(ServedTest {
        peer: visit.described_peer(),
        local: visit.local,
        started,
        outcome: result.map_or_else(|error| Outcome::Failed(error.failure()), |()| Outcome::Complete),
        measurement,
        samples,
        spec: visit.spec,
    })));
    Admission::Tested
}

impl ServerSession {
    fn test(&mut self, partner: &Partner, gathered: &mut Gathered) -> Result<(), SessionError> {
        let (endpoints, _announced) = self.await_endpoints(partner)?;
        self.control.send_signal(Signal::TestStart)?;
        let ready = Ready::new(endpoints, &self.spec, &self.conduct()).map_err(cannot_start)?;
        self.control.send_signal(Signal::TestRunning)?;
        let running = ready.start(None).map_err(cannot_start)?;
        let result = match self.watch_over(&running, partner) {
            Ok(sent) => self.tear_down(running, sent, gathered),
            Err(error) => {
                running.streams.stop_sending();
                running.streams.stop_receiving();
                gathered.part = Some(running.abandon().0);
                Err(error)
            }
        };
        // The client has said goodbye, and waits for the answers to its last probes.
        partner.release.wake();
        result
    }

    fn described_peer(&self) -> Peer {
        let software = self.client_version.as_ref().map(|version| match self.offer {
            Some(_) => version.clone(),
            None => format!("iperf {version}"),
        });
        Peer {
            target: self.peer.ip().to_string(),
            address: Some(self.peer.to_string()),
            host: HostIdentity { software, ..HostIdentity::default() },
        }
    }
}

fn cannot_start(source: std::io::Error) -> SessionError {
    SessionError::Local { what: "the threads of the test cannot be started".to_owned(), source }
}
