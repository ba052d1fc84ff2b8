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
        /// Path of the archive's database.
        path: PathBuf,
        /// What the operating system reported.
        source: io::Error,
    },
    /// A newer linerate has written it.
    #[error("the archive {} has version {found}, this program knows {VERSION}: use a newer linerate", path.display())]
    Newer {
        /// Path of the archive's database.
        path: PathBuf,
        /// Version of its schema, newer than any that is known here.
        found: i32,
    },
    /// It is the database of something else.
    #[error("{} is a database, but not an archive of linerate", path.display())]
    Foreign {
        /// Path of the file, as it was given.
        path: PathBuf,
    },
    /// SQLite refuses.
    #[error("cannot open the archive {}", path.display())]
    Database {
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
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

/// Opens an archive that is there to read what is in it, on a disk that is full or takes no writes as well.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, OpenError> {
    let error = match open(path) {
        Err(error) if error.is_of_the_disk() && path.exists() => error,
        opened => return opened,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let readable = |opened: rusqlite::Result<Connection>| {
        opened.ok().filter(|connection| state(connection, path).is_ok_and(|found| found == VERSION))
    };
    // Where the log's index cannot be made, the file is read as it lies: nobody can be writing to it either.
    readable(Connection::open_with_flags(path, flags))
        .or_else(|| readable(Connection::open_with_flags(as_it_lies(path), flags | OpenFlags::SQLITE_OPEN_URI)))
        .ok_or(error)
}

/// Opens an archive that is there to remove from it, on a full disk as well: without the files that a log needs. What
/// is removed is overwritten in place then, and a crash meanwhile could damage the archive.
pub(crate) fn open_to_free(path: &Path) -> Result<Connection, OpenError> {
    let error = match open(path) {
        Err(error) if error.is_of_the_disk() && path.exists() => error,
        opened => return opened,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(Fault::PATIENCE)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        Ok(connection)
    });
    opened.ok().filter(|connection| state(connection, path).is_ok_and(|found| found == VERSION)).ok_or(error)
}

/// `file:` and the path, with what a URI would understand escaped (sqlite.org/uri.html).
fn as_it_lies(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            // Writing to a text cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

impl OpenError {
    /// Whether the disk is to blame (full, broken, takes no writes, or held by another process), not what is on it.
    #[must_use]
    pub fn is_of_the_disk(&self) -> bool {
        match self {
            Self::Create { .. } => true,
            Self::Database { source, .. } => source.is_of_the_disk(),
            Self::Newer { .. } | Self::Foreign { .. } => false,
        }
    }
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
    if state(connection, path)? == 0 {
        // What is removed goes back to the file system. It can be turned on only before the first table.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(database)?;
    }
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
    include_str!("schema/5-digests.sql"),
    include_str!("schema/6-transfers.sql"),
];
