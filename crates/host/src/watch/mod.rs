//! Watching a host: what changes is in the change log at once, with who did it where the kernel tells.
//!
//! The kernel says that something changed; what may have changed is read again and compared with what was known; the
//! difference is entered. From time to time everything is read and compared, so that what came without an event is
//! entered too, as a change between two times. What is known is kept with the entries, in one transaction: whatever
//! happens to the watcher, the next one goes on from there.
//!
//! * `listener`: a thread that listens all the time; `events`: what it hears
//! * `place`: one network namespace that is watched
//! * `known`: what is known, and what a new reading changes
//! * `besides`: what is watched and is no setting: addresses, policy rules, nftables, carrier
//! * `actors`: who made a change; `restless`: settings that change all the time; `packages`: what is installed
//! * `entries`: changes as entries of the log; `clock`: steps of the wall clock
//! * `journal`: entries on their way to the archive
//! * `rounds`: when to read what

mod actors;
mod besides;
mod clock;
mod entries;
mod events;
mod journal;
mod known;
mod listener;
mod packages;
mod place;
mod restless;
mod rounds;

use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use archive::Archive;
use archive::changes::ChangeError;
use archive::changes::watched::LockError;
use model::host::change::LoggedChange;

use crate::live::ReadError;
pub use actors::user_name;

/// How to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How often everything is compared.
    pub interval: Duration,
    /// Which namespaces.
    pub reach: Namespaces,
    /// Bytes of each queue in the kernel that holds what was not heard yet.
    pub queue_bytes: usize,
}

/// Which network namespaces are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// That of this process.
    Own,
    /// All that this process may enter, with those that come.
    All,
}

/// What a watcher says.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// It begins.
    Began {
        /// Namespaces that it watches.
        namespaces: usize,
        /// Settings that are known.
        settings: usize,
        /// Whether the kernel tells who writes to a file.
        knows_writers: bool,
    },
    /// A change was entered.
    Entered(&'a LoggedChange),
    /// Something does not work, and what follows from it.
    Warning(String),
}

/// Why nobody watches.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Somebody else does, or the lock cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The facts of the host cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What was known cannot be read.
    #[error(transparent)]
    Archive(#[from] ChangeError),
    /// The kernel gives no files to listen with.
    #[error("cannot listen to the kernel")]
    Listen(#[from] io::Error),
}

impl Default for Options {
    fn default() -> Self {
        Self { interval: Duration::from_secs(600), reach: Namespaces::Own, queue_bytes: 1 << 20 }
    }
}

/// Watches this host until `stop` is set. What is entered is on disk when it is told.
///
/// # Errors
/// See [`WatchError`]: nothing was watched then. What fails later is told and tried again.
pub fn watch(
    archive: &mut Archive,
    options: &Options,
    stop: &AtomicBool,
    told: &mut dyn FnMut(WatchEvent<'_>),
) -> Result<(), WatchError> {
    let _lock = archive.lock_watch(&linux::host::hostname())?;
    linux::monitor::allow_many_files();
    let mut rounds = rounds::Rounds::begin(archive, options, told)?;
    rounds.run(stop)
}
