//! A client of TWAMP: sends to a reflector, and keeps what comes back.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use linux::clock;
use model::probe::Subject;
use model::probe::one_way::{SessionSpec, TwoWayProbe, TwoWayResult};
use model::run::{Failure, FailureKind, Outcome};
use owamp::control::Accept;
use owamp::control::command::{Command, StartAck};
use owamp::control::request::{Endpoint, ServerRole, SessionRequest};
use owamp::control::stop::StopSessions;
use owamp::packet::{ReflectedPacket, SenderPacket};
use owamp::schedule::Schedule;
use owamp::session::SessionId;
use owamp::time::NtpInterval;
use owamp::two_way::{Reply, summarise_replies};
use units::MonoTime;

use super::greet::{Server, accepted, broken};
use super::sender::{SendPlan, send_session};
use super::socket::{PortRange, TestSocket};
use super::{START_AFTER, clock_error, now, slots};
use crate::download::failure;
use crate::stop::Stop;

/// Measures rounds between this host and a server of TWAMP.
#[must_use]
pub fn two_way(target: &str, spec: &SessionSpec, stop: &Stop) -> TwoWayProbe {
    let subject = Subject { target: target.to_owned(), address: None, started: clock::wall_now() };
    let mut probe = TwoWayProbe { subject, spec: spec.clone(), outcome: Outcome::Complete, result: None };
    if let Err(failure) = measure(&mut probe, target, stop) {
        probe.outcome = Outcome::Failed(failure);
    }
    probe
}

/// Octets that a packet is padded with at least, so that its reply is no longer than it (RFC 5357 §4.2.1).
const SYMMETRIC: u16 = 27;
const _: () = assert!(SenderPacket::LEN + SYMMETRIC as usize == ReflectedPacket::LEN);

fn measure(probe: &mut TwoWayProbe, target: &str, stop: &Stop) -> Result<(), Failure> {
    let spec = probe.spec.clone();
    let mut server = Server::open(target, &spec, stop)?;
    probe.subject.address = Some(server.remote);
    let padding = spec.padding_bytes.saturating_add(SYMMETRIC);
    let (mut socket, session) = ask(&mut server, &spec, padding)?;
    server.control.send(&Command::Start.emit()).map_err(broken)?;
    let ack = StartAck::parse(&server.control.message("the start of the session").map_err(broken)?);
    accepted(ack.accept, "the start of the session")?;

    let start = clock::now() + START_AFTER;
    let schedule = Schedule::new(&slots(&spec), session);
    let last = schedule.clone().take(spec.count as usize).map(NtpInterval::to_duration).sum::<Duration>();
    let plan = SendPlan { start, packets: spec.count, schedule, padding: usize::from(padding) };
    let handle = socket.sending_handle().map_err(|error| failure(FailureKind::Local, &error))?;
    let (sent, replies) = thread::scope(|scope| {
        let sending = scope.spawn(|| send_session(&handle, plan, stop));
        let replies = receive(&mut socket, &spec, start + last + spec.timeout, stop);
        (sending.join().unwrap_or(0), replies)
    });
    probe.result = Some(without_late(sent, replies, spec.timeout));
    let goodbye = StopSessions { accept: Accept::Ok, count: 1, sent: Vec::new() };
    // The measurement stands whether or not the server hears that it is over.
    let _ = server.control.send(&goodbye.emit());
    if stop.is_stopped() {
        return Err(Failure { kind: FailureKind::Interrupted, detail: "stopped by the user".to_owned() });
    }
    Ok(())
}

fn ask(server: &mut Server<'_>, spec: &SessionSpec, padding: u16) -> Result<(TestSocket, SessionId), Failure> {
    let local_error = |error: std::io::Error| failure(FailureKind::Local, &error);
    let ports = spec.udp_port.map_or(PortRange::ANY, |port| PortRange { first: port, last: port });
    let socket = TestSocket::open(server.local, ports).map_err(local_error)?;
    let port = socket.port().map_err(local_error)?;
    let request = SessionRequest {
        role: ServerRole::Reflector,
        sender: Endpoint { address: server.local, port },
        // As twping does: the reflector's port is to be the sender's; the server may choose another.
        receiver: Endpoint { address: server.remote, port },
        session: SessionId::default(),
        packets: 0,
        padding: u32::from(padding),
        start: now().after(NtpInterval::from_duration(START_AFTER)),
        timeout: NtpInterval::from_duration(spec.timeout),
        type_p: 0,
        slots: Vec::new(),
    };
    let answer = server.request(&request)?;
    socket.connect(SocketAddr::new(server.remote, answer.port)).map_err(local_error)?;
    Ok((socket, answer.session))
}

/// Replies until each packet has its own, or the deadline. As with one-way sessions no peer makes this host keep more than
/// two for each packet.
fn receive(socket: &mut TestSocket, spec: &SessionSpec, deadline: MonoTime, stop: &Stop) -> Vec<Reply> {
    let error = clock_error();
    let mut replies = Vec::new();
    let mut answered = HashSet::new();
    let mut deadline = deadline;
    while clock::now() < deadline && !stop.is_stopped() {
        socket.receive(deadline, stop, |arrival| {
            let Ok(packet) = ReflectedPacket::parse(arrival.head) else { return };
            if packet.sender.sequence >= spec.count || replies.len() >= 2 * spec.count as usize {
                return;
            }
            replies.push(Reply { packet, received: arrival.received, receiver_error: error, ttl: arrival.ttl });
            if answered.insert(packet.sender.sequence) && answered.len() == spec.count as usize {
                // A second copy of the last reply may be right behind it.
                deadline = deadline.min(clock::now() + AFTER_LAST);
            }
        });
    }
    replies
}

const AFTER_LAST: Duration = Duration::from_millis(50);

fn without_late(sent: u32, mut replies: Vec<Reply>, timeout: Duration) -> TwoWayResult {
    let timeout = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
    replies.retain(|reply| reply.received.nanos_since(reply.packet.sender.sent) <= timeout);
    summarise_replies(sent, &replies)
}
