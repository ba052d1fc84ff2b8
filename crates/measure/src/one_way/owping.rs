//! A client of OWAMP: sends to a server, receives from it, and asks what it has received.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use linux::clock;
use model::probe::Subject;
use model::probe::one_way::{Directions, OneWayProbe, OneWayResult, SessionSpec};
use model::run::{Failure, FailureKind, Outcome};
use owamp::control::Protocol;
use owamp::control::command::{Command, StartAck};
use owamp::control::fetch::{FetchAck, FetchSession};
use owamp::control::request::{Endpoint, ServerRole, SessionRequest};
use owamp::control::stop::{SentSession, StopSessions};
use owamp::one_way::{SentPackets, summarise};
use owamp::record::PacketRecord;
use owamp::schedule::Schedule;
use owamp::session::SessionId;
use owamp::time::NtpInterval;
use units::MonoTime;

use super::greet::{Server, accepted, broken};
use super::receiver::{ReceivePlan, receive_session};
use super::sender::{SendPlan, send_session};
use super::socket::{PortRange, TestSocket};
use super::{PATIENCE, START_AFTER, now, slots};
use crate::download::failure;
use crate::stop::Stop;

/// Measures the directions that `spec` asks for between this host and a server of OWAMP.
#[must_use]
pub fn one_way(target: &str, spec: &SessionSpec, stop: &Stop) -> OneWayProbe {
    let subject = Subject { target: target.to_owned(), address: None, started: clock::wall_now() };
    let mut probe =
        OneWayProbe { subject, spec: spec.clone(), outcome: Outcome::Complete, forward: None, reverse: None };
    if let Err(failure) = measure(&mut probe, target, stop) {
        probe.outcome = Outcome::Failed(failure);
    }
    probe
}

/// A session that the server has accepted.
struct Session {
    id: SessionId,
    socket: TestSocket,
}

/// What this host knows when both directions are through.
struct Measured {
    sent: Option<(SessionId, u32)>,
    received: Option<(SessionId, Vec<PacketRecord>)>,
}

fn measure(probe: &mut OneWayProbe, target: &str, stop: &Stop) -> Result<(), Failure> {
    let spec = probe.spec.clone();
    let mut server = Server::open(target, &spec, stop)?;
    probe.subject.address = Some(server.remote);
    let forward =
        (spec.directions != Directions::Reverse).then(|| ask(&mut server, &spec, ServerRole::Receiver)).transpose()?;
    let reverse =
        (spec.directions != Directions::Forward).then(|| ask(&mut server, &spec, ServerRole::Sender)).transpose()?;
    server.control.send(&Command::Start.emit()).map_err(broken)?;
    let ack = StartAck::parse(&server.control.message("the start of the sessions").map_err(broken)?);
    accepted(ack.accept, "the start of the sessions")?;

    let measured = run(forward, reverse, &spec, stop)?;
    if stop.is_stopped() {
        let detail = "stopped by the user".to_owned();
        return Err(Failure { kind: FailureKind::Interrupted, detail });
    }
    let theirs = end(&mut server, &measured)?;
    if let Some((id, records)) = &measured.received {
        probe.reverse = Some(summary_of_received(*id, records, &theirs, spec.count));
    }
    if let Some((id, next_sequence)) = measured.sent {
        probe.forward = Some(fetch(&mut server, id, next_sequence)?);
    }
    Ok(())
}

fn ask(server: &mut Server<'_>, spec: &SessionSpec, role: ServerRole) -> Result<Session, Failure> {
    let local_error = |error: std::io::Error| failure(FailureKind::Local, &error);
    let ports = spec.udp_port.map_or(PortRange::ANY, |port| {
        let port = if role == ServerRole::Sender { port.saturating_add(1) } else { port };
        PortRange { first: port, last: port }
    });
    let socket = TestSocket::open(server.local, ports).map_err(local_error)?;
    let here = Endpoint { address: server.local, port: socket.port().map_err(local_error)? };
    let there = Endpoint { address: server.remote, port: 0 };
    let (sender, receiver) = if role == ServerRole::Sender { (there, here) } else { (here, there) };
    let own_id = SessionId::new(server.local, now(), linux::random::bytes().map_err(local_error)?);
    let request = SessionRequest {
        role,
        sender,
        receiver,
        session: if role == ServerRole::Sender { own_id } else { SessionId::default() },
        packets: spec.count,
        padding: u32::from(spec.padding_bytes),
        start: now().after(NtpInterval::from_duration(START_AFTER)),
        timeout: NtpInterval::from_duration(spec.timeout),
        type_p: 0,
        slots: slots(spec),
    };
    let answer = server.request(&request)?;
    // The server's socket sends from the port that it names, or receives there.
    socket.connect(SocketAddr::new(server.remote, answer.port)).map_err(local_error)?;
    Ok(Session { id: if role == ServerRole::Sender { own_id } else { answer.session }, socket })
}

/// Sends and receives at once, until the packets of both directions are through or have timed out.
fn run(
    forward: Option<Session>,
    reverse: Option<Session>,
    spec: &SessionSpec,
    stop: &Stop,
) -> Result<Measured, Failure> {
    let start = clock::now() + START_AFTER;
    thread::scope(|scope| {
        let receiving = reverse.map(|mut session| {
            let deadline = start + duration_of(spec, session.id) + spec.timeout;
            let plan = ReceivePlan { packets: spec.count, deadline: deadline + SERVER_LATE, timeout: spec.timeout };
            let id = session.id;
            (id, scope.spawn(move || receive_session(&mut session.socket, &plan, stop)))
        });
        let sent = forward.map(|session| send_and_wait(&session, start, spec, stop)).transpose()?;
        let received = receiving.map(|(id, thread)| (id, thread.join().unwrap_or_default()));
        Ok(Measured { sent, received })
    })
}

fn send_and_wait(
    session: &Session,
    start: MonoTime,
    spec: &SessionSpec,
    stop: &Stop,
) -> Result<(SessionId, u32), Failure> {
    let socket = session.socket.sending_handle().map_err(|error| failure(FailureKind::Local, &error))?;
    let schedule = Schedule::new(&slots(spec), session.id);
    let plan = SendPlan { start, packets: spec.count, schedule, padding: usize::from(spec.padding_bytes) };
    let next_sequence = send_session(&socket, plan, stop);
    // Until then the last packet may arrive in time.
    let _ = clock::sleep_unless(clock::now() + spec.timeout, || stop.is_stopped());
    Ok((session.id, next_sequence))
}

/// From the start of a session to its last packet.
fn duration_of(spec: &SessionSpec, id: SessionId) -> Duration {
    Schedule::new(&slots(spec), id).take(spec.count as usize).map(NtpInterval::to_duration).sum()
}

/// Exchanges what was sent.
fn end(server: &mut Server<'_>, measured: &Measured) -> Result<StopSessions, Failure> {
    let sent: Vec<SentSession> = measured
        .sent
        .iter()
        .map(|(session, next_sequence)| SentSession {
            session: *session,
            next_sequence: *next_sequence,
            skipped: Vec::new(),
        })
        .collect();
    let count = u32::try_from(sent.len()).unwrap_or(0);
    let stop = StopSessions { accept: owamp::control::Accept::Ok, count, sent };
    server.control.send(&stop.emit()).map_err(broken)?;
    server.control.stop_sessions(Protocol::Owamp, PATIENCE).map_err(broken)
}

/// The server's word on how many it has sent counts; without it, as many as it was asked for.
fn summary_of_received(id: SessionId, records: &[PacketRecord], theirs: &StopSessions, asked: u32) -> OneWayResult {
    let sent = theirs.sent.iter().find(|sent| sent.session == id);
    let next_sequence = sent.map_or(asked, |sent| sent.next_sequence.min(asked));
    let skipped = sent.map(|sent| sent.skipped.as_slice()).unwrap_or_default();
    summarise(SentPackets { next_sequence, skipped }, records)
}

/// What the server has noted of the packets that we have sent.
fn fetch(server: &mut Server<'_>, id: SessionId, next_sequence: u32) -> Result<OneWayResult, Failure> {
    const AWAITED: &str = "the server's records";
    let control = &mut server.control;
    control.send(&FetchSession::all(id).emit()).map_err(broken)?;
    let ack = FetchAck::parse(&control.message(AWAITED).map_err(broken)?);
    let ack = ack.map_err(|error| failure(FailureKind::Protocol, &error))?;
    accepted(ack.accept, "the question for its records")?;
    let mut request = control.octets(REQUEST_HEAD, AWAITED).map_err(broken)?;
    let head = request.first_chunk().copied().unwrap_or([0; REQUEST_HEAD]);
    let length = SessionRequest::length(&head).map_err(|error| failure(FailureKind::Protocol, &error))?;
    request.extend(control.octets(length.saturating_sub(REQUEST_HEAD), AWAITED).map_err(broken)?);
    let skips = control.octets(ack.skips_length(), AWAITED).map_err(broken)?;
    let records = control.octets(ack.records_length(), AWAITED).map_err(broken)?;
    let skipped = ack.skipped(&skips);
    Ok(summarise(SentPackets { next_sequence, skipped: &skipped }, &ack.read_records(&records)))
}

const REQUEST_HEAD: usize = 112;
/// How much later than this host a server may begin.
const SERVER_LATE: Duration = Duration::from_secs(1);
