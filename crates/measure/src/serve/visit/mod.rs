//! One client, from its parameters to its goodbye.
//!
//! * [`reception`]: what it wants, whether it may, when its turn comes
//! * [`setting`]: its data connections
//! * [`course`]: the test
//! * [`farewell`]: the results

mod course;
mod farewell;
mod reception;
mod setting;

use std::net::SocketAddr;

use linux::clock;
use model::host::HostIdentity;
use model::run::{Outcome, Peer};
use model::spec::TestSpec;

use super::door::Guest;
use super::door::desk::Desk;
use super::policy::Policy;
use super::queue::{Place, Queue};
use super::{Event, Visited};
use crate::control::Control;
use crate::session::assemble::{Gathered, assemble};
use crate::session::failure::SessionError;
use crate::session::part::Ready;
use crate::stop::Stop;
use crate::wire::cookie::Cookie;
use crate::wire::extension::Offer;
use crate::wire::limits::Patience;
use crate::wire::server::ServerDialogue;
use crate::wire::signal::Signal;

/// What every visit needs of the partner that it comes to.
#[derive(Debug, Clone)]
pub(super) struct Partner {
    pub(super) desk: Desk,
    pub(super) queue: Queue,
    pub(super) policy: Policy,
    pub(super) patience: Patience,
    pub(super) cpus: Vec<u16>,
    pub(super) stamp_minus_mono_ns: i64,
    pub(super) stop: Stop,
}

/// A client that may test and whose turn it is.
#[derive(Debug)]
struct Visit {
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
    place: Option<Place>,
}

/// What became of a guest.
#[derive(Debug)]
pub(super) enum Admission {
    /// It was let in, and its test is over.
    Tested,
    /// It was not let in.
    TurnedAway,
    /// It did not get as far as that.
    NoClient(SessionError),
}

/// Receives a guest, runs its test, and reports what happened.
pub(super) fn receive(guest: Guest, partner: &Partner, report: &(dyn Fn(Event) + Sync)) -> Admission {
    let peer = guest.peer;
    let mut visit = match reception::receive(guest, partner, report) {
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
    let (measurement, samples) = assemble(&gathered, &visit.spec);
    report(Event::Finished(Box::new(Visited {
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

impl Visit {
    fn test(&mut self, partner: &Partner, gathered: &mut Gathered) -> Result<(), SessionError> {
        let (endpoints, _announced) = self.await_endpoints(partner)?;
        self.control.send_signal(Signal::TestStart)?;
        let ready = Ready::new(endpoints, &self.spec, &self.conduct()).map_err(cannot_start)?;
        self.control.send_signal(Signal::TestRunning)?;
        let running = ready.start().map_err(cannot_start)?;
        match self.watch_over(&running, partner) {
            Ok(sent) => self.say_farewell(running, sent, gathered),
            Err(error) => {
                running.streams.stop_sending();
                running.streams.stop_receiving();
                gathered.part = Some(running.abandon());
                Err(error)
            }
        }
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
