//! Why a database refuses.

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
    /// The thread that writes has ended.
    #[error("the hub's database is closed")]
    Closed,
}
