//! What a watcher says, and why nobody watches.

use std::io;

use archive::changes::ChangeError;
use archive::changes::watched::LockError;
use model::host::change::LoggedChange;

use crate::live::ReadError;

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
