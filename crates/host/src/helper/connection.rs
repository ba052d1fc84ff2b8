//! One caller: their questions in turn, each answered before the next is read.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linux::readiness::Bell;
use linux::sockets::peer;
use model::host::fix::journal::{Entry, FixId, State};
use model::host::fix::talk::{Answer, Order, Question, Refusal, RefusalKind, VERSION};

use super::line::Lines;
use super::policy::{Caller, OF_A_MEMBER, Policy, Standing};
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
    /// Connections that are there, by user.
    pub(super) open: BTreeMap<u32, usize>,
    /// What this helper has taken back as it started.
    pub(super) recovered: Vec<Entry>,
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
    let caller = Caller::of(&caller, own);
    let mut lines = match caller.standing {
        Standing::Owner => Lines::default(),
        Standing::Member => Lines::within(OF_A_MEMBER.question_bytes, Duration::from_secs(OF_A_MEMBER.idle_s)),
    };
    loop {
        let answer = match lines.next(stream) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => match Question::read(&line) {
                Ok(question) => answer(question, caller, number, shared),
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

fn answer(question: Question, caller: Caller, number: u64, shared: &Shared) -> Answer {
    let answered = shared.desk().answer(question, caller, &shared.policy, number);
    // There may be something to wait for now, or nothing any more.
    shared.bell.ring();
    answered.unwrap_or_else(|error| Answer::Refused(error.refusal()))
}

impl Desk {
    /// One connection of a user less.
    pub(super) fn leaves(&mut self, uid: u32) {
        if let Some(open) = self.open.get_mut(&uid) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&uid);
            }
        }
    }

    fn answer(&mut self, question: Question, caller: Caller, policy: &Policy, number: u64) -> Result<Answer, FixError> {
        self.permit(&question, caller, policy)?;
        match question {
            Question::Hello {} => Ok(Answer::Hello {
                version: VERSION,
                software: crate::live::software(),
                uid: linux::namespaces::rights::user(),
                namespace_inode: linux::netns::current_inode().unwrap_or_default(),
            }),
            Question::Preview { steps } => Ok(Answer::Preview { settings: self.engine.preview(&steps)? }),
            Question::Apply(order) => {
                let mut order = order;
                if caller.standing == Standing::Member {
                    let wait = order.confirm_within_s.unwrap_or(OF_A_MEMBER.wait_s);
                    order.confirm_within_s = Some(wait.min(OF_A_MEMBER.wait_s));
                }
                let entry = self.engine.apply(&order, caller.uid)?;
                if caller.standing == Standing::Member {
                    self.engine.keep_within(caller.uid, OF_A_MEMBER.journal_bytes);
                }
                self.waiting = order.confirm_within_s.filter(|_| entry.is_open()).map(|wait| Waiting {
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
                let entry = match self.engine.undo(fix, others) {
                    // What the caller wants undone was undone as this helper started, maybe for this very question.
                    Err(error @ (FixError::NoSuchFix { .. } | FixError::State { .. })) => {
                        let meant = |entry: &&Entry| fix.is_none_or(|fix| entry.fix == fix);
                        self.recovered.iter().rev().find(meant).cloned().ok_or(error)?
                    }
                    outcome => outcome?,
                };
                self.waiting = self.waiting.filter(|waiting| waiting.fix != entry.fix);
                Ok(told(entry))
            }
            Question::List {} => Ok(Answer::Journal {
                entries: self.engine.journal().entries().filter(|entry| policy.shows(caller, entry)).cloned().collect(),
                unreadable: self.engine.journal().unreadable().iter().map(|each| each.what.clone()).collect(),
            }),
        }
    }

    /// Whether a caller may ask this: in a network namespace that is not theirs they may neither change nor read anything.
    fn permit(&self, question: &Question, caller: Caller, policy: &Policy) -> Result<(), FixError> {
        let closed = match question {
            Question::Preview { steps } | Question::Apply(Order { steps, .. }) => policy.closed(caller, steps),
            Question::Confirm { fix } | Question::Undo { fix: Some(fix), .. } => {
                self.engine.journal().get(*fix).and_then(|entry| policy.closed(caller, &entry.steps))
            }
            Question::Undo { fix: None, .. } => {
                let last =
                    self.engine.journal().entries().rev().find(|entry| entry.is_open() || entry.state == State::Kept);
                last.and_then(|entry| policy.closed(caller, &entry.steps))
            }
            Question::Hello {} | Question::List {} => None,
        };
        match closed {
            Some(namespace) => Err(FixError::Closed { uid: caller.uid, namespace: namespace.to_string() }),
            None => Ok(()),
        }
    }
}

fn told(entry: Entry) -> Answer {
    Answer::Fix { changes: entry.changes(), entry: Box::new(entry) }
}

/// How long a caller may take to read an answer.
const PER_ANSWER: Duration = Duration::from_secs(10);
