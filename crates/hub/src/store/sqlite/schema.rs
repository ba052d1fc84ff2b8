//! The tables, and how older ones are brought up to date.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use units::WallTime;

use crate::store::StoreError;
use crate::store::integers::stored;
use crate::trust::secret;

/// Opens the database to write to; makes it where there is none.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        secret::write(path, b"")?;
    }
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Opens the database to read from.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Writes to the database, to see whether it can be written to.
pub(super) fn touch(connection: &Connection, now: WallTime) -> Result<(), StoreError> {
    connection.execute("INSERT OR REPLACE INTO alive (key, at_unix_ns) VALUES (1, ?1)", [stored(now)])?;
    Ok(())
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found: i32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// How long a request waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pages of 4 KiB in the log before they go to their place.
const LOG_PAGES: u32 = 8192;

/// Each takes the tables one version further; none is ever changed.
const MIGRATIONS: [&str; 5] = [
    "
    CREATE TABLE alive (key INTEGER PRIMARY KEY, at_unix_ns INTEGER NOT NULL);
    CREATE TABLE tokens (
        hash TEXT PRIMARY KEY,
        purpose TEXT NOT NULL,
        expires_unix_ns INTEGER NOT NULL,
        used_by TEXT
    ) WITHOUT ROWID;
    CREATE TABLE agents (
        name TEXT PRIMARY KEY,
        key TEXT NOT NULL,
        certificate TEXT NOT NULL UNIQUE,
        address TEXT,
        joined_unix_ns INTEGER NOT NULL,
        heard_unix_ns INTEGER,
        version TEXT,
        health TEXT NOT NULL
    ) WITHOUT ROWID;
    -- What agents deliver. A result is named by its run as well, which it has once.
    CREATE TABLE records (
        key INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        run TEXT UNIQUE,
        received_unix_ns INTEGER NOT NULL,
        digest TEXT NOT NULL,
        content BLOB NOT NULL,
        samples BLOB,
        UNIQUE (agent, name)
    );
    CREATE INDEX records_by_kind ON records (kind, agent, received_unix_ns);
",
    "
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    -- Runs of the plan; what is over stays for late results.
    CREATE TABLE runs (name TEXT PRIMARY KEY, is_open INTEGER NOT NULL, row TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX runs_open ON runs (name) WHERE is_open = 1;
    CREATE TABLE requests (agent TEXT PRIMARY KEY, boots INTEGER NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE budgets (
        resource TEXT NOT NULL,
        day INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (resource, day)
    ) WITHOUT ROWID;
    CREATE TABLE series (key INTEGER PRIMARY KEY, series TEXT NOT NULL UNIQUE);
    CREATE TABLE points (
        series INTEGER NOT NULL REFERENCES series (key),
        at_unix_ns INTEGER NOT NULL,
        record INTEGER NOT NULL,
        value REAL NOT NULL,
        is_good INTEGER NOT NULL,
        PRIMARY KEY (series, at_unix_ns, record)
    ) WITHOUT ROWID;
    CREATE TABLE diagnoses (incident TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE incidents (
        id TEXT PRIMARY KEY,
        opened_unix_ns INTEGER NOT NULL,
        content TEXT NOT NULL
    ) WITHOUT ROWID;
",
    "
    CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        password TEXT NOT NULL,
        changed_unix_ns INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE sessions (hash TEXT PRIMARY KEY, account TEXT NOT NULL, expires_unix_ns INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX sessions_of ON sessions (account);
    CREATE TABLE actions (
        key INTEGER PRIMARY KEY,
        at_unix_ns INTEGER NOT NULL,
        who TEXT NOT NULL,
        origin TEXT NOT NULL,
        what TEXT NOT NULL
    );
    CREATE TABLE reports (incident TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
",
    "
    CREATE TABLE segments (
        key INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        -- 0: closed, 1: written, 2: the only place of its samples.
        state INTEGER NOT NULL,
        newest_unix_ns INTEGER NOT NULL
    );
    CREATE INDEX segments_by_state ON segments (state, newest_unix_ns) WHERE state < 2;
    CREATE TABLE segment_runs (
        record INTEGER PRIMARY KEY,
        day INTEGER NOT NULL,
        pair INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        received_unix_ns INTEGER NOT NULL,
        segment INTEGER REFERENCES segments (key)
    );
    CREATE INDEX segment_runs_waiting ON segment_runs (day, pair, record) WHERE segment IS NULL;
    CREATE INDEX segment_runs_of ON segment_runs (segment, record) WHERE segment IS NOT NULL;
",
    "
    -- What was measured since a page was made.
    CREATE INDEX points_by_record ON points (record);
",
];
