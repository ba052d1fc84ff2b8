//! Rounds: whole plans, run once. Their runs are stored as any other, so a round holds no samples of its own.

use std::path::PathBuf;

use model::played::Finding;
use model::round::{Round, RoundSummary, Tested};
use model::run::{Outcome, RunId};
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, named_params};
use std::time::Duration;
use units::WallTime;

use crate::digest::{self, Depth};
use crate::fault::Fault;
use crate::store::{Archive, ReadError, StoreError};

/// Why a round cannot be kept, found or read.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// No round is kept.
    #[error("the archive {} has no rounds yet", path.display())]
    Empty {
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// None starts like this.
    #[error("no round in the archive {} starts with `{text}`", path.display())]
    Unknown {
        /// What was typed.
        text: String,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// Several do.
    #[error("`{text}` could be the round {first}, {second} or more; type more letters", first = candidates[0], second = candidates[1])]
    Ambiguous {
        /// What was typed.
        text: String,
        /// The newest two of them.
        candidates: [RunId; 2],
    },
    /// A newer linerate has written it.
    #[error("round {id} has format {found}, this program knows {}: use a newer linerate", Round::FORMAT)]
    Newer {
        /// Id of the round, whole.
        id: RunId,
        /// Format that it was stored in, newer than any that is known here.
        found: u32,
    },
    /// It has no form that can be kept, or what is kept is no round.
    #[error("the round cannot be written or understood as JSON")]
    Form(#[source] serde_json::Error),
    /// It cannot be compressed, or what is kept is damaged or larger than [`MAX_ROUND_BYTES`].
    #[error("the round cannot be compressed or decompressed")]
    Compression(#[source] std::io::Error),
    /// One of its runs cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The samples of one of its runs cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The database refuses.
    #[error("cannot use the rounds in the archive {}", path.display())]
    Database {
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

impl Archive {
    /// Keeps a round and all of its runs. They are on disk when this returns.
    ///
    /// # Errors
    /// See [`RoundError`]. Runs that were stored before an error stay.
    pub fn keep_round(&mut self, round: &Round) -> Result<(), RoundError> {
        for tested in &round.tests {
            self.keep_run_of(tested)?;
        }
        let bare = without_samples(round);
        let json = bare.to_json().map_err(RoundError::Form)?;
        let compressed = zstd::bulk::compress(&json, LEVEL).map_err(RoundError::Compression)?;
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let mut insert = || -> rusqlite::Result<()> {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            transaction.execute(
                INSERT,
                named_params! {
                    ":id": round.id.to_string(),
                    ":started": i64::try_from(round.started.unix_nanos()).unwrap_or(i64::MAX),
                    ":elapsed": i64::try_from(round.elapsed.as_micros()).unwrap_or(i64::MAX),
                    ":title": round.title,
                    ":hosts": count(round.members.len()),
                    ":hosts_failed": count(round.members.iter().filter(|member| member.failure.is_some()).count()),
                    ":tests": count(round.tests.len()),
                    ":tests_failed": count(round.tests.iter().filter(|tested| !has_result(&tested.finding)).count()),
                    ":round": compressed,
                },
            )?;
            digest::ROUNDS.seal(&transaction, transaction.last_insert_rowid())?;
            transaction.commit()
        };
        let inserted = insert();
        self.told(inserted)
    }

    /// A run is stored once, whoever stores it: a host of the lab may have done so itself.
    fn keep_run_of(&mut self, tested: &Tested) -> Result<(), RoundError> {
        let (Finding::Run(run), Some(samples)) = (&tested.finding, &tested.samples) else { return Ok(()) };
        match self.store(run, samples) {
            Ok(()) | Err(StoreError::AlreadyStored { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a round with the samples of its runs, as far as they are still stored.
    ///
    /// # Errors
    /// See [`RoundError`].
    pub fn round(&self, id: &RunId) -> Result<Round, RoundError> {
        let mut round = self.bare_round(id)?;
        for tested in &mut round.tests {
            let Finding::Run(run) = &tested.finding else { continue };
            tested.samples = match self.samples(&run.id) {
                Ok(samples) => Some(Box::new(samples)),
                // Somebody has removed the run.
                Err(ReadError::Unknown { .. }) => None,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(round)
    }

    /// Reads a round without the samples of its runs.
    ///
    /// # Errors
    /// See [`RoundError`].
    pub fn bare_round(&self, id: &RunId) -> Result<Round, RoundError> {
        let query = "SELECT rowid, round FROM rounds WHERE id = ?1";
        let parts = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let found = self.connection.query_row(query, [id.to_string()], parts).optional();
        let unknown = || RoundError::Unknown { text: id.to_string(), path: self.path.clone() };
        let (row, compressed) = self.told(found)?.ok_or_else(unknown)?;
        digest::ROUNDS
            .insist(&self.connection, row, Depth::Content)
            .map_err(|source| RoundError::Database { path: self.path.clone(), source })?;
        let json = zstd::bulk::decompress(&compressed, MAX_ROUND_BYTES).map_err(RoundError::Compression)?;
        let form: Format = serde_json::from_slice(&json).map_err(RoundError::Form)?;
        if form.format > Round::FORMAT {
            return Err(RoundError::Newer { id: *id, found: form.format });
        }
        Round::from_json(&json).map_err(RoundError::Form)
    }

    /// All rounds, the newest first, at most `limit`.
    ///
    /// # Errors
    /// If the database refuses.
    pub fn rounds(&self, limit: u32) -> Result<Vec<RoundSummary>, RoundError> {
        let select = || self.connection.prepare(SELECT)?.query_map([limit], summary)?.collect();
        self.told(select())
    }

    /// The round whose name is or starts with `text`, in letters of either case; `last` is the newest.
    ///
    /// # Errors
    /// See [`RoundError`].
    pub fn resolve_round(&self, text: &str) -> Result<RunId, RoundError> {
        if text == "last" {
            let newest = self.rounds(1)?.first().map(|round| round.id);
            return newest.ok_or_else(|| RoundError::Empty { path: self.path.clone() });
        }
        let unknown = || RoundError::Unknown { text: text.to_owned(), path: self.path.clone() };
        // Also keeps the wildcards of GLOB out.
        if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(unknown());
        }
        let query = "SELECT id FROM rounds WHERE id GLOB ?1 || '*' ORDER BY id DESC LIMIT 2";
        let prefix = text.to_ascii_uppercase();
        let select = || -> rusqlite::Result<Vec<String>> {
            self.connection.prepare(query)?.query_map([prefix], |row| row.get(0))?.collect()
        };
        let found = self.told(select())?;
        let mut ids = found.iter().filter_map(|id| id.parse().ok());
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(id),
            (Some(first), Some(second)) => {
                Err(RoundError::Ambiguous { text: text.to_owned(), candidates: [first, second] })
            }
            (None, _) => Err(unknown()),
        }
    }

    fn told<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, RoundError> {
        outcome.map_err(|error| RoundError::Database { path: self.path.clone(), source: error.into() })
    }
}

/// Whether a test gave what it was for.
#[must_use]
pub fn has_result(finding: &Finding) -> bool {
    let is_whole = |outcome: &Outcome| *outcome == Outcome::Complete;
    match finding {
        Finding::Run(run) => is_whole(&run.outcome),
        Finding::Echo(found) => is_whole(&found.outcome),
        Finding::PathMtu(found) => is_whole(&found.outcome),
        Finding::Hops(found) => is_whole(&found.outcome),
        Finding::Downloads(found) => found.iter().all(|found| is_whole(&found.outcome)),
        Finding::Nothing { .. } => false,
    }
}

/// The samples are rows of their own.
fn without_samples(round: &Round) -> Round {
    let tests = round.tests.iter().map(|tested| Tested {
        label: tested.label.clone(),
        from: tested.from.clone(),
        to: tested.to.clone(),
        began: tested.began,
        expected: tested.expected,
        way: tested.way.clone(),
        way_back: tested.way_back.clone(),
        emulator: tested.emulator,
        attempt: tested.attempt,
        finding: tested.finding.clone(),
        samples: None,
    });
    Round {
        format: round.format,
        id: round.id,
        title: round.title.clone(),
        started: round.started,
        elapsed: round.elapsed,
        members: round.members.clone(),
        segments: round.segments.clone(),
        tests: tests.collect(),
    }
}

/// As much of a round as every version has.
#[derive(serde::Deserialize)]
struct Format {
    format: u32,
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RoundSummary> {
    let id: String = row.get("id")?;
    let id = id.parse().map_err(|error: model::run::RunIdError| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })?;
    Ok(RoundSummary {
        id,
        started: row.get("started_unix_ns").map(|nanos: i64| WallTime::from_unix_nanos(nanos.cast_unsigned()))?,
        elapsed: row.get("elapsed_us").map(|us: i64| Duration::from_micros(us.cast_unsigned()))?,
        title: row.get("title")?,
        hosts: row.get("hosts")?,
        hosts_failed: row.get("hosts_failed")?,
        tests: row.get("tests")?,
        tests_failed: row.get("tests_failed")?,
    })
}

const INSERT: &str = "
    INSERT INTO rounds (id, started_unix_ns, elapsed_us, title, hosts, hosts_failed, tests, tests_failed, round)
    VALUES (:id, :started, :elapsed, :title, :hosts, :hosts_failed, :tests, :tests_failed, :round)";

const SELECT: &str = "
    SELECT id, started_unix_ns, elapsed_us, title, hosts, hosts_failed, tests, tests_failed
    FROM rounds
    ORDER BY id DESC
    LIMIT ?1";

/// The largest round that is read, decompressed: a hundred hosts, each testing each, with all their facts.
pub const MAX_ROUND_BYTES: usize = 1 << 30;

/// Level of zstd. Snapshots repeat each other, which any level finds.
const LEVEL: i32 = 3;
