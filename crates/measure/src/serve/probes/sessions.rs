//! What runs between start and stop: a thread for each session.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use linux::clock;
use owamp::control::command::Command;
use owamp::control::request::{ServerRole, SessionRequest};
use owamp::control::stop::{SentSession, SkippedRange, StopSessions};
use owamp::control::{ControlError, Protocol};
use owamp::record::{PacketRecord, with_lost};
use owamp::schedule::Schedule;
use owamp::time::NtpInterval;
use units::MonoTime;

use super::admission::Limits;
use super::reflector::reflect;
use crate::one_way::control::{ConnectionError, ControlConnection};
use crate::one_way::now;
use crate::one_way::receiver::{ReceivePlan, receive_session};
use crate::one_way::sender::{SendPlan, send_session};
use crate::one_way::socket::TestSocket;
use crate::stop::Stop;

/// A session that is to run.
pub(super) struct AcceptedSession {
    pub(super) request: SessionRequest,
    pub(super) socket: TestSocket,
}

/// A session that has run.
pub(super) struct FinishedSession {
    pub(super) request: SessionRequest,
    pub(super) next_sequence: u32,
    pub(super) skipped: Vec<SkippedRange>,
    pub(super) records: Vec<PacketRecord>,
}

/// How sessions came to their end.
pub(super) enum Finish {
    /// The client says so.
    Stopped(StopSessions),
    /// All packets are through.
    Through,
}

/// How soon the end of a session is seen.
const GLANCE: Duration = Duration::from_millis(50);
/// A start that lies further ahead is of a clock that is wrong, and counts as now.
const LATEST_START: Duration = Duration::from_secs(60);
/// The longest timeout that a client gets.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How much later than this host a client may begin.
const CLIENT_LATE: Duration = Duration::from_secs(5);

/// Runs sessions until the client says that they are over, or all are through.
pub(super) fn run(
    sessions: Vec<AcceptedSession>,
    limits: Limits,
    control: &mut ControlConnection<'_>,
    protocol: Protocol,
    stop: &Stop,
) -> Result<(Finish, Vec<FinishedSession>), ConnectionError> {
    // What ends the sessions of this connection, and none of others.
    let over = Stop::default();
    let running = AtomicUsize::new(sessions.len());
    thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let (over, running) = (&over, &running);
                scope.spawn(move || {
                    let finished = session.run(limits, over);
                    running.fetch_sub(1, Ordering::Relaxed);
                    finished
                })
            })
            .collect();
        let finish = await_finish(control, protocol, &running, stop);
        over.stop();
        let finished = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        Ok((finish?, finished))
    })
}

fn await_finish(
    control: &mut ControlConnection<'_>,
    protocol: Protocol,
    running: &AtomicUsize,
    stop: &Stop,
) -> Result<Finish, ConnectionError> {
    while running.load(Ordering::Relaxed) > 0 {
        if stop.is_stopped() {
            return Err(ConnectionError::Stopped);
        }
        match control.command(protocol, clock::now() + GLANCE)? {
            Some(Command::Stop(theirs)) => return Ok(Finish::Stopped(theirs)),
            Some(_) => return Err(ControlError::Length("end of sessions").into()),
            None => {}
        }
    }
    Ok(Finish::Through)
}

impl AcceptedSession {
    fn run(mut self, limits: Limits, over: &Stop) -> FinishedSession {
        let timeout = self.request.timeout.to_duration().min(LONGEST_TIMEOUT);
        let start = self.start();
        let (mut next_sequence, mut records) = (self.request.packets, Vec::new());
        match self.request.role {
            ServerRole::Sender => next_sequence = self.send(start, timeout, over),
            ServerRole::Receiver => {
                let deadline = start + self.duration() + timeout + CLIENT_LATE;
                let plan = ReceivePlan { packets: self.request.packets, deadline, timeout };
                records = receive_session(&mut self.socket, &plan, over);
            }
            ServerRole::Reflector => {
                next_sequence = reflect(&mut self.socket, timeout, limits, over);
            }
        }
        FinishedSession { request: self.request, next_sequence, skipped: Vec::new(), records }
    }

    /// When the first wait begins, by the clock that cannot be set.
    fn start(&self) -> MonoTime {
        let ahead = u64::try_from(self.request.start.nanos_since(now())).unwrap_or(0);
        let ahead = Duration::from_nanos(ahead);
        clock::now() + if ahead > LATEST_START { Duration::ZERO } else { ahead }
    }

    fn duration(&self) -> Duration {
        self.schedule().take(self.request.packets as usize).map(NtpInterval::to_duration).sum()
    }

    fn schedule(&self) -> Schedule {
        Schedule::new(&self.request.slots, self.request.session)
    }

    fn send(&self, start: MonoTime, timeout: Duration, over: &Stop) -> u32 {
        let Ok(socket) = self.socket.sending_handle() else { return 0 };
        let plan = SendPlan {
            start,
            packets: self.request.packets,
            schedule: self.schedule(),
            padding: self.request.padding as usize,
        };
        let next_sequence = send_session(&socket, plan, over);
        // The client may count what arrives until then; an end of the session before would have it stop at once.
        let _ = clock::sleep_unless(clock::now() + timeout, || over.is_stopped());
        next_sequence
    }
}

impl FinishedSession {
    /// What was sent in it by this host.
    pub(super) fn sent(&self) -> Option<SentSession> {
        (self.request.role == ServerRole::Sender).then(|| SentSession {
            session: self.request.session,
            next_sequence: self.next_sequence,
            skipped: Vec::new(),
        })
    }

    /// With the client's word on what it has sent, and a record for each packet of it that has not arrived.
    pub(super) fn with_word_of_sender(mut self, theirs: &StopSessions) -> Self {
        if let Some(sent) = theirs.sent.iter().find(|sent| sent.session == self.request.session) {
            self.next_sequence = sent.next_sequence.min(self.request.packets);
            self.skipped.clone_from(&sent.skipped);
        }
        if self.request.role == ServerRole::Receiver {
            self.records = with_lost(self.records, &self.request, self.next_sequence);
        }
        self
    }

    /// In one line, for the log.
    pub(super) fn summary(&self) -> String {
        match self.request.role {
            ServerRole::Sender => format!("{} test packets sent", self.next_sequence),
            ServerRole::Receiver => format!("{} of {} test packets received", self.records.len(), self.request.packets),
            ServerRole::Reflector => format!("{} test packets reflected", self.next_sequence),
        }
    }
}
