//! The tables, and how older ones are brought up to date.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::fault::Fault;
use crate::location;

/// Marks a file as linerate's archive: `lnrt` in the header of the database (`PRAGMA application_id`).
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"lnrt");

/// The version of the tables that this program writes (`PRAGMA user_version`).
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "there are a handful of migrations")]
pub const VERSION: i32 = MIGRATIONS.len() as i32;

/// Why an archive cannot be opened. Nothing is changed in a file that is refused.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its directory cannot be made.
    #[error("cannot create the archive {}", path.display())]
    Create {
        /// The archive.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A newer linerate has written it.
    #[error("the archive {} has version {found}, this program knows {VERSION}: use a newer linerate", path.display())]
    Newer {
        /// The archive.
        path: PathBuf,
        /// Its version.
        found: i32,
    },
    /// It is the database of something else.
    #[error("{} is a database, but not an archive of linerate", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// SQLite refuses.
    #[error("cannot open the archive {}", path.display())]
    Database {
        /// The archive.
        path: PathBuf,
        /// The cause.
        source: Fault,
    },
}

/// Opens the archive at `path`, makes it where there is none, and brings its tables up to date.
pub(crate) fn open(path: &Path) -> Result<Connection, OpenError> {
    let create = |source| OpenError::Create { path: path.to_owned(), source };
    location::create_private(path).map_err(create)?;
    let database = |error: rusqlite::Error| OpenError::Database { path: path.to_owned(), source: error.into() };
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(database)?;
    connection.busy_timeout(Fault::PATIENCE).map_err(database)?;
    if state(&connection, path)? != VERSION {
        // SQLite does not wait for another process that turns the log on, so processes that find a new file queue up
        // at its directory. The lock goes when the directory is closed.
        let directory = File::open(location::directory_of(path)).map_err(create)?;
        directory.lock().map_err(create)?;
        migrate(&mut connection, path)?;
    }
    connection.pragma_update(None, "synchronous", "FULL").map_err(database)?;
    connection.pragma_update(None, "foreign_keys", "ON").map_err(database)?;
    Ok(connection)
}

/// The version of an archive, 0 for an empty file.
fn state(connection: &Connection, path: &Path) -> Result<i32, OpenError> {
    let ask = |query| connection.query_row(query, [], |row| row.get::<_, i32>(0));
    let database = |error: rusqlite::Error| OpenError::Database { path: path.to_owned(), source: error.into() };
    let tables = ask("SELECT count(*) FROM sqlite_schema").map_err(database)?;
    let application = ask("PRAGMA application_id").map_err(database)?;
    let version = ask("PRAGMA user_version").map_err(database)?;
    match (application, version) {
        (APPLICATION_ID, found) if found > VERSION => Err(OpenError::Newer { path: path.to_owned(), found }),
        (APPLICATION_ID, found) if found > 0 => Ok(found),
        (0, 0) if tables == 0 => Ok(0),
        _ => Err(OpenError::Foreign { path: path.to_owned() }),
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let database = |error: rusqlite::Error| OpenError::Database { path: path.to_owned(), source: error.into() };
    connection.pragma_update(None, "journal_mode", "WAL").map_err(database)?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate).map_err(database)?;
    // Another process may have done it meanwhile.
    let found = state(&transaction, path)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration).map_err(database)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(database)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(database)?;
    transaction.commit().map_err(database)
}

/// What leads from each version to the next. An entry never changes once a release had it.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1-runs-and-samples.sql"),
    include_str!("schema/2-snapshots.sql"),
    include_str!("schema/3-changes.sql"),
    include_str!("schema/4-rounds.sql"),
];
