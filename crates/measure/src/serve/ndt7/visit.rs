//! One client, from its request to its measurement.

use std::cell::Cell;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use linux::clock;
use model::host::HostIdentity;
use model::measurement::{End, Heading};
use model::run::{Outcome, Peer};
use model::spec::{Direction, TestSpec};
use tungstenite::Bytes;

use super::super::{Event, ServedTest};
use super::admission::{Admitted, Judge};
use super::host::Host;
use crate::ndt7::exchange::{Conduct, exchange};
use crate::ndt7::handshake::{HandshakeFailure, Patience, answer};
use crate::ndt7::outcome::{Before, Path, measured};
use crate::ndt7::report::ConnectionEnds;
use crate::ndt7::socket::{CountedStream, Ndt7Socket, SocketEnds};
use crate::ndt7::{LENGTH, LONGEST, spec};
use crate::stop::Stop;

/// Serves a client until it goes.
pub(super) fn serve(host: Host<'_>, stream: TcpStream, peer: SocketAddr) {
    let admitted = Cell::new(None);
    let stream = match &host.config.identity {
        Some(identity) => CountedStream::secure(stream, |stream| identity.accept(stream)),
        None => CountedStream::new(stream),
    };
    let Ok(stream) = stream else { return };
    let Ok(ends) = stream.ends() else { return };
    let judge = Judge { queue: &host.config.queue, longest: LONGEST, admitted: &admitted };
    let patience = Patience { deadline: clock::now() + HANDSHAKE, stop: host.stop };
    let answered = answer(stream, judge, patience);
    match (answered, admitted.into_inner()) {
        (Ok(socket), Some(admitted)) => test(host, socket, admitted, ends),
        (Ok(_), None) | (Err(HandshakeFailure::Stopped), _) => {}
        (Err(error), _) => host.log.nuisance(peer, format!("is no client of NDT7: {}", error.failure().detail)),
    }
}

fn test(host: Host<'_>, socket: Ndt7Socket, admitted: Admitted, ends: SocketEnds) {
    let terms = Terms { longest: host.config.policy.max_time, payload: host.payload, stop: host.stop, uuid: None };
    let spec = terms.spec(admitted.direction);
    (host.log.report)(Event::Started { peer: ends.peer, spec: Box::new(spec) });
    let finished = conduct(socket, admitted, ends, &terms);
    (host.log.report)(Event::Finished(Box::new(finished)));
}

/// What a test may take, and what it is called.
#[derive(Debug)]
pub(super) struct Terms<'a> {
    pub(super) longest: Duration,
    /// What a sender draws its messages from.
    pub(super) payload: &'a Bytes,
    pub(super) stop: &'a Stop,
    /// The name by which the client may ask for it later.
    pub(super) uuid: Option<String>,
}

impl Terms<'_> {
    fn spec(&self, direction: Direction) -> TestSpec {
        spec(direction, LENGTH.min(self.longest))
    }
}

/// Conducts the test that was let in; the turn is over when this returns.
pub(super) fn conduct(socket: Ndt7Socket, admitted: Admitted, ends: SocketEnds, terms: &Terms<'_>) -> ServedTest {
    let Admitted { direction, slot } = admitted;
    let (heading, end, length) = match direction {
        Direction::Reverse => (Heading::Outbound, End::Sender, LENGTH),
        // A client ends its upload itself; one that does not is ended.
        Direction::Forward | Direction::Bidirectional => (Heading::Inbound, End::Receiver, LENGTH + GRACE),
    };
    let spec = terms.spec(direction);
    let started = clock::wall_now();
    let before = Before::read(socket.get_ref());
    let names =
        ConnectionEnds { client: ends.peer.to_string(), server: ends.local.to_string(), uuid: terms.uuid.clone() };
    let conduct = Conduct {
        end,
        length: length.min(terms.longest),
        spacing: spec.sample_every,
        names: Some(names),
        stop: terms.stop,
    };
    let exchanged = exchange(socket, &conduct, terms.payload);
    // The path is free; what follows costs only our own time.
    drop(slot);
    let (measurement, samples) = measured(&exchanged, &before, Path { heading, ends }, &spec);
    let outcome = exchanged.failure.map_or(Outcome::Complete, Outcome::Failed);
    ServedTest { peer: peer(ends.peer), local: ends.local, started, outcome, measurement, samples, spec }
}

fn peer(address: SocketAddr) -> Peer {
    Peer {
        target: address.ip().to_string(),
        address: Some(address.to_string()),
        host: HostIdentity { software: Some("NDT7".to_owned()), ..HostIdentity::default() },
    }
}

/// How long a client may take to ask.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// How much longer than a test an upload may take before the server ends it.
const GRACE: Duration = Duration::from_secs(1);
