//! From what a person types to one run.

use std::path::PathBuf;

use model::run::{Role, RunId};

use crate::fault::Fault;
use crate::list::{Filter, ListError};
use crate::store::Archive;

/// Why a text names no run.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The archive is empty.
    #[error("the archive {} has no runs yet", path.display())]
    Empty {
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// No run starts like this.
    #[error("no run in the archive {} starts with `{text}`", path.display())]
    Unknown {
        /// What was typed.
        text: String,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// Several runs do.
    #[error("`{text}` could be {first}, {second} or more; type more letters", first = candidates[0], second = candidates[1])]
    Ambiguous {
        /// What was typed.
        text: String,
        /// The newest two of them.
        candidates: [RunId; 2],
    },
    /// The archive cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The database refuses.
    #[error("cannot search the archive {}", path.display())]
    Database {
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

impl Archive {
    /// The run whose name is or starts with `text`, in letters of either case. `last` is the newest that this host
    /// started, or, where it started none, the newest of all.
    ///
    /// # Errors
    /// See [`ResolveError`].
    pub fn resolve(&self, text: &str) -> Result<RunId, ResolveError> {
        if text == "last" {
            return self.last();
        }
        let unknown = || ResolveError::Unknown { text: text.to_owned(), path: self.path.clone() };
        // Also keeps the wildcards of GLOB out.
        if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(unknown());
        }
        let found = self
            .starting_with(&text.to_ascii_uppercase())
            .map_err(|error| ResolveError::Database { path: self.path.clone(), source: error.into() })?;
        let mut ids = found.iter().filter_map(|id| id.parse().ok());
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(id),
            (Some(first), Some(second)) => {
                Err(ResolveError::Ambiguous { text: text.to_owned(), candidates: [first, second] })
            }
            (None, _) => Err(unknown()),
        }
    }

    fn last(&self) -> Result<RunId, ResolveError> {
        for role in [Some(Role::Client), None] {
            let newest = self.list(&Filter { limit: Some(1), role, ..Filter::default() })?;
            if let Some(run) = newest.first() {
                return Ok(run.id);
            }
        }
        Err(ResolveError::Empty { path: self.path.clone() })
    }

    fn starting_with(&self, prefix: &str) -> rusqlite::Result<Vec<String>> {
        let mut query =
            self.connection.prepare("SELECT id FROM runs WHERE id GLOB ?1 || '*' ORDER BY id DESC LIMIT 2")?;
        query.query_map([prefix], |row| row.get(0))?.collect()
    }
}
