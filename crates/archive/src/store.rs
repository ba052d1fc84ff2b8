//! Putting runs in, reading and removing them.

use std::path::{Path, PathBuf};

use model::measurement::DirectionTotal;
use model::run::{Outcome, Run, RunId};
use model::series::RunSamples;
use model::series::packed::{self, UnpackError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, named_params};
use units::DataRate;

use crate::digest::{self, Depth, Sealed};
use crate::fault::Fault;
use crate::location::{self, NoHome};
use crate::names::name_of;
use crate::schema::{self, OpenError};

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

/// Why the user's own archive cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenDefaultError {
    /// There is no place for it.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// It is there and cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Why a run was not stored. Nothing of it is in the archive.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A run of that name is stored.
    #[error("run {id} is already in the archive {}", path.display())]
    AlreadyStored {
        /// Id of the run, whole.
        id: RunId,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// It has a value that JSON cannot hold.
    #[error("run {id} cannot be written as JSON")]
    Encode {
        /// Id of the run, whole.
        id: RunId,
        /// Where the JSON is not what is expected.
        source: serde_json::Error,
    },
    /// It cannot be compressed.
    #[error("run {id} cannot be compressed")]
    Compress {
        /// Id of the run, whole.
        id: RunId,
        /// What the operating system or zstd reported.
        source: std::io::Error,
    },
    /// The database refuses.
    #[error("cannot store run {id} in the archive {}", path.display())]
    Database {
        /// Id of the run, whole.
        id: RunId,
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

/// Why a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No such run is stored.
    #[error("no run {id} in the archive {}", path.display())]
    Unknown {
        /// Id of the run, whole.
        id: RunId,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// A newer linerate has written it.
    #[error("run {id} has format {found}, this program knows {}: use a newer linerate", Run::FORMAT)]
    Newer {
        /// Id of the run, whole.
        id: RunId,
        /// Format that it was stored in, newer than any that is known here.
        found: u32,
    },
    /// Its compressed form is damaged, or larger than [`MAX_RUN_BYTES`].
    #[error("run {id} cannot be decompressed")]
    Decompress {
        /// Id of the run, whole.
        id: RunId,
        /// What the operating system or zstd reported.
        source: std::io::Error,
    },
    /// Its JSON is no run.
    #[error("run {id} cannot be understood")]
    Decode {
        /// Id of the run, whole.
        id: RunId,
        /// Where the JSON is not what is expected.
        source: serde_json::Error,
    },
    /// Its samples cannot be unpacked.
    #[error("the samples of run {id} cannot be unpacked")]
    Unpack {
        /// Id of the run, whole.
        id: RunId,
        /// Where the packed samples are damaged.
        source: UnpackError,
    },
    /// The database refuses.
    #[error("cannot read run {id} from the archive {}", path.display())]
    Database {
        /// Id of the run, whole.
        id: RunId,
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

/// Runs were not removed; all of them are still there.
#[derive(Debug, thiserror::Error)]
#[error("cannot remove runs from the archive {}", path.display())]
pub struct RemoveError {
    path: PathBuf,
    source: Fault,
}

impl Archive {
    /// Opens the archive at `path`; makes it, and directories above it, where there is none.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        Ok(Self { connection: schema::open(&path)?, path })
    }

    /// Opens an archive that is there to read what is in it, also on a disk that is full or takes no writes.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        Ok(Self { connection: schema::open_to_read(&path)?, path })
    }

    /// Opens an archive that is there to remove from it, also on a full disk.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_to_free(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        Ok(Self { connection: schema::open_to_free(&path)?, path })
    }

    /// Opens the user's own archive, at [`location::default_path`].
    ///
    /// # Errors
    /// See [`OpenError`]; besides, if the user has no home directory.
    pub fn open_default() -> Result<Self, OpenDefaultError> {
        Ok(Self::open(location::default_path()?)?)
    }

    /// Where the archive is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores a run with its samples. Both are on disk when this returns.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn store(&mut self, run: &Run, samples: &RunSamples) -> Result<(), StoreError> {
        let id = run.id;
        let json = run.to_json().map_err(|source| StoreError::Encode { id, source })?;
        let compressed =
            zstd::bulk::compress(&json, RUN_LEVEL).map_err(|source| StoreError::Compress { id, source })?;
        let packed = packed::pack(samples);
        insert(&mut self.connection, run, &compressed, &packed).map_err(|error| {
            match error.sqlite_extended_error_code() {
                Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE) => {
                    StoreError::AlreadyStored { id, path: self.path.clone() }
                }
                _ => StoreError::Database { id, path: self.path.clone(), source: error.into() },
            }
        })
    }

    /// Reads a run.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn run(&self, id: &RunId) -> Result<Run, ReadError> {
        let id = *id;
        let compressed = self.content(digest::RUNS, "SELECT key, run FROM runs WHERE id = ?1", id)?;
        let json = zstd::bulk::decompress(&compressed, MAX_RUN_BYTES)
            .map_err(|source| ReadError::Decompress { id, source })?;
        let run = Run::from_json(&json).map_err(|source| ReadError::Decode { id, source })?;
        if run.format > Run::FORMAT {
            return Err(ReadError::Newer { id, found: run.format });
        }
        Ok(run)
    }

    /// Reads the samples of a run.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn samples(&self, id: &RunId) -> Result<RunSamples, ReadError> {
        let query = "SELECT run_key, packed FROM samples JOIN runs ON key = run_key WHERE id = ?1";
        let packed = self.content(digest::SAMPLES, query, *id)?;
        let unpacked = packed::read(&packed, &packed::Limits::STORED);
        unpacked.map(|unpacked| unpacked.samples).map_err(|source| ReadError::Unpack { id: *id, source })
    }

    /// Removes runs with their samples: all of `ids` that are stored, or none. Tells how many there were.
    ///
    /// # Errors
    /// If the database refuses.
    pub fn remove(&mut self, ids: &[RunId]) -> Result<usize, RemoveError> {
        let removed = match delete(&mut self.connection, ids).map_err(Fault::from) {
            Err(Fault::DiskFull(_)) => self.delete_without_log(ids).map_err(Fault::from),
            removed => removed,
        };
        removed.map_err(|source| RemoveError { path: self.path.clone(), source })
    }

    /// On a full disk even what removes needs room in the log: what is in it goes to its place first, and the rest is done
    /// without one.
    fn delete_without_log(&mut self, ids: &[RunId]) -> rusqlite::Result<usize> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        self.connection.pragma_update(None, "journal_mode", "MEMORY")?;
        let removed = delete(&mut self.connection, ids)?;
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        Ok(removed)
    }

    /// The content of a row, which is what was stored.
    fn content(&self, table: Sealed, query: &str, id: RunId) -> Result<Vec<u8>, ReadError> {
        let database = |source| ReadError::Database { id, path: self.path.clone(), source };
        let found = self.connection.query_row(query, [id.to_string()], |row| Ok((row.get(0)?, row.get(1)?))).optional();
        let found = found.map_err(|error| database(error.into()))?;
        let (row, content) = found.ok_or_else(|| ReadError::Unknown { id, path: self.path.clone() })?;
        table.insist(&self.connection, row, Depth::Content).map_err(database)?;
        Ok(content)
    }
}

fn insert(connection: &mut Connection, run: &Run, compressed: &[u8], packed: &[u8]) -> rusqlite::Result<()> {
    let failure = match &run.outcome {
        Outcome::Complete => None,
        Outcome::Failed(failure) => Some(failure),
    };
    let totals = run.measurement.as_ref().map_or(&[][..], |measurement| &measurement.totals);
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    transaction.execute(
        INSERT_RUN,
        named_params! {
            ":id": run.id.to_string(),
            ":started": indexed(run.started.unix_nanos()),
            ":role": name_of(run.role),
            ":target": run.peer.target,
            ":protocol": name_of(run.spec.protocol),
            ":direction": name_of(run.spec.direction),
            ":failure": failure.map(|failure| name_of(failure.kind)),
            ":failure_detail": failure.map(|failure| &failure.detail),
            ":goodput": goodput(totals).map(|rate| indexed(rate.bps())),
            ":retransmits": retransmits(totals).map(indexed),
            ":run": compressed,
        },
    )?;
    let key = transaction.last_insert_rowid();
    transaction.execute("INSERT INTO samples (run_key, packed) VALUES (?1, ?2)", (key, packed))?;
    digest::RUNS.seal(&transaction, key)?;
    digest::SAMPLES.seal(&transaction, key)?;
    transaction.commit()
}

const INSERT_RUN: &str = "
    INSERT INTO runs (id, started_unix_ns, role, target, protocol, direction, failure, failure_detail, goodput_bps,
                      retransmits, run)
    VALUES (:id, :started, :role, :target, :protocol, :direction, :failure, :failure_detail, :goodput,
            :retransmits, :run)";

fn delete(connection: &mut Connection, ids: &[RunId]) -> rusqlite::Result<usize> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let mut removed = 0;
    for id in ids {
        removed += transaction.execute("DELETE FROM runs WHERE id = ?1", [id.to_string()])?;
    }
    transaction.commit()?;
    // The runs are gone whether the file shrinks now or is used again later.
    let _ = connection.execute_batch("PRAGMA incremental_vacuum");
    Ok(removed)
}

fn goodput(totals: &[DirectionTotal]) -> Option<DataRate> {
    totals.iter().map(|total| total.goodput).reduce(|sum, rate| sum + rate)
}

fn retransmits(totals: &[DirectionTotal]) -> Option<u64> {
    totals.iter().filter_map(|total| total.retransmits).map(|count| count.get()).reduce(u64::saturating_add)
}

/// SQLite's integers end at 2^63 - 1. The exact value is in the run itself.
fn indexed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The largest run that is read, decompressed.
pub const MAX_RUN_BYTES: usize = 64 << 20;

/// Level of zstd for a run's JSON: 32 kB with 400 counters become 3.5 kB in 55 µs. Level 19 takes an eighth off that for
/// a hundred times the time.
const RUN_LEVEL: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Peer, Role};

    #[test]
    fn a_full_disk_is_named_and_leaves_nothing_behind() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut archive = Archive::open(directory.path().join("archive.db")).unwrap();
        // SQLite reports its own limit of pages as it reports a file system without space.
        let pages: i64 = archive.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        archive.connection.pragma_update(None, "max_page_count", pages).unwrap();
        let error = archive.store(&large_run(), &RunSamples::default()).unwrap_err();
        assert!(matches!(error, StoreError::Database { source: Fault::DiskFull(_), .. }), "{error:?}");
        assert!(archive.list(&crate::Filter::default()).unwrap().is_empty());
        archive.connection.pragma_update(None, "max_page_count", pages + 100).unwrap();
        archive.store(&large_run(), &RunSamples::default()).unwrap();
    }

    #[test]
    fn an_archive_that_may_only_be_read_says_so() {
        let directory = tempfile::TempDir::new().unwrap();
        let mut archive = Archive::open(directory.path().join("archive.db")).unwrap();
        archive.connection.pragma_update(None, "query_only", "ON").unwrap();
        let error = archive.store(&large_run(), &RunSamples::default()).unwrap_err();
        assert!(matches!(error, StoreError::Database { source: Fault::ReadOnly(_), .. }), "{error:?}");
    }

    #[test]
    fn a_run_is_flushed_to_the_disk_before_it_is_acknowledged() {
        let directory = tempfile::TempDir::new().unwrap();
        let archive = Archive::open(directory.path().join("archive.db")).unwrap();
        let ask = |pragma| archive.connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0)).unwrap();
        // 2 is FULL: with a write-ahead log each commit is flushed (sqlite.org/pragma.html#pragma_synchronous).
        assert_eq!((ask("synchronous"), ask("foreign_keys")), (2, 1));
        let journal: String = archive.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
    }

    /// A run that does not fit the pages of an empty archive: its command does not compress.
    fn large_run() -> Run {
        let noise = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string();
        Run {
            format: Run::FORMAT,
            id: RunId::new(units::WallTime::default(), 1),
            started: units::WallTime::default(),
            role: Role::Client,
            command: (0..5000).map(noise).collect(),
            spec: model::spec::TestSpec::default(),
            declared_line_rate: None,
            declared: model::run::Declared::default(),
            batch: None,
            local: model::host::HostIdentity::default(),
            peer: Peer { target: "dtn2".to_owned(), address: None, host: model::host::HostIdentity::default() },
            outcome: Outcome::Complete,
            measurement: None,
        }
    }
}
