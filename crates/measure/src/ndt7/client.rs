//! The side that asks: from an address to a measurement.

use std::time::Duration;

use linux::{clock, sockets};
use model::host::HostIdentity;
use model::measurement::{End, Heading};
use model::run::{Failure, FailureKind, Outcome, Peer};
use model::series::RunSamples;
use model::spec::{Direction, TestBinding, TestSpec};

use super::exchange::{Conduct, exchange, payload};
use super::handshake::{Patience, ServerAddress, ask};
use super::outcome::{Before, Path, measured};
use super::socket::CountedStream;
use super::tls::Ndt7Trust;
use super::url::{Ndt7Url, Security};
use super::{LENGTH, LONGEST};
use crate::connect::{self, Route};
use crate::download::{failure, unreached};
use crate::identity;
use crate::options::OptionError;
use crate::session::client::Finished;
use crate::stop::Stop;

/// A test to be run with a server.
#[derive(Debug, Clone)]
pub struct Ndt7Request {
    /// Whom to test with.
    pub url: Ndt7Url,
    /// What is asked for, as [`super::spec`] says it; of its options the congestion control, the family, the local address and the spacing
    /// of samples are heeded.
    pub spec: TestSpec,
    /// Whose certificates are taken, where the address is one of `wss`.
    pub trust: Option<Ndt7Trust>,
    /// How long it takes; a server may end it earlier, and ends it after 10 s.
    pub length: Duration,
}

/// Runs a test. A failure is part of what is returned.
#[must_use]
pub fn run(request: &Ndt7Request, stop: &Stop) -> Finished {
    let mut finished = Finished {
        local: identity::local(None),
        peer: Peer { target: request.url.host().to_owned(), address: None, host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: None,
        samples: RunSamples::default(),
    };
    if let Err(failure) = test(request, stop, &mut finished) {
        finished.outcome = Outcome::Failed(failure);
    }
    finished
}

fn test(request: &Ndt7Request, stop: &Stop, finished: &mut Finished) -> Result<(), Failure> {
    let local = |error: std::io::Error| failure(FailureKind::Local, &error);
    let spec = &request.spec;
    let socket = reach(request)?;
    let stream = match (request.url.security(), &request.trust) {
        (Security::Plain, _) => CountedStream::new(socket),
        (Security::Tls, Some(trust)) => {
            CountedStream::secure(socket, |socket| trust.connect(socket, request.url.host()))
        }
        (Security::Tls, None) => Err(std::io::Error::other("no authorities are known for wss://")),
    };
    let stream = stream.map_err(local)?;
    let ends = stream.ends().map_err(local)?;
    finished.local = identity::local(Some(ends.local.ip()));
    finished.peer.address = Some(ends.peer.to_string());
    finished.peer.host.software = Some("NDT7".to_owned());
    let (heading, end) = match spec.direction {
        Direction::Reverse => (Heading::Inbound, End::Receiver),
        Direction::Forward | Direction::Bidirectional => (Heading::Outbound, End::Sender),
    };
    let target = request.url.target(spec.direction);
    let address = ServerAddress { authority: &request.url.authority(), target: &target };
    let patience = Patience { deadline: clock::now() + HANDSHAKE, stop };
    let payload = payload().map_err(local)?;
    let socket = ask(stream, &address, patience).map_err(|error| error.failure())?;
    let before = Before::read(socket.get_ref());
    // A server that sends ends its test itself, and what is on the way then still counts.
    let is_server_to_end = end == End::Receiver && request.length >= LENGTH;
    let length = if is_server_to_end { LONGEST } else { request.length };
    let conduct = Conduct { end, length, spacing: spec.sample_every, names: None, stop };
    let exchanged = exchange(socket, &conduct, &payload);
    (finished.measurement, finished.samples) = measured(&exchanged, &before, Path { heading, ends }, spec);
    match exchanged.failure {
        Some(failure) => Err(failure),
        None if exchanged.payload == 0 => Err(Failure {
            kind: FailureKind::Lost,
            detail: "the server closed the connection before any payload".to_owned(),
        }),
        None => Ok(()),
    }
}

fn reach(request: &Ndt7Request) -> Result<std::net::TcpStream, Failure> {
    let (url, spec) = (&request.url, &request.spec);
    let place = TestBinding { bind: spec.place.bind, ..TestBinding::default() };
    let addresses = connect::resolve(url.host(), url.port(), spec).map_err(|error| unreached(&error))?;
    let reached = connect::first_that_answers(url.host(), &addresses, |address| {
        Route::new(address, &place).tcp(spec.connect_timeout, |socket| match &spec.congestion_control {
            Some(name) => sockets::set_congestion_control(socket, name).map_err(OptionError::from),
            None => Ok(()),
        })
    });
    reached.map_err(|error| unreached(&error))
}

/// ndt7-protocol.md asks for 5 to 10 s.
const HANDSHAKE: Duration = Duration::from_secs(10);
