//! The side that asks: from a name to a measurement.
//!
//! * `handshake`: reach the peer, say what is wanted, wait for our turn
//! * `setup`: the baseline before the test, and the data connections
//! * `run`: the test itself
//! * `teardown`: stop, drain, exchange results
//! * `outcome`: everything put together

mod handshake;
mod outcome;
mod run;
mod setup;
mod teardown;

pub(crate) use setup::headings;

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{Interval, Measurement, RttSummary};
use model::run::{Outcome, Peer};
use model::series::RunSamples;
use model::spec::TestSpec;

use super::failure::SessionError;
use crate::identity;
use crate::stop::Stop;

/// A test to be run with a peer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name or address of the peer.
    pub host: String,
    /// TCP port of the control connection.
    pub port: u16,
    /// What to do.
    pub spec: TestSpec,
    /// How long to wait in the peer's queue; not at all where zero.
    pub queue_wait: Duration,
    /// What a hub has signed for this test, for a peer that takes no other.
    pub ticket: Option<String>,
}

/// Everything about a test that is over, but for its name and command.
#[derive(Debug)]
pub struct Finished {
    /// This host.
    pub local: HostIdentity,
    /// The peer, as far as it was reached.
    pub peer: Peer,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What was found.
    pub measurement: Option<Measurement>,
    /// Samples of streams and probes, on this host's clock; none where no data flowed.
    pub samples: RunSamples,
}

/// What happens while a test goes on, for people who watch.
#[derive(Debug)]
pub enum Event {
    /// The peer answers.
    Connected {
        /// Address and port of the control connection's other end, as text.
        address: String,
    },
    /// The peer runs other tests first.
    Queued {
        /// Tests before this one.
        ahead: u32,
        /// When it should start.
        wait: Duration,
    },
    /// The path without load.
    Idle(RttSummary),
    /// Data flows.
    Started,
    /// An interval is over, one entry for each direction.
    Progress(Vec<Interval>),
    /// The senders have stopped; what is on the way is awaited.
    Draining,
}

/// How soon a user's wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);

/// Runs a test, in the network namespace that its specification names. A failure is part of what is returned.
pub fn run(request: &Request, stop: &Stop, watch: &mut (dyn FnMut(Event) + Send)) -> Finished {
    let Some(netns) = request.spec.place.netns.as_deref() else { return run_here(request, stop, watch) };
    let inside = linux::netns::NetnsRef::parse(netns).map_err(std::io::Error::other).and_then(|netns| {
        linux::netns::with_netns(&netns, || run_here(request, stop, watch)).map_err(std::io::Error::other)
    });
    inside.unwrap_or_else(|source| {
        let what = format!("network namespace `{netns}` cannot be entered");
        outcome::unreached(request, identity::local(None), &SessionError::Local { what, source })
    })
}

fn run_here(request: &Request, stop: &Stop, watch: &mut dyn FnMut(Event)) -> Finished {
    match handshake::greet(request, stop, watch) {
        Ok(session) => outcome::of(request, session, stop, watch),
        Err(error) => outcome::unreached(request, identity::local(None), &error),
    }
}
