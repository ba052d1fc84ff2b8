//! Before the test: the path without load, the peer's clock, and the data connections.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use linux::clock;
use model::measurement::Heading;
use model::spec::{Direction, Protocol, TestSpec};

use super::handshake::{Session, local};
use crate::connect::{ConnectError, Route};
use crate::control::{Control, Wake};
use crate::engine::streams::{Endpoint, end_of};
use crate::options;
use crate::session::failure::SessionError;
use crate::stamp::prober::Prober;
use crate::stop::Stop;
use report::clock::Exchange;
use wire::client::{ClientDialogue, ServerMessage};
use wire::cookie::Cookie;
use wire::extension::{Hello, Message};

/// Exchanges of clocks: the least delayed of these is good to some microseconds on a quiet path.
const CLOCK_EXCHANGES: u32 = 8;

/// How long an answer to the first datagram of a stream may take. iperf3 waits as long.
const DATAGRAM_ANSWER: Duration = Duration::from_secs(30);
/// How soon the first datagram is sent again to a linerate, which knows it from the first one; an iperf3 does not.
const DATAGRAM_AGAIN: Duration = Duration::from_millis(250);
/// How soon it is sent again where the far host refused it. On the way to a peer that is about to listen, that is soon.
const DATAGRAM_AFTER_REFUSAL: Duration = Duration::from_millis(50);
/// The first datagram of a stream: "9876" (iperf 3.12: `UDP_CONNECT_MSG`).
const DATAGRAM_HELLO: [u8; 4] = *b"9876";

/// Exchanges clocks with a linerate. Requests go out at once and answers come one round trip later.
pub(super) fn exchange_clocks(control: &mut Control<ClientDialogue>) -> Result<Vec<Exchange>, SessionError> {
    let mut asked = Vec::new();
    for seq in 0..CLOCK_EXCHANGES {
        asked.push(clock::now());
        control.send_extension(&Message::ClockRequest { seq })?;
    }
    let mut exchanges = Vec::new();
    while exchanges.len() < asked.len() {
        match control.await_turn("its clock")? {
            ServerMessage::Clock { seq, received_ns, sent_ns } => {
                let heard = clock::now();
                let Some(asked) = asked.get(usize::try_from(seq).unwrap_or(usize::MAX)).copied() else { continue };
                let peer = units::MonoTime::from_nanos;
                exchanges.push(Exchange { asked, received: peer(received_ns), answered: peer(sent_ns), heard });
            }
            other => return Err(super::handshake::refusal(other)),
        }
    }
    Ok(exchanges)
}

/// The prober, where the peer answers probes.
pub(super) fn prober(route: &Route, hello: &Hello, spacing: Duration) -> Option<Prober> {
    let port = hello.probe_port.filter(|_| !spacing.is_zero())?;
    let route = Route { remote: SocketAddr::new(route.remote.ip(), port), ..route.clone() };
    // Without probes a test is still a test, and its result says that there are none.
    let socket = route.udp(|_| Ok(())).ok()?;
    Some(Prober::new(socket, spacing))
}

/// Opens every data connection, in the order that decides which way each goes.
pub(super) fn open(session: &mut Session, stop: &Stop) -> Result<Vec<Endpoint>, SessionError> {
    let headings = headings(&session.spec);
    let mut endpoints = Vec::with_capacity(headings.len());
    for (index, heading) in headings.into_iter().enumerate() {
        if stop.is_stopped() {
            return Err(SessionError::Interrupted);
        }
        endpoints.push(match session.spec.protocol {
            Protocol::Tcp => open_tcp(&session.route, &session.spec, session.cookie, (index, heading))?,
            Protocol::Udp => open_udp(session, (index, heading), stop)?,
        });
    }
    Ok(endpoints)
}

/// Which way each data connection goes. Both kinds of peer go by order: of two-way tests the client's senders first.
pub(crate) fn headings(spec: &TestSpec) -> Vec<Heading> {
    let each = |heading| std::iter::repeat_n(heading, usize::from(spec.streams));
    match spec.direction {
        Direction::Forward => each(Heading::Outbound).collect(),
        Direction::Reverse => each(Heading::Inbound).collect(),
        Direction::Bidirectional => each(Heading::Outbound).chain(each(Heading::Inbound)).collect(),
    }
}

fn open_tcp(
    route: &Route,
    spec: &TestSpec,
    cookie: Cookie,
    (index, heading): (usize, Heading),
) -> Result<Endpoint, SessionError> {
    use std::io::Write;
    let end = end_of(heading);
    let connected = route.tcp(spec.connect_timeout, |socket| {
        // One that is refused is refused again below, and said there.
        let _is_set = options::congestion_control(socket, spec, end);
        options::before_connection(socket, spec)
    });
    let mut stream = connected.map_err(|source| data_connection(index, source))?;
    stream.write_all(cookie.as_bytes()).map_err(|source| local("the data connection", source))?;
    options::on_connection(&stream, spec, end)?;
    let (here, there) = (stream.local_addr(), stream.peer_addr());
    endpoint(stream.into(), heading, here, there)
}

fn open_udp(session: &mut Session, (index, heading): (usize, Heading), stop: &Stop) -> Result<Endpoint, SessionError> {
    let spec = session.spec.clone();
    let connected = session.route.udp(|socket| options::before_connection(socket, &spec));
    let socket = connected.map_err(|source| data_connection(index, source))?;
    options::on_connection(&socket, &spec, end_of(heading))?;
    await_answer(session, &socket, index, stop)?;
    let (here, there) = (socket.local_addr(), socket.peer_addr());
    endpoint(socket.into(), heading, here, there)
}

/// Says hello on a datagram socket until the peer answers.
fn await_answer(session: &mut Session, socket: &UdpSocket, index: usize, stop: &Stop) -> Result<(), SessionError> {
    let cannot = |source| local("a datagram socket", source);
    let again = session.hello.as_ref().map(|_| DATAGRAM_AGAIN);
    let deadline = clock::now() + DATAGRAM_ANSWER;
    let mut say_at = clock::now();
    socket.set_read_timeout(Some(Duration::from_millis(20))).map_err(cannot)?;
    while clock::now() < deadline && !stop.is_stopped() {
        if clock::now() >= say_at {
            // A refusal of the one before may be reported here; the answer may still come.
            let _ = socket.send(&DATAGRAM_HELLO);
            say_at = again.map_or(deadline, |again| clock::now() + again);
        }
        match socket.recv(&mut [0; 64]) {
            // In a test towards us data may overtake the answer, and is no answer.
            Ok(length) if length == DATAGRAM_HELLO.len() => return socket.set_read_timeout(None).map_err(cannot),
            // Nobody has got it: a peer may ask for streams before it listens for their datagrams.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                say_at = say_at.min(clock::now() + DATAGRAM_AFTER_REFUSAL);
            }
            _ => {}
        }
        notice_end(session)?;
    }
    if stop.is_stopped() {
        return Err(SessionError::Interrupted);
    }
    Err(SessionError::NoDatagrams { stream: index + 1, waited: DATAGRAM_ANSWER })
}

/// Looks whether the peer has given up meanwhile.
fn notice_end(session: &mut Session) -> Result<(), SessionError> {
    match session.control.hear(clock::now())? {
        Wake::Nothing => Ok(()),
        Wake::Message(other) => Err(super::handshake::refusal(other)),
    }
}

fn data_connection(index: usize, source: ConnectError) -> SessionError {
    match source {
        ConnectError::Option(option) => option.into(),
        source => SessionError::DataConnect { stream: index + 1, source },
    }
}

fn endpoint(
    socket: OwnedFd,
    heading: Heading,
    local_address: io::Result<SocketAddr>,
    remote: io::Result<SocketAddr>,
) -> Result<Endpoint, SessionError> {
    let cannot = |source| local("the address of a data connection", source);
    Ok(Endpoint { socket, heading, local: local_address.map_err(cannot)?, remote: remote.map_err(cannot)? })
}
