//! The change log: entries in the order in which they were entered, and the notes of people on them.
//!
//! * [`watched`]: what a watcher knew last of a host, kept with the entries that led there

mod row;
pub mod watched;

use std::path::PathBuf;

use model::host::change::{ChangeEntry, ChangeNote, LoggedChange};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, named_params};
use units::WallTime;

use crate::digest::{self, Depth};
use crate::fault::Fault;
use crate::store::Archive;

/// Which entries to list. By default all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeFilter {
    /// Only of this host.
    pub host: Option<String>,
    /// Only what was seen then or later.
    pub since: Option<WallTime>,
    /// Only what was seen then or earlier.
    pub until: Option<WallTime>,
    /// Only of facts or subjects that match: `rx-gro*`, or a part of the name. Letters of either case.
    pub fact: Option<String>,
    /// At most so many, the last entered.
    pub limit: Option<u32>,
}

/// Why the change log cannot be read or written. Nothing of what was to be written is in it.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// There is no entry of that number.
    #[error("no change {number} in the archive {}", path.display())]
    Unknown {
        /// Number in the log of changes, from 1.
        number: u64,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// An entry cannot be written as JSON, or what is stored is none.
    #[error("an entry of the change log in {} cannot be understood", path.display())]
    Form {
        /// Path of the archive's database.
        path: PathBuf,
        /// Where the JSON is not what is expected.
        source: serde_json::Error,
    },
    /// The database refuses.
    #[error("cannot use the change log in the archive {}", path.display())]
    Database {
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

impl Archive {
    /// Enters a change with its notes, and tells its number. It is on disk when this returns.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn append_change(&mut self, entry: &ChangeEntry) -> Result<u64, ChangeError> {
        let json = self.json_of(entry)?;
        let path = self.path.clone();
        let mut append = || {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            let number = row::insert(&transaction, entry, &json)?;
            transaction.commit()?;
            Ok(number)
        };
        append().map_err(|error: rusqlite::Error| ChangeError::Database { path, source: error.into() })
    }

    /// The entries that `filter` lets through with their notes, in the order in which they were entered.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn changes(&self, filter: &ChangeFilter) -> Result<Vec<LoggedChange>, ChangeError> {
        let parameters = named_params! {
            ":host": filter.host,
            ":since": filter.since.map(row::indexed_time),
            ":until": filter.until.map(row::indexed_time),
            ":fact": filter.fact.as_deref().map(pattern),
            // To SQLite a negative limit is none.
            ":limit": filter.limit.map_or(-1, i64::from),
        };
        let select = || {
            let mut query = self.connection.prepare(SELECT)?;
            query.query_map(parameters, row::stored)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut found = self.read(select())?;
        // The last entered were asked for; people read on from the first.
        found.reverse();
        found.iter().map(|stored| self.logged(stored)).collect()
    }

    /// One entry with its notes.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn change(&self, number: u64) -> Result<LoggedChange, ChangeError> {
        let query = "SELECT number, entry FROM changes WHERE number = ?1";
        let found = self.connection.query_row(query, [row::indexed(number)], row::stored).optional();
        let stored = self.read(found)?;
        self.logged(&stored.ok_or_else(|| ChangeError::Unknown { number, path: self.path.clone() })?)
    }

    /// Notes something on an entry. It is on disk when this returns.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub fn note_change(&mut self, number: u64, note: &ChangeNote) -> Result<(), ChangeError> {
        self.change(number)?;
        let noted = row::note(&self.connection, row::indexed(number), note);
        self.read(noted)
    }

    fn logged(&self, stored: &row::Stored) -> Result<LoggedChange, ChangeError> {
        digest::CHANGES
            .insist(&self.connection, stored.number, Depth::Content)
            .map_err(|source| ChangeError::Database { path: self.path.clone(), source })?;
        let form = |source| ChangeError::Form { path: self.path.clone(), source };
        let mut entry: ChangeEntry = serde_json::from_str(&stored.json).map_err(form)?;
        entry.notes = self.read(row::notes(&self.connection, stored.number))?;
        Ok(LoggedChange { number: stored.number.cast_unsigned(), entry })
    }

    pub(crate) fn json_of(&self, entry: &ChangeEntry) -> Result<String, ChangeError> {
        row::json(entry).map_err(|source| ChangeError::Form { path: self.path.clone(), source })
    }

    pub(crate) fn read<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, ChangeError> {
        outcome.map_err(|error| ChangeError::Database { path: self.path.clone(), source: error.into() })
    }
}

const SELECT: &str = "
    SELECT number, entry FROM changes
    WHERE (:host IS NULL OR host = :host)
      AND (:since IS NULL OR time_unix_ns >= :since)
      AND (:until IS NULL OR time_unix_ns <= :until)
      AND (:fact IS NULL OR lower(fact) GLOB :fact OR lower(coalesce(subject, '')) GLOB :fact)
    ORDER BY number DESC
    LIMIT :limit";

/// What a person types, as a pattern of GLOB: a name without wildcards is looked for anywhere.
fn pattern(text: &str) -> String {
    let text = text.to_lowercase().replace('[', "[[]");
    if text.contains(['*', '?']) { text } else { format!("*{text}*") }
}
