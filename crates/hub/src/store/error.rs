//! Why a database refuses.

use crate::trust::digest::Fingerprint;

/// Why the database refuses.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite does.
    #[error("the hub's database refuses")]
    Sqlite(#[from] rusqlite::Error),
    /// It cannot be made or entered.
    #[error("the hub's database cannot be opened")]
    Open(#[from] std::io::Error),
    /// A newer hub has written it.
    #[error("the hub's database has version {found}, this program knows {known}: use a newer linerate")]
    Newer {
        /// Version of the tables in the file.
        found: i32,
        /// The newest that this program knows.
        known: i32,
    },
    /// A row cannot be written or read as JSON.
    #[error("a row of the hub's database is not understood")]
    Row(#[from] serde_json::Error),
    /// PostgreSQL does, or cannot be reached.
    #[error(transparent)]
    Postgres(#[from] super::postgres::error::PostgresError),
    /// It is that of hubs whom other agents trust.
    #[error("the database is that of hubs with the authority {found}, this one has {own}")]
    OtherAuthority {
        /// Authority of the hubs that use it.
        found: Fingerprint,
        /// Authority of the hub that was to use it as well.
        own: Fingerprint,
    },
    /// The transaction that this was a part of has failed.
    #[error("{0}")]
    Turn(String),
    /// Another hub judges records by now.
    #[error("another hub of this database judges records now")]
    NotJudging,
    /// The thread that writes has ended.
    #[error("the hub's database is closed")]
    Closed,
}

impl StoreError {
    /// The refusal of a whole turn to each of those who waited for it, with its causes.
    pub(crate) fn of_turn(&self) -> Self {
        let causes = std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        Self::Turn(causes.fold(self.to_string(), |text, cause| format!("{text}: {cause}")))
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        Self::Postgres(error.into())
    }
}
