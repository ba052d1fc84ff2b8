//! The start of a connection: an HTTP request that becomes a WebSocket (RFC 6455 section 4), within a time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use linux::clock;
use model::run::{Failure, FailureKind};
use tungstenite::Error;
use tungstenite::handshake::client::{Request, generate_key};
use tungstenite::handshake::server::Callback;
use tungstenite::handshake::{HandshakeError, HandshakeRole};
use tungstenite::http::StatusCode;
use units::MonoTime;

use super::SUBPROTOCOL;
use super::socket::{CountedStream, Ndt7Socket, Readiness, limits, wait};
use crate::stop::Stop;

/// What ends a handshake early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience<'a> {
    pub(crate) deadline: MonoTime,
    pub(crate) stop: &'a Stop,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeFailure {
    /// The other side took too long.
    #[error("the handshake took too long")]
    Late,
    /// The user stopped it.
    #[error("stopped by the user")]
    Stopped,
    /// The socket failed.
    #[error("the connection broke")]
    Broken(#[source] io::Error),
    /// The other side is no WebSocket of NDT7, or does not want this test.
    #[error("{}", text(.0))]
    Refused(Box<Error>),
}

impl HandshakeFailure {
    /// What kind of failure it is to somebody who asked for a test.
    pub(crate) fn failure(&self) -> Failure {
        let kind = match self {
            Self::Late => FailureKind::Lost,
            Self::Stopped => FailureKind::Interrupted,
            Self::Broken(_) => FailureKind::Lost,
            Self::Refused(error) => match error.as_ref() {
                Error::Http(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => FailureKind::Busy,
                Error::Http(_) => FailureKind::Refused,
                Error::Io(_) => FailureKind::Lost,
                _ => FailureKind::Protocol,
            },
        };
        crate::download::failure(kind, self)
    }
}

fn text(error: &Error) -> String {
    let Error::Http(answer) = error else { return error.to_string() };
    let body = answer.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let first = body.lines().next().unwrap_or_default().chars().take(MOST_SAID).collect::<String>();
    let said = if first.is_empty() { String::new() } else { format!(": {first}") };
    format!("the server answers {}{said}", answer.status())
}

const MOST_SAID: usize = 200;

/// Asks a server for the test at `target`.
pub(crate) fn ask(
    stream: CountedStream,
    address: &ServerAddress<'_>,
    patience: Patience<'_>,
) -> Result<Ndt7Socket, HandshakeFailure> {
    let ServerAddress { authority, target } = address;
    let request = Request::builder()
        .uri(format!("ws://{authority}{target}"))
        .header("Host", *authority)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key())
        .header("Sec-WebSocket-Protocol", SUBPROTOCOL)
        .header("User-Agent", wire::params::CLIENT_VERSION)
        .body(())
        .map_err(|error| HandshakeFailure::Refused(Box::new(error.into())))?;
    let socket = stream.as_fd().try_clone_to_owned().map_err(HandshakeFailure::Broken)?;
    let begun = tungstenite::client::client_with_config(request, stream, Some(limits()));
    complete(begun, &socket, patience).map(|(connection, _)| connection)
}

/// Whom, and for what.
#[derive(Debug)]
pub(crate) struct ServerAddress<'a> {
    pub(crate) authority: &'a str,
    pub(crate) target: &'a str,
}

/// Answers a client; `judge` sees the request and says what is answered.
pub(crate) fn answer(
    stream: CountedStream,
    judge: impl Callback,
    patience: Patience<'_>,
) -> Result<Ndt7Socket, HandshakeFailure> {
    let socket = stream.as_fd().try_clone_to_owned().map_err(HandshakeFailure::Broken)?;
    let begun = tungstenite::accept_hdr_with_config(stream, judge, Some(limits()));
    complete(begun, &socket, patience)
}

/// Goes on with a handshake whenever there is something to read, until it is done or its time is over.
fn complete<R: HandshakeRole>(
    begun: Result<R::FinalResult, HandshakeError<R>>,
    socket: &OwnedFd,
    patience: Patience<'_>,
) -> Result<R::FinalResult, HandshakeFailure> {
    let mut state = begun;
    loop {
        let halfway = match state {
            Ok(done) => return Ok(done),
            Err(HandshakeError::Failure(error)) => return Err(HandshakeFailure::Refused(Box::new(error))),
            Err(HandshakeError::Interrupted(halfway)) => halfway,
        };
        let left = patience.deadline.since(clock::now());
        if patience.stop.is_stopped() {
            return Err(HandshakeFailure::Stopped);
        }
        if left.is_zero() {
            return Err(HandshakeFailure::Late);
        }
        wait(socket.as_fd(), Readiness::Input, left.min(GLANCE)).map_err(HandshakeFailure::Broken)?;
        state = halfway.handshake();
    }
}

/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);
