//! The helper itself: connections are accepted, and a fix that nobody confirms in time is taken back.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use linux::readiness::{Bell, Patience, Readiness};
use linux::sockets::peer;
use model::host::fix::journal::Entry;
use model::host::fix::talk::{Others, Refusal, RefusalKind};

use super::connection::{Desk, Shared, serve};
use super::policy::{OF_A_MEMBER, Policy};
use super::socket::Socket;
use crate::fix::{Engine, FixError};

/// What a helper is to do.
#[derive(Debug)]
pub struct Options {
    /// Where its journal is.
    pub state: PathBuf,
    /// Where it listens.
    pub socket: PathBuf,
    /// Who may ask.
    pub policy: Policy,
    /// The caller who has started it. With it the helper ends once nobody is connected and nothing waits.
    pub starter: Option<UnixStream>,
}

/// Why the helper does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The journal cannot be had.
    #[error(transparent)]
    Fix(#[from] FixError),
    /// It cannot listen.
    #[error("cannot listen at {}", path.display())]
    Listen {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot wait for anything.
    #[error("cannot wait for connections")]
    Wait(#[source] io::Error),
}

/// A helper that is ready to serve.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    socket: Socket,
    readiness: Readiness,
    starter: Option<UnixStream>,
    stays: bool,
    recovered: Vec<Entry>,
    stop: Arc<AtomicBool>,
}

/// Ends a [`Server`], from any thread or signal.
#[derive(Debug, Clone)]
pub struct Stop {
    stop: Arc<AtomicBool>,
    bell: Bell,
}

impl Stop {
    /// Has the server end. What waits to be confirmed is taken back first.
    pub fn now(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.bell.ring();
    }
}

impl Server {
    /// Takes back what an earlier helper has left, and listens.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub fn start(options: Options) -> Result<Self, ServeError> {
        let (engine, recovered) = Engine::open(&options.state)?;
        let listen = |source| ServeError::Listen { path: options.socket.clone(), source };
        let socket = Socket::bind(&options.socket, options.policy.group).map_err(listen)?;
        let readiness = Readiness::new().map_err(ServeError::Wait)?;
        readiness.add(&socket.listener, LISTENER).map_err(ServeError::Wait)?;
        let desk =
            Mutex::new(Desk { engine, waiting: None, made: 0, open: BTreeMap::new(), recovered: recovered.clone() });
        let shared = Arc::new(Shared { desk, policy: options.policy, bell: readiness.bell() });
        let stays = options.starter.is_none();
        let starter = options.starter;
        Ok(Self { shared, socket, readiness, starter, stays, recovered, stop: Arc::default() })
    }

    /// The fixes of an earlier helper, as they stand now.
    #[must_use]
    pub fn recovered(&self) -> &[Entry] {
        &self.recovered
    }

    /// Entries of the journal that cannot be read: what their fixes have changed is not known.
    #[must_use]
    pub fn unreadable(&self) -> Vec<String> {
        self.shared.desk().engine.journal().unreadable().iter().map(|each| each.what.clone()).collect()
    }

    /// What ends it.
    #[must_use]
    pub fn stop(&self) -> Stop {
        Stop { stop: Arc::clone(&self.stop), bell: self.readiness.bell() }
    }

    /// Serves until it is stopped; one that a caller has started, until nobody needs it any more.
    ///
    /// # Errors
    /// [`ServeError::Wait`]. What waits to be confirmed is taken back then, too.
    pub fn run(mut self) -> Result<(), ServeError> {
        if let Some(starter) = self.starter.take() {
            self.receive(starter);
        }
        let outcome = self.turns();
        let mut desk = self.shared.desk();
        if let Some(waiting) = desk.waiting.take() {
            // The journal has what is left where this fails, and the next start tries again.
            let _ = desk.engine.undo(Some(waiting.fix), Others::Overwrite);
        }
        outcome
    }

    fn turns(&self) -> Result<(), ServeError> {
        loop {
            let patience = self.expire();
            if self.stop.load(Ordering::Relaxed) || self.is_done() {
                return Ok(());
            }
            self.readiness.wait(patience, |_| ()).map_err(ServeError::Wait)?;
            self.accept()?;
        }
    }

    /// Takes back what has waited too long. Returns how long there is nothing to do.
    fn expire(&self) -> Patience {
        let mut desk = self.shared.desk();
        let Some(waiting) = desk.waiting else { return Patience::Endless };
        let left = waiting.until.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Patience::For(left);
        }
        desk.waiting = None;
        // That not all came back is a state of its entry.
        let _ = desk.engine.expire(waiting.fix);
        Patience::Endless
    }

    fn is_done(&self) -> bool {
        let desk = self.shared.desk();
        !self.stays && desk.open.is_empty() && desk.waiting.is_none()
    }

    fn accept(&self) -> Result<(), ServeError> {
        loop {
            match self.socket.listener.accept() {
                Ok((stream, _)) => self.receive(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // A caller who went again, or too many files for a moment.
                Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {
                }
                Err(error) => return Err(ServeError::Wait(error)),
            }
        }
    }

    fn receive(&self, stream: UnixStream) {
        // Whoever cannot be told apart is nobody's friend.
        let uid = peer(&stream).map_or(u32::MAX, |peer| peer.uid);
        let number = {
            let mut desk = self.shared.desk();
            if !has_room(&desk.open, uid) {
                drop(desk);
                return turn_away(&stream);
            }
            *desk.open.entry(uid).or_default() += 1;
            desk.made += 1;
            desk.made
        };
        let shared = Arc::clone(&self.shared);
        let work = move || {
            // A caller who breaks off has what they asked for, or the timer takes it back.
            let _ = serve(&stream, number, &shared);
            drop(stream);
            shared.desk().leaves(uid);
            shared.bell.ring();
        };
        if thread::Builder::new().name("caller".to_owned()).spawn(work).is_err() {
            self.shared.desk().leaves(uid);
        }
    }
}

/// Whether one more connection of a user is taken. Each user has a share, and users other than root and the helper's own
/// together another, so that nobody keeps the owners of the host out.
fn has_room(open: &BTreeMap<u32, usize>, uid: u32) -> bool {
    let own = linux::namespaces::rights::user();
    let is_owner = |uid: u32| uid == 0 || uid == own;
    let of_user = open.get(&uid).copied().unwrap_or_default();
    let of_others: usize = open.iter().filter(|(uid, _)| !is_owner(**uid)).map(|(_, count)| count).sum();
    if is_owner(uid) {
        of_user < MOST_CONNECTIONS
    } else {
        of_user < OF_A_MEMBER.connections && of_others < MOST_CONNECTIONS
    }
}

fn turn_away(mut stream: &UnixStream) {
    let reason = format!(
        "the helper has as many connections of this user as it takes: {} of a member of the group, {MOST_CONNECTIONS} in all",
        OF_A_MEMBER.connections
    );
    let refusal = Refusal { kind: RefusalKind::Busy, reason, hints: Vec::new() };
    let answer = model::host::fix::talk::Answer::Refused(refusal);
    if let Ok(mut line) = serde_json::to_vec(&answer) {
        line.push(b'\n');
        // Who does not read it sees the connection closed.
        let _ = stream.set_nonblocking(true).and_then(|()| io::Write::write_all(&mut stream, &line));
    }
}

/// Connections of root at one time, and as many of all members of the group together.
pub const MOST_CONNECTIONS: usize = 16;

const LISTENER: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_who_fill_their_share_keep_nobody_else_out() {
        // Users that are neither root nor whoever runs the test.
        let own = linux::namespaces::rights::user();
        let members: Vec<u32> = (50_000..50_020).filter(|&uid| uid != own).collect();
        let mut open = BTreeMap::new();
        for &uid in &members {
            while has_room(&open, uid) {
                *open.entry(uid).or_default() += 1;
                assert!(open[&uid] <= OF_A_MEMBER.connections);
            }
        }
        assert_eq!(open.values().sum::<usize>(), MOST_CONNECTIONS);
        for _ in 0..MOST_CONNECTIONS {
            assert!(has_room(&open, 0), "root is served whoever else is there");
            *open.entry(0).or_default() += 1;
        }
        assert!(!has_room(&open, 0));
    }
}
