//! One caller: their questions in turn, each answered before the next is read.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linux::readiness::Bell;
use linux::sockets::{Peer, peer};
use model::host::fix::journal::{Entry, FixId};
use model::host::fix::talk::{Answer, Question, Refusal, RefusalKind, VERSION};

use super::line::Lines;
use super::policy::Policy;
use crate::fix::{Engine, FixError};

/// What all connections share: one of them at a time has the engine.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) desk: Mutex<Desk>,
    pub(super) policy: Policy,
    pub(super) bell: Bell,
}

/// The engine, and what waits to be confirmed.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) engine: Engine,
    pub(super) waiting: Option<Waiting>,
    /// Connections that have been made.
    pub(super) made: u64,
    /// Connections that are there.
    pub(super) open: usize,
}

/// A fix that is taken back unless it is confirmed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) fix: FixId,
    pub(super) until: Instant,
    /// Connections up to this one were made before it was applied.
    made_before: u64,
}

impl Shared {
    /// The desk. Whoever panicked there left a journal that the next start goes by.
    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves one caller until they go.
pub(super) fn serve(stream: &UnixStream, number: u64, shared: &Shared) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PER_ANSWER))?;
    let caller = peer(stream)?;
    let own = linux::namespaces::rights::user();
    if !shared.policy.admits(&caller, own) {
        let reason = format!("user {} may not change settings here", caller.uid);
        let hints = vec!["be root, or in the group that the helper was given".to_owned()];
        return say(stream, &Answer::Refused(Refusal { kind: RefusalKind::Denied, reason, hints }));
    }
    let mut lines = Lines::default();
    loop {
        let answer = match lines.next(stream) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => match Question::read(&line) {
                Ok(question) => answer(question, &caller, number, shared),
                Err(refusal) => Answer::Refused(refusal),
            },
            Err(error) if matches!(error.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::TimedOut) => {
                let reason = "the question is too long, or takes too long".to_owned();
                let refusal = Refusal { kind: RefusalKind::Invalid, reason, hints: Vec::new() };
                // Where it ends nobody knows, so nothing more is read.
                return say(stream, &Answer::Refused(refusal));
            }
            Err(error) => return Err(error),
        };
        say(stream, &answer)?;
    }
}

fn say(mut stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn answer(question: Question, caller: &Peer, number: u64, shared: &Shared) -> Answer {
    let answered = shared.desk().answer(question, caller, number);
    // There may be something to wait for now, or nothing any more.
    shared.bell.ring();
    answered.unwrap_or_else(|error| Answer::Refused(error.refusal()))
}

impl Desk {
    fn answer(&mut self, question: Question, caller: &Peer, number: u64) -> Result<Answer, FixError> {
        match question {
            Question::Hello {} => Ok(Answer::Hello {
                version: VERSION,
                software: crate::live::software(),
                uid: linux::namespaces::rights::user(),
                namespace_inode: linux::netns::current_inode().unwrap_or_default(),
            }),
            Question::Preview { steps } => Ok(Answer::Preview { settings: self.engine.preview(&steps)? }),
            Question::Apply(order) => {
                let entry = self.engine.apply(&order, caller.uid)?;
                self.waiting = order.confirm_within_s.map(|wait| Waiting {
                    fix: entry.fix,
                    until: Instant::now() + Duration::from_secs(wait.into()),
                    made_before: self.made,
                });
                Ok(told(entry))
            }
            Question::Confirm { fix } => {
                if self.waiting.is_some_and(|waiting| waiting.fix == fix && number <= waiting.made_before) {
                    return Err(FixError::OldConnection { fix });
                }
                let entry = self.engine.confirm(fix)?;
                self.waiting = None;
                Ok(told(entry))
            }
            Question::Undo { fix, others } => {
                let entry = self.engine.undo(fix, others)?;
                self.waiting = self.waiting.filter(|waiting| waiting.fix != entry.fix);
                Ok(told(entry))
            }
            Question::List {} => Ok(Answer::Journal { entries: self.engine.journal().entries().cloned().collect() }),
        }
    }
}

fn told(entry: Entry) -> Answer {
    Answer::Fix { changes: entry.changes(), entry: Box::new(entry) }
}

/// How long a caller may take to read an answer.
const PER_ANSWER: Duration = Duration::from_secs(10);
