//! What a watcher knew last of a host. It is written in one transaction with the entries that led there, so whatever
//! happens to the watcher, a change is entered once: the entry is on disk exactly where the new value is.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use model::host::change::ChangeEntry;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior};
use units::WallTime;

use super::{ChangeError, row};
use crate::store::Archive;

/// Which setting: a namespace, what in it, and the name. What is empty is the host's own, or the host itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WatchedKey {
    /// The network namespace.
    pub namespace: String,
    /// What it is a setting of, such as an interface.
    pub subject: String,
    /// Name as the watch recorded it.
    pub name: String,
}

/// What was known last of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watched {
    /// When everything was last compared.
    pub checked: WallTime,
    /// During which boot.
    pub boot: Option<String>,
    /// Every setting with its value.
    pub settings: BTreeMap<WatchedKey, String>,
}

/// What a watcher has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchedChanges {
    /// What to enter.
    pub entries: Vec<ChangeEntry>,
    /// Settings with their value now; [`None`] for those that are gone.
    pub settings: Vec<(WatchedKey, Option<String>)>,
    /// When everything was compared, where it was.
    pub checked: Option<WallTime>,
}

/// Who is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedHost {
    /// Name as the watch recorded it.
    pub name: String,
    /// Id of the boot that was watched last (`/proc/sys/kernel/random/boot_id`).
    pub boot: Option<String>,
}

/// Only one process watches a host for one archive: whoever has this. It goes with the process.
#[derive(Debug)]
pub struct WatchLock {
    _file: File,
}

/// Why a host is not watched.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process watches it.
    #[error("{holder} watches {host} for this archive already (lock {})", path.display())]
    Taken {
        /// Host name as its snapshots have it.
        host: String,
        /// Which process.
        holder: String,
        /// The file of the lock.
        path: PathBuf,
    },
    /// The file of the lock cannot be made.
    #[error("cannot lock {}", path.display())]
    Failed {
        /// Path of the lock file.
        path: PathBuf,
        /// What the operating system reported.
        source: io::Error,
    },
}

impl Archive {
    /// What was known last of the host called `name`; [`None`] where nobody has watched it.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn watched(&self, name: &str) -> Result<Option<Watched>, ChangeError> {
        let host = "SELECT checked_unix_ns, boot FROM watched_hosts WHERE host = ?1";
        let read = |row: &Row<'_>| Ok(Watched { checked: row::time(row, 0)?, boot: row.get(1)?, ..Watched::default() });
        let Some(mut watched) = self.read(self.connection.query_row(host, [name], read).optional())? else {
            return Ok(None);
        };
        let all = || {
            let select = "SELECT namespace, subject, name, value FROM watched_settings WHERE host = ?1";
            let mut query = self.connection.prepare(select)?;
            let setting = |row: &Row<'_>| {
                let key = WatchedKey { namespace: row.get(0)?, subject: row.get(1)?, name: row.get(2)? };
                Ok((key, row.get(3)?))
            };
            query.query_map([name], setting)?.collect::<rusqlite::Result<BTreeMap<_, _>>>()
        };
        watched.settings = self.read(all())?;
        Ok(Some(watched))
    }

    /// Enters what a watcher has found, and keeps what it knows now: all of it or nothing. It is on disk when this
    /// returns.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn append_found(&mut self, host: &WatchedHost, found: &WatchedChanges) -> Result<Vec<u64>, ChangeError> {
        let json = found.entries.iter().map(|entry| self.json_of(entry)).collect::<Result<Vec<_>, _>>()?;
        let path = self.path.clone();
        let mut append = || {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            let entries = found.entries.iter().zip(&json);
            let numbers =
                entries.map(|(entry, json)| row::insert(&transaction, entry, json)).collect::<Result<_, _>>()?;
            keep(&transaction, host, found)?;
            transaction.commit()?;
            Ok(numbers)
        };
        append().map_err(|error: rusqlite::Error| ChangeError::Database { path, source: error.into() })
    }

    /// Makes this process the one that watches a host for this archive.
    ///
    /// # Errors
    /// [`LockError::Taken`] where another one does.
    pub fn lock_watch(&self, host: &str) -> Result<WatchLock, LockError> {
        let mut path = self.path.clone().into_os_string();
        path.push(format!(".watch-{}", host.replace(['/', '\0'], "_")));
        let path = PathBuf::from(path);
        let failed = |source| LockError::Failed { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = std::fs::read_to_string(&path).unwrap_or_default();
                let holder = if holder.trim().is_empty() { "another process" } else { holder.trim() };
                return Err(LockError::Taken { host: host.to_owned(), holder: holder.to_owned(), path: path.clone() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // For whoever finds it taken; the lock itself does not depend on it.
        file.set_len(0).and_then(|()| writeln!(file, "process {}", std::process::id())).map_err(failed)?;
        Ok(WatchLock { _file: file })
    }
}

fn keep(transaction: &Transaction<'_>, host: &WatchedHost, found: &WatchedChanges) -> rusqlite::Result<()> {
    let known = "INSERT INTO watched_hosts (host, checked_unix_ns, boot) VALUES (?1, coalesce(?2, 0), ?3)
                 ON CONFLICT (host) DO UPDATE SET checked_unix_ns = coalesce(?2, checked_unix_ns), boot = ?3";
    transaction.execute(known, (&host.name, found.checked.map(row::indexed_time), &host.boot))?;
    let mut set = transaction.prepare(
        "INSERT INTO watched_settings (host, namespace, subject, name, value) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (host, namespace, subject, name) DO UPDATE SET value = ?5",
    )?;
    let mut unset = transaction
        .prepare("DELETE FROM watched_settings WHERE host = ?1 AND namespace = ?2 AND subject = ?3 AND name = ?4")?;
    for (WatchedKey { namespace, subject, name }, value) in &found.settings {
        match value {
            Some(value) => set.execute((&host.name, namespace, subject, name, value))?,
            None => unset.execute((&host.name, namespace, subject, name))?,
        };
    }
    Ok(())
}
