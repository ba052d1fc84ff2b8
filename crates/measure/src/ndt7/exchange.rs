//! A test from the end of the handshake to the end of the connection, as both sides conduct it: one thread that writes, reads, samples
//! and reports by turns and never blocks in any of them.

use std::io;
use std::time::Duration;

use linux::clock;
use model::measurement::End;
use model::run::{Failure, FailureKind};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Bytes, Error, Message, Utf8Bytes};
use units::MonoTime;

use super::LONGEST;
use super::recording::Recording;
use super::report::{AppCount, ConnectionEnds, KernelCount, Ndt7Report};
use super::size::{LARGEST_SENT, MessageSize};
use super::socket::{Ndt7Socket, Readiness};
use crate::stop::Stop;

/// How a test is conducted at this end.
#[derive(Debug)]
pub(crate) struct Conduct<'a> {
    /// Which end of the payload's path this host is.
    pub(crate) end: End,
    /// How long payload flows before this side closes.
    pub(crate) length: Duration,
    /// Between two samples of the kernel's counters.
    pub(crate) spacing: Duration,
    /// The ends, which only a server names in its reports.
    pub(crate) names: Option<ConnectionEnds>,
    pub(crate) stop: &'a Stop,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Exchanged {
    pub(crate) start: MonoTime,
    /// When this side's payload was over: the last byte that came, or the moment from which none was sent.
    pub(crate) last: MonoTime,
    /// Payload of the messages that were read, or handed to the kernel as a whole.
    pub(crate) payload: u64,
    /// When the peer confirmed that it had read all that this side sent, by closing after us.
    pub(crate) confirmed: Option<MonoTime>,
    pub(crate) recording: Recording,
    /// What the peer reported, as it came.
    pub(crate) reports: Vec<Ndt7Report>,
    pub(crate) anomalies: Vec<String>,
    pub(crate) failure: Option<Failure>,
}

/// Between two reports: M-Lab's servers send one each 250 ms on average, and ten a second are the most that is allowed.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Reports of the peer that are kept: more than ten a second for the longest test.
const MOST_REPORTS: usize = 256;
/// How long the peer may take to read what is on the way and to close.
const CLOSING: Duration = Duration::from_secs(3);
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(100);
/// Messages read in a row before this side writes and samples again.
const READ_IN_A_ROW: usize = 8;

/// Conducts the test on a connection after its handshake.
pub(crate) fn exchange(mut socket: Ndt7Socket, conduct: &Conduct<'_>, payload: &Bytes) -> Exchanged {
    let start = clock::now();
    let mut exchange = Exchange {
        conduct,
        passed_before: passed(&socket, conduct.end),
        phase: Phase::Flowing,
        size: MessageSize::default(),
        unsent: None,
        // A server says at once what the test is called: whoever goes soon knows it as well.
        report_due: if conduct.names.is_some() { start } else { start + REPORT_EVERY },
        ignored: 0,
        found: Exchanged {
            start,
            last: start,
            payload: 0,
            confirmed: None,
            recording: Recording::new(start, conduct.spacing),
            reports: Vec::new(),
            anomalies: Vec::new(),
            failure: None,
        },
    };
    while exchange.phase != Phase::Over {
        exchange.step(&mut socket, payload);
    }
    exchange.finish(&socket)
}

/// Payload that a sender draws its messages from: random, since a path may compress.
///
/// # Errors
/// Where the kernel gives no random bytes.
pub(crate) fn payload() -> io::Result<Bytes> {
    let seed: [u8; 8] = linux::random::bytes()?;
    let mut state = u64::from_ne_bytes(seed) | 1;
    let mut bytes = Vec::with_capacity(LARGEST_SENT);
    // xorshift64 (Marsaglia 2003): nothing depends on its quality but that it does not compress.
    while bytes.len() < LARGEST_SENT {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    Ok(Bytes::from(bytes))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Flowing,
    /// This side has closed and waits for the peer to do the same, until then.
    Closing(MonoTime),
    Over,
}

/// What was handed to the connection and is not all in the kernel yet.
#[derive(Debug, Clone, Copy)]
struct Unsent {
    payload: u64,
}

struct Exchange<'a> {
    conduct: &'a Conduct<'a>,
    passed_before: u64,
    phase: Phase,
    size: MessageSize,
    unsent: Option<Unsent>,
    report_due: MonoTime,
    ignored: u64,
    found: Exchanged,
}

impl Exchange<'_> {
    fn step(&mut self, socket: &mut Ndt7Socket, payload: &Bytes) {
        let now = clock::now();
        if now >= self.found.recording.due() {
            self.sample(socket);
        }
        self.mind_the_time(now, socket);
        self.write(now, socket, payload);
        let has_read = self.read(socket);
        if self.phase != Phase::Over && !has_read && !self.wants_to_write() {
            self.wait(socket);
        }
    }

    /// Whether the next message can be written at once.
    fn wants_to_write(&self) -> bool {
        self.phase == Phase::Flowing && self.conduct.end == End::Sender && self.unsent.is_none()
    }

    fn mind_the_time(&mut self, now: MonoTime, socket: &mut Ndt7Socket) {
        match self.phase {
            Phase::Flowing if self.conduct.stop.is_stopped() => {
                self.fail(FailureKind::Interrupted, "stopped by the user".to_owned());
                self.close(now, socket);
            }
            Phase::Flowing if now >= self.found.start + self.conduct.length.min(LONGEST) => self.close(now, socket),
            Phase::Closing(until) if now >= until => {
                self.note("the peer did not close the connection in time".to_owned());
                self.phase = Phase::Over;
            }
            _ => {}
        }
    }

    fn close(&mut self, now: MonoTime, socket: &mut Ndt7Socket) {
        self.report(socket);
        if self.conduct.end == End::Sender {
            self.found.last = now;
            // What lies before the closing frame leaves with it.
            self.found.payload += self.unsent.take().map_or(0, |unsent| unsent.payload);
        }
        self.sample(socket);
        self.phase = Phase::Closing(now + CLOSING);
        let frame = CloseFrame { code: CloseCode::Normal, reason: Utf8Bytes::from_static("Done") };
        self.unsent = Some(Unsent { payload: 0 });
        if let Err(error) = socket.close(Some(frame)) {
            self.broken(&error);
        }
    }

    fn write(&mut self, now: MonoTime, socket: &mut Ndt7Socket, payload: &Bytes) {
        if self.unsent.is_none() && self.phase == Phase::Flowing {
            if now >= self.report_due {
                self.report_due = now + REPORT_EVERY;
                self.report(socket);
            }
            if self.conduct.end == End::Sender {
                let size = self.size.next(self.found.payload);
                self.hand_over(socket, Message::Binary(payload.slice(..size.min(payload.len()))), size as u64);
            }
        }
        if self.unsent.is_some() && self.phase != Phase::Over {
            match socket.flush() {
                Ok(()) => self.found.payload += self.unsent.take().map_or(0, |unsent| unsent.payload),
                Err(error) => self.broken(&error),
            }
        }
    }

    /// The connection keeps what the kernel does not take at once.
    fn hand_over(&mut self, socket: &mut Ndt7Socket, message: Message, payload: u64) {
        let waiting = self.unsent.map_or(0, |unsent| unsent.payload);
        self.unsent = Some(Unsent { payload: waiting + payload });
        if let Err(error) = socket.write(message) {
            self.broken(&error);
        }
    }

    fn report(&mut self, socket: &mut Ndt7Socket) {
        if !socket.can_write() {
            return;
        }
        let elapsed = clock::now().since(self.found.start);
        let report = Ndt7Report {
            app: Some(AppCount { elapsed, bytes: self.found.payload }),
            tcp: linux::tcp_info::TcpInfo::read(std::os::fd::AsFd::as_fd(socket.get_ref()))
                .ok()
                .map(|info| KernelCount::of(&info, elapsed)),
            uuid: None,
        };
        let text = report.write(self.conduct.names.as_ref());
        self.hand_over(socket, Message::Text(text.into()), 0);
    }

    /// Reads what is there, a few messages at most; whether there was any.
    fn read(&mut self, socket: &mut Ndt7Socket) -> bool {
        for number in 0..READ_IN_A_ROW {
            if self.phase == Phase::Over {
                return true;
            }
            match socket.read() {
                Ok(message) => self.take(message, socket),
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return number > 0,
                Err(error) => self.broken(&error),
            }
        }
        true
    }

    fn take(&mut self, message: Message, socket: &mut Ndt7Socket) {
        match message {
            Message::Binary(bytes) if self.conduct.end == End::Receiver => {
                // What comes after this side has closed is not counted: its time is over.
                if self.phase == Phase::Flowing {
                    self.found.payload += bytes.len() as u64;
                    self.found.last = clock::now();
                }
            }
            Message::Binary(_) => {
                self.fail(FailureKind::Protocol, "the peer sends payload in a test in which it receives".to_owned());
                self.phase = Phase::Over;
            }
            Message::Text(text) => match Ndt7Report::read(text.as_str()) {
                Some(report) if self.found.reports.len() < MOST_REPORTS => self.found.reports.push(report),
                _ => self.ignored += 1,
            },
            Message::Close(frame) => {
                if let Some(frame) = frame.filter(|frame| frame.code != CloseCode::Normal) {
                    self.left(frame.code);
                }
                self.peer_closed(socket);
            }
            // Answered by the connection itself.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }

    /// A page that is closed or a user who cancels ends a test before its time (RFC 6455, section 7.4.1: 1001 is going away).
    fn left(&mut self, code: CloseCode) {
        if self.phase == Phase::Flowing {
            self.fail(
                FailureKind::Interrupted,
                format!("the peer ended the test early, with code {}", u16::from(code)),
            );
        }
    }

    fn peer_closed(&mut self, socket: &mut Ndt7Socket) {
        let now = clock::now();
        if let Phase::Closing(_) = self.phase {
            // It closes after us, and so has read everything that was sent before.
            self.found.confirmed.get_or_insert(now);
            if self.conduct.end == End::Sender {
                self.sample(socket);
            }
            return;
        }
        if self.conduct.end == End::Sender {
            self.found.last = now;
        }
        self.sample(socket);
        // The answer goes out with the next read, which then says that the connection is closed.
        self.phase = Phase::Closing(now + CLOSING);
    }

    /// A connection that ends without a word is an end as well (ndt7-protocol.md: both sides should tolerate it), but for one
    /// that ends early.
    fn broken(&mut self, error: &Error) {
        match error {
            Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Error::ConnectionClosed | Error::AlreadyClosed => {}
            Error::Io(_) | Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => {
                let flowed = clock::now().since(self.found.start);
                if self.phase != Phase::Flowing {
                    self.note(format!("the connection ended without a closing handshake: {error}"));
                } else if flowed < self.conduct.length / 2 {
                    self.fail(FailureKind::Lost, format!("the connection broke: {error}"));
                } else {
                    let flowed = units::duration::show(flowed);
                    self.note(format!("the connection ended after {flowed} without a closing handshake: {error}"));
                }
            }
            Error::Protocol(error) if matches!(self.phase, Phase::Closing(_)) => self.note(error.to_string()),
            _ => self.fail(FailureKind::Protocol, format!("the peer broke the protocol: {error}")),
        }
        if self.phase == Phase::Flowing && self.conduct.end == End::Sender {
            self.found.last = clock::now();
        }
        self.phase = Phase::Over;
    }

    fn wait(&mut self, socket: &Ndt7Socket) {
        let now = clock::now();
        let end = match self.phase {
            Phase::Flowing => (self.found.start + self.conduct.length.min(LONGEST)).min(self.report_due),
            Phase::Closing(until) => until,
            Phase::Over => return,
        };
        let next = end.min(self.found.recording.due()).since(now).min(GLANCE);
        let wanted = if self.unsent.is_some() { Readiness::Both } else { Readiness::Input };
        if let Err(error) = socket.get_ref().wait(wanted, next) {
            self.broken(&Error::Io(error));
        }
    }

    /// A receiver's counters say nothing more once its time is over.
    fn sample(&mut self, socket: &Ndt7Socket) {
        let is_over = self.phase != Phase::Flowing && self.conduct.end == End::Receiver;
        let bytes = passed(socket, self.conduct.end).saturating_sub(self.passed_before);
        if is_over {
            self.found.recording.pass();
        } else {
            self.found.recording.take(socket.get_ref(), bytes);
        }
    }

    fn fail(&mut self, kind: FailureKind, detail: String) {
        self.found.failure.get_or_insert(Failure { kind, detail });
    }

    fn note(&mut self, anomaly: String) {
        if !self.found.anomalies.contains(&anomaly) {
            self.found.anomalies.push(anomaly);
        }
    }

    fn finish(mut self, socket: &Ndt7Socket) -> Exchanged {
        if self.phase == Phase::Flowing {
            self.sample(socket);
        }
        if self.ignored > 0 {
            self.note(format!("{} text messages of the peer are no reports, or more than it may send", self.ignored));
        }
        self.found
    }
}

/// Bytes that have passed the socket in the direction of the payload.
fn passed(socket: &Ndt7Socket, end: End) -> u64 {
    let stream = socket.get_ref();
    match end {
        End::Sender => stream.written,
        End::Receiver => stream.read,
    }
}
