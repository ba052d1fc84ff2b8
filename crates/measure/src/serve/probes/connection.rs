//! One control connection: greeting, requests, sessions, records.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use linux::clock;
use owamp::control::command::{Command, StartAck};
use owamp::control::fetch::{FetchAck, FetchSession, Finished, emit_body};
use owamp::control::greeting::{Greeting, Modes, ServerStart, SetUpResponse};
use owamp::control::request::{AcceptSession, ServerRole, SessionRequest};
use owamp::control::stop::StopSessions;
use owamp::control::{Accept, Protocol};
use owamp::record::PacketRecord;
use owamp::session::SessionId;

use super::admission::{Given, Refusal};
use super::host::Host;
use super::sessions::{AcceptedSession, Finish, FinishedSession, run};
use crate::one_way::control::{ConnectionError, ControlConnection};
use crate::one_way::now;
use crate::one_way::socket::TestSocket;
use crate::serve::Event;

/// How long a client may take for the rest of a message, and for its answer in the greeting.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may be silent between commands.
const IDLE: Duration = Duration::from_secs(60);

/// Serves a client until it goes.
///
/// # Errors
/// If it breaks the protocol or falls silent. That it closes the connection when it wants nothing more is no error.
pub(super) fn serve(host: Host<'_>, stream: TcpStream, peer: SocketAddr) -> Result<(), ConnectionError> {
    let local = stream.local_addr().map_err(ConnectionError::Broken)?;
    let control = ControlConnection::new(stream, host.stop, PATIENCE).map_err(ConnectionError::Broken)?;
    let mut connection =
        Connection { host, peer, local, control, accepted: Vec::new(), finished: Vec::new(), given: Given::default() };
    if connection.greet()? == Greeted::Agreed {
        match connection.commands() {
            Err(ConnectionError::Closed(_) | ConnectionError::Stopped) => {}
            outcome => return outcome,
        }
    }
    Ok(())
}

/// A failed connection as what its peer did.
pub(super) fn describe(error: &ConnectionError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("ended its sessions badly: {error}{cause}")
}

struct Connection<'a> {
    host: Host<'a>,
    peer: SocketAddr,
    local: SocketAddr,
    control: ControlConnection<'a>,
    accepted: Vec<AcceptedSession>,
    finished: Vec<FinishedSession>,
    given: Given,
}

#[derive(PartialEq, Eq)]
enum Greeted {
    Agreed,
    OtherMode,
}

impl Connection<'_> {
    fn greet(&mut self) -> Result<Greeted, ConnectionError> {
        let random: [u8; 32] = linux::random::bytes().map_err(ConnectionError::Broken)?;
        let (mut challenge, mut salt) = ([0; 16], [0; 16]);
        challenge.copy_from_slice(&random[..16]);
        salt.copy_from_slice(&random[16..]);
        // The least count that RFC 4656 §3.1 allows; in open mode nobody derives a key.
        self.control.send(&Greeting { modes: Modes::OPEN, challenge, salt, count: 1_024 }.emit())?;
        let chosen = SetUpResponse::parse(&self.control.message("the answer to the greeting")?);
        let (accept, greeted) = if chosen.mode == Modes::OPEN {
            (Accept::Ok, Greeted::Agreed)
        } else {
            (Accept::NotSupported, Greeted::OtherMode)
        };
        self.control.send(&ServerStart { accept, started: self.host.started }.emit())?;
        Ok(greeted)
    }

    fn commands(&mut self) -> Result<(), ConnectionError> {
        let protocol = self.host.config.protocol;
        while let Some(command) = self.control.command(protocol, clock::now() + IDLE)? {
            match command {
                Command::Request(request) => self.request(*request)?,
                Command::Start => self.start()?,
                Command::Stop(_) if protocol == Protocol::Owamp => self.control.send(&nothing_sent().emit())?,
                Command::Stop(_) => {}
                Command::Fetch(fetch) => self.fetch(fetch)?,
            }
        }
        Ok(())
    }

    fn request(&mut self, request: SessionRequest) -> Result<(), ConnectionError> {
        let answer = match self.accept(request) {
            Ok(answer) => answer,
            Err(Refusal { accept, reason }) => {
                (self.host.log.report)(Event::Refused { peer: self.peer, reason });
                AcceptSession { accept, port: 0, session: SessionId::default() }
            }
        };
        self.control.send(&answer.emit())
    }

    fn accept(&mut self, mut request: SessionRequest) -> Result<AcceptSession, Refusal> {
        let Host { config, limits, .. } = self.host;
        limits.check(&request, self.peer.ip(), config.protocol, self.given)?;
        let failed = |error: std::io::Error| Refusal {
            accept: Accept::InternalError,
            reason: format!("cannot be given a session: {error}"),
        };
        let address = self.local.ip().to_canonical();
        let asked = request.receiver.port;
        let ports = match request.role {
            // A reflector takes the port that the client proposes where it may.
            ServerRole::Reflector if config.udp_ports.contains(asked) => {
                crate::one_way::socket::PortRange { first: asked, last: asked }
            }
            _ => config.udp_ports,
        };
        let open = TestSocket::open(address, ports).or_else(|_| TestSocket::open(address, config.udp_ports));
        let socket = open.map_err(failed)?;
        let port = socket.port().map_err(failed)?;
        let theirs = if request.role == ServerRole::Sender { request.receiver.port } else { request.sender.port };
        socket.connect(SocketAddr::new(self.peer.ip(), theirs)).map_err(failed)?;
        if request.role == ServerRole::Sender {
            request.sender.port = port;
        } else {
            request.receiver.port = port;
            request.session = SessionId::new(address, now(), linux::random::bytes().map_err(failed)?);
        }
        self.given.sessions += 1;
        self.given.packets = self.given.packets.saturating_add(request.packets);
        let answer = AcceptSession { accept: Accept::Ok, port, session: request.session };
        self.accepted.push(AcceptedSession { request, socket });
        Ok(answer)
    }

    /// All sessions that were asked for run, until the client says that they are over or all are through.
    fn start(&mut self) -> Result<(), ConnectionError> {
        self.control.send(&StartAck { accept: Accept::Ok }.emit())?;
        let sessions = std::mem::take(&mut self.accepted);
        let protocol = self.host.config.protocol;
        let (theirs, finished) = run(sessions, self.host.limits, &mut self.control, protocol, self.host.stop)?;
        for session in &finished {
            (self.host.log.report)(Event::SessionOver { peer: self.peer, summary: session.summary() });
        }
        if protocol == Protocol::Owamp {
            let sent: Vec<_> = finished.iter().filter_map(FinishedSession::sent).collect();
            let count = u32::try_from(sent.len()).unwrap_or(0);
            self.control.send(&StopSessions { accept: Accept::Ok, count, sent }.emit())?;
        }
        let theirs = match theirs {
            Finish::Stopped(theirs) => theirs,
            Finish::Through => self.control.stop_sessions(protocol, IDLE)?,
        };
        self.finished.extend(finished.into_iter().map(|session| session.with_word_of_sender(&theirs)));
        Ok(())
    }

    fn fetch(&mut self, fetch: FetchSession) -> Result<(), ConnectionError> {
        let found = self
            .finished
            .iter()
            .find(|session| session.request.role == ServerRole::Receiver && session.request.session == fetch.session);
        let Some(session) = found else {
            let finished = Finished::No;
            let refused = FetchAck { accept: Accept::Refused, finished, next_sequence: 0, skips: 0, records: 0 };
            return self.control.send(&refused.emit());
        };
        let wanted = |record: &&PacketRecord| (fetch.begin..=fetch.end).contains(&record.sequence);
        let records: Vec<PacketRecord> = session.records.iter().filter(wanted).copied().collect();
        let ack = FetchAck {
            accept: Accept::Ok,
            finished: Finished::Yes,
            next_sequence: session.next_sequence,
            skips: u32::try_from(session.skipped.len()).unwrap_or(0),
            records: u32::try_from(records.len()).unwrap_or(0),
        };
        let mut answer = ack.emit().to_vec();
        answer.extend(session.request.emit());
        answer.extend(emit_body(&session.skipped, &records));
        self.control.send(&answer)
    }
}

fn nothing_sent() -> StopSessions {
    StopSessions { accept: Accept::Ok, count: 0, sent: Vec::new() }
}
