//! From an address to a control connection in open mode, as a client.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use model::probe::one_way::SessionSpec;
use model::run::{Failure, FailureKind};
use model::spec::{TestBinding, TestSpec};
use owamp::control::Accept;
use owamp::control::greeting::{Greeting, Modes, ServerStart, SetUpResponse};
use owamp::control::request::{AcceptSession, SessionRequest};

use super::PATIENCE;
use super::control::{ConnectionError, ControlConnection};
use crate::connect::{self, Route};
use crate::download::{failure, unreached};
use crate::stop::Stop;

/// A server that is ready for requests, and the two ends of the connection with it.
pub(super) struct Server<'a> {
    pub(super) control: ControlConnection<'a>,
    pub(super) local: IpAddr,
    pub(super) remote: IpAddr,
}

impl<'a> Server<'a> {
    /// Connects and agrees on open mode.
    pub(super) fn open(target: &str, spec: &SessionSpec, stop: &'a Stop) -> Result<Self, Failure> {
        let stream = reach(target, spec)?;
        let address = |end: std::io::Result<SocketAddr>| end.map(|end| end.ip().to_canonical());
        let local = address(stream.local_addr()).map_err(|error| failure(FailureKind::Local, &error))?;
        let remote = address(stream.peer_addr()).map_err(|error| failure(FailureKind::Lost, &error))?;
        let control = ControlConnection::new(stream, stop, PATIENCE);
        let mut control = control.map_err(|error| failure(FailureKind::Local, &error))?;
        agree(&mut control)?;
        Ok(Self { control, local, remote })
    }

    /// Asks for a session.
    pub(super) fn request(&mut self, request: &SessionRequest) -> Result<AcceptSession, Failure> {
        self.control.send(&request.emit()).map_err(broken)?;
        let answer = AcceptSession::parse(&self.control.message("the answer to the request").map_err(broken)?);
        accepted(answer.accept, "the session").map(|()| answer)
    }
}

fn reach(target: &str, spec: &SessionSpec) -> Result<TcpStream, Failure> {
    let place = TestBinding { bind: spec.bind, ..TestBinding::default() };
    let resolving = TestSpec { family: spec.family, place: place.clone(), ..TestSpec::default() };
    let addresses = connect::resolve(target, spec.port, &resolving).map_err(|error| unreached(&error))?;
    connect::first_that_answers(target, &addresses, |address| Route::new(address, &place).tcp(CONNECT, |_| Ok(())))
        .map_err(|error| unreached(&error))
}

fn agree(control: &mut ControlConnection<'_>) -> Result<(), Failure> {
    let greeting = Greeting::parse(&control.message("the greeting").map_err(broken)?);
    if !greeting.modes.has_open() {
        let detail = match greeting.modes {
            Modes(0) => "the server wants no connection now (it offers no mode)".to_owned(),
            Modes(modes) => format!("the server demands a key: it offers modes {modes:#x}, open mode is 0x1"),
        };
        return Err(Failure { kind: FailureKind::Refused, detail });
    }
    control.send(&SetUpResponse { mode: Modes::OPEN }.emit()).map_err(broken)?;
    let start = ServerStart::parse(&control.message("the server's start").map_err(broken)?);
    accepted(start.accept, "the connection")
}

/// Whether the server accepts.
pub(super) fn accepted(accept: Accept, what: &str) -> Result<(), Failure> {
    let kind = match accept {
        Accept::Ok => return Ok(()),
        Accept::TemporaryLimit => FailureKind::Busy,
        _ => FailureKind::Refused,
    };
    Err(Failure { kind, detail: format!("the server does not accept {what}: {accept}") })
}

/// A control connection that is of no more use. Taken whole, as `map_err` gives it.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives the error away")]
pub(super) fn broken(error: ConnectionError) -> Failure {
    let kind = match error {
        ConnectionError::Stopped => FailureKind::Interrupted,
        ConnectionError::Protocol(_) => FailureKind::Protocol,
        ConnectionError::Closed(_) | ConnectionError::Broken(_) | ConnectionError::Silent { .. } => FailureKind::Lost,
    };
    failure(kind, &error)
}

const CONNECT: Duration = Duration::from_secs(5);
