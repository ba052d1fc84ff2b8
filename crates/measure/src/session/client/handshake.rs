//! Reaching the peer, saying what is wanted, waiting for our turn.

use std::time::Duration;

use linux::{clock, random};
use model::spec::{Protocol, TestSpec};
use units::{ByteCount, MonoTime};

use super::{Event, GLANCE, Request};
use crate::connect::{Route, first_that_answers, resolve};
use crate::control::{Control, ControlError, Wake};
use crate::session::failure::SessionError;
use crate::stop::Stop;
use wire::client::{ClientDialogue, ServerMessage};
use wire::cookie::Cookie;
use wire::extension::{Hello, Offer};
use wire::limits::Patience;
use wire::params::Params;

/// A peer that has asked for the data connections.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) control: Control<ClientDialogue>,
    pub(super) route: Route,
    pub(super) cookie: Cookie,
    /// The specification with what was left to the path filled in.
    pub(super) spec: TestSpec,
    /// The peer's word that it is a linerate.
    pub(super) hello: Option<Hello>,
    /// How long the control connection took to be accepted: one round trip.
    pub(super) round_trip: Duration,
}

/// Largest datagram that is chosen without being asked for: one that every loopback and most fabrics carry.
const LARGEST_CHOSEN_DATAGRAM: u32 = 32 << 10;

pub(super) fn greet(request: &Request, stop: &Stop, watch: &mut dyn FnMut(Event)) -> Result<Session, SessionError> {
    let spec = &request.spec;
    let addresses = resolve(&request.host, request.port, spec)?;
    let reach = |remote| {
        let route = Route::new(remote, &spec.place);
        let asked = clock::now();
        let stream = route.tcp(spec.connect_timeout, |_| Ok(()))?;
        Ok((route, stream, clock::now().since(asked)))
    };
    let (route, stream, round_trip) = first_that_answers(&request.host, &addresses, reach)?;
    watch(Event::Connected { address: route.remote.to_string() });
    let spec = fit_to_path(spec, &stream);
    let control = Control::new(stream, Patience::default()).map_err(ControlError::Broken)?;
    let cookie = new_cookie()?;
    let mut session = Session { control, route, cookie, spec, hello: None, round_trip };
    session.ask(request, stop, watch)?;
    Ok(session)
}

impl Session {
    fn ask(&mut self, request: &Request, stop: &Stop, watch: &mut dyn FnMut(Event)) -> Result<(), SessionError> {
        self.control.send(self.cookie.as_bytes())?;
        match self.control.await_turn("its request for parameters")? {
            ServerMessage::ParamsWanted => {}
            other => return Err(refusal(other)),
        }
        let wait_ms = units::duration::millis(request.queue_wait);
        let offer = Offer { wait_ms, ticket: request.ticket.clone(), ..Offer::new(&request.spec) };
        self.control.send_blob(&Params::from_spec(&self.spec, offer))?;
        self.wait_for_turn(request.queue_wait, stop, watch)
    }

    /// Until the peer wants the data connections.
    fn wait_for_turn(
        &mut self,
        patience: Duration,
        stop: &Stop,
        watch: &mut dyn FnMut(Event),
    ) -> Result<(), SessionError> {
        let turn = self.control.patience().turn;
        let mut deadline = clock::now() + turn;
        let mut queued = false;
        loop {
            match self.hear_or_stop(deadline, stop)? {
                Some(ServerMessage::Hello(hello)) => self.hello = Some(*hello),
                Some(ServerMessage::Queued { ahead, wait_ms }) => {
                    if !queued {
                        deadline = clock::now() + patience;
                        queued = true;
                    }
                    watch(Event::Queued { ahead, wait: Duration::from_millis(wait_ms) });
                }
                Some(ServerMessage::StreamsWanted) => return Ok(()),
                Some(other) => return Err(refusal(other)),
                None if queued => return Err(SessionError::QueueTooLong(patience)),
                None => {
                    let awaited = "its request for data connections";
                    return Err(ControlError::Silent { waited: turn, awaited }.into());
                }
            }
        }
    }

    /// What the peer says before `deadline`; nothing where it says nothing.
    fn hear_or_stop(&mut self, deadline: MonoTime, stop: &Stop) -> Result<Option<ServerMessage>, SessionError> {
        loop {
            if stop.is_stopped() {
                return Err(SessionError::Interrupted);
            }
            let now = clock::now();
            if now >= deadline {
                return Ok(None);
            }
            if let Wake::Message(heard) = self.control.hear(deadline.min(now + GLANCE))? {
                return Ok(Some(heard));
            }
        }
    }
}

fn new_cookie() -> Result<Cookie, SessionError> {
    random::bytes().map(Cookie::from_random).map_err(|source| local("random bytes", source))
}

/// What the peer said instead of what was due, as an error.
pub(super) fn refusal(heard: ServerMessage) -> SessionError {
    match heard {
        ServerMessage::Denied => SessionError::Denied,
        ServerMessage::Refused(refusal) => SessionError::Refused(refusal),
        ServerMessage::ServerFailed { code, .. } => SessionError::ServerFailed { code },
        // The dialogue lets nothing else through than what may come; what came early is as good as an end.
        _ => SessionError::Terminated,
    }
}

/// Fills in the size of datagrams: what fits one packet of the path, as the control connection's segments do.
fn fit_to_path(spec: &TestSpec, control: &std::net::TcpStream) -> TestSpec {
    let mut spec = spec.clone();
    if spec.protocol == Protocol::Udp && spec.length.is_none() {
        const ETHERNET: u32 = 1_448;
        let segment = linux::sockets::max_segment(control).unwrap_or(ETHERNET).min(LARGEST_CHOSEN_DATAGRAM);
        spec.length = Some(ByteCount::new(u64::from(segment)));
    }
    spec
}

pub(super) fn local(what: &str, source: std::io::Error) -> SessionError {
    SessionError::Local { what: format!("{what} cannot be had"), source }
}
