//! What SQLite's errors mean for a person.

use rusqlite::ErrorCode;

/// Why the database did not do what it was asked. The names say what to do next.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No space is left where the archive is.
    #[error("the disk is full")]
    DiskFull(#[source] rusqlite::Error),
    /// The operating system reports a failed access. SQLite also says this where the disk filled up while opening.
    #[error("reading or writing failed; the disk may be full or broken")]
    Access(#[source] rusqlite::Error),
    /// This user may not write there.
    #[error("it may not be written to")]
    ReadOnly(#[source] rusqlite::Error),
    /// Another process holds it for longer than [`Fault::PATIENCE`].
    #[error("another process has been writing to it for {} s", Fault::PATIENCE.as_secs())]
    Busy(#[source] rusqlite::Error),
    /// Its bytes are not what SQLite wrote.
    #[error("it is damaged; move it away, or restore a copy")]
    Damaged(#[source] rusqlite::Error),
    /// A row is not what was stored in it.
    #[error("row {row} of its table `{table}` is not what was stored: its checksum differs")]
    Checksum {
        /// Table of the database.
        table: &'static str,
        /// `rowid` of the damaged row.
        row: i64,
    },
    /// It is no SQLite database.
    #[error("it is no SQLite database")]
    NotSqlite(#[source] rusqlite::Error),
    /// It cannot be opened.
    #[error("it cannot be opened")]
    CannotOpen(#[source] rusqlite::Error),
    /// Anything else.
    #[error("SQLite failed")]
    Other(#[source] rusqlite::Error),
}

impl Fault {
    /// Whether the disk is to blame, or another process: what is stored may be sound, and what is not may be later.
    #[must_use]
    pub fn is_of_the_disk(&self) -> bool {
        match self {
            Self::DiskFull(_) | Self::Access(_) | Self::ReadOnly(_) | Self::Busy(_) | Self::CannotOpen(_) => true,
            Self::Damaged(_) | Self::Checksum { .. } | Self::NotSqlite(_) | Self::Other(_) => false,
        }
    }

    /// How long to wait for another process to finish writing.
    pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull(error),
            Some(ErrorCode::SystemIoFailure) => Self::Access(error),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(error),
            Some(ErrorCode::NotADatabase) => Self::NotSqlite(error),
            Some(ErrorCode::CannotOpen) => Self::CannotOpen(error),
            _ => Self::Other(error),
        }
    }
}
