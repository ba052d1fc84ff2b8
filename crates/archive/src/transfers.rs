//! Transfers of real applications that were watched: the newest [`MOST_TRANSFERS`].

use std::net::IpAddr;
use std::path::PathBuf;

use model::run::RunId;
use model::series::RunSamples;
use model::series::packed::{self, UnpackError};
use model::transfer::Transfer;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior, named_params};
use units::{ByteCount, WallTime};

use crate::digest::{self, Depth};
use crate::fault::Fault;
use crate::store::Archive;

/// Which transfers to list. By default all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferFilter {
    /// Only what began then or later.
    pub since: Option<WallTime>,
    /// Only with this peer.
    pub peer: Option<IpAddr>,
    /// Only what moved so much or more.
    pub least: Option<ByteCount>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

/// Why a transfer cannot be kept, found or read.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// None is kept.
    #[error("the archive {} has no transfers yet", path.display())]
    Empty {
        /// File of the archive.
        path: PathBuf,
    },
    /// None starts like this.
    #[error("no transfer in the archive {} starts with `{text}`", path.display())]
    Unknown {
        /// What was typed.
        text: String,
        /// File of the archive.
        path: PathBuf,
    },
    /// Several do.
    #[error("`{text}` could be the transfer {first}, {second} or more: type more letters", first = candidates[0], second = candidates[1])]
    Ambiguous {
        /// What was typed.
        text: String,
        /// The newest two of them.
        candidates: [RunId; 2],
    },
    /// A newer linerate has written it.
    #[error("transfer {id} has format {found}, this program knows {}: use a newer linerate", Transfer::FORMAT)]
    Newer {
        /// Name of the transfer.
        id: RunId,
        /// Version of the format that it has.
        found: u32,
    },
    /// It has no form that can be kept, or what is kept is no transfer.
    #[error("a transfer cannot be written or understood as JSON")]
    Form(#[source] serde_json::Error),
    /// Its samples cannot be unpacked.
    #[error("the samples of transfer {id} cannot be unpacked")]
    Unpack {
        /// Name of the transfer.
        id: RunId,
        /// Why the packed form is refused.
        source: UnpackError,
    },
    /// The database refuses.
    #[error("cannot use the transfers in the archive {}", path.display())]
    Database {
        /// File of the archive.
        path: PathBuf,
        /// What SQLite says.
        source: Fault,
    },
}

impl Archive {
    /// Keeps transfers with their samples, and removes the oldest beyond [`MOST_TRANSFERS`]: all of it or nothing. They are on
    /// disk when this returns.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub fn keep_transfers(&mut self, transfers: &[(Transfer, RunSamples)]) -> Result<(), TransferError> {
        let json = |(transfer, _): &(Transfer, RunSamples)| {
            transfer.to_json().map(|json| String::from_utf8_lossy(&json).into_owned()).map_err(TransferError::Form)
        };
        let json = transfers.iter().map(json).collect::<Result<Vec<_>, _>>()?;
        let mut keep = || -> rusqlite::Result<()> {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            for ((transfer, samples), json) in transfers.iter().zip(&json) {
                transaction.prepare(INSERT)?.execute(named_params! {
                    ":id": transfer.id.to_string(),
                    ":started": indexed(transfer.started.unix_nanos()),
                    ":host": transfer.host.name,
                    ":peer": transfer.peer.ip().to_string(),
                    ":moved": indexed(transfer.moved().get()),
                    ":transfer": json,
                    ":packed": packed::pack(samples),
                })?;
                digest::TRANSFERS.seal(&transaction, transaction.last_insert_rowid())?;
            }
            transaction.execute(REMOVE_OLDEST, [MOST_TRANSFERS])?;
            transaction.commit()
        };
        let kept = keep();
        self.of_transfers(kept)
    }

    /// The transfers that `filter` lets through, the newest first.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub fn transfers(&self, filter: &TransferFilter) -> Result<Vec<Transfer>, TransferError> {
        let parameters = named_params! {
            ":since": filter.since.map(|since| indexed(since.unix_nanos())),
            ":peer": filter.peer.map(|peer| peer.to_string()),
            ":least": filter.least.map(|least| indexed(least.get())),
            // To SQLite a negative limit is none.
            ":limit": filter.limit.map_or(-1, i64::from),
        };
        let select = || -> rusqlite::Result<Vec<(i64, String)>> {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            self.connection.prepare(SELECT)?.query_map(parameters, row)?.collect()
        };
        let found = self.of_transfers(select())?;
        let read = |(row, json): &(i64, String)| {
            self.intact(*row, Depth::Columns)?;
            read(json)
        };
        found.iter().map(read).collect()
    }

    /// One transfer with its samples.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub fn transfer(&self, id: &RunId) -> Result<(Transfer, RunSamples), TransferError> {
        let query = "SELECT rowid, transfer, packed FROM transfers WHERE id = ?1";
        let parts = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?));
        let found = self.connection.query_row(query, [id.to_string()], parts).optional();
        let unknown = || TransferError::Unknown { text: id.to_string(), path: self.path.clone() };
        let (row, json, packed) = self.of_transfers(found)?.ok_or_else(unknown)?;
        self.intact(row, Depth::Content)?;
        let samples = packed::unpack(&packed).map_err(|source| TransferError::Unpack { id: *id, source })?;
        Ok((read(&json)?, samples))
    }

    /// The transfer whose name is or starts with `text`, in letters of either case.
    ///
    /// # Errors
    /// See [`TransferError`].
    pub fn resolve_transfer(&self, text: &str) -> Result<RunId, TransferError> {
        if text == "last" {
            let newest = self.transfers(&TransferFilter { limit: Some(1), ..TransferFilter::default() })?;
            let empty = || TransferError::Empty { path: self.path.clone() };
            return newest.first().map(|transfer| transfer.id).ok_or_else(empty);
        }
        let unknown = || TransferError::Unknown { text: text.to_owned(), path: self.path.clone() };
        // Also keeps the wildcards of GLOB out.
        if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(unknown());
        }
        let query = "SELECT id FROM transfers WHERE id GLOB ?1 || '*' ORDER BY id DESC LIMIT 2";
        let select = || -> rusqlite::Result<Vec<String>> {
            self.connection.prepare(query)?.query_map([text.to_ascii_uppercase()], |row| row.get(0))?.collect()
        };
        let found = self.of_transfers(select())?;
        let mut ids = found.iter().filter_map(|id| id.parse().ok());
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(id),
            (Some(first), Some(second)) => {
                Err(TransferError::Ambiguous { text: text.to_owned(), candidates: [first, second] })
            }
            (None, _) => Err(unknown()),
        }
    }

    fn intact(&self, row: i64, depth: Depth) -> Result<(), TransferError> {
        let verdict = digest::TRANSFERS.insist(&self.connection, row, depth);
        verdict.map_err(|source| TransferError::Database { path: self.path.clone(), source })
    }

    fn of_transfers<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, TransferError> {
        outcome.map_err(|error| TransferError::Database { path: self.path.clone(), source: error.into() })
    }
}

#[derive(serde::Deserialize)]
struct Format {
    format: u32,
    id: RunId,
}

fn read(json: &str) -> Result<Transfer, TransferError> {
    let form: Format = serde_json::from_str(json).map_err(TransferError::Form)?;
    if form.format > Transfer::FORMAT {
        return Err(TransferError::Newer { id: form.id, found: form.format });
    }
    Transfer::from_json(json.as_bytes()).map_err(TransferError::Form)
}

/// SQLite's integers end at 2^63 - 1; the exact value is in the transfer itself.
fn indexed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Transfers beyond these go, the oldest first: some 100 MB with samples.
pub const MOST_TRANSFERS: u32 = 10_000;

const INSERT: &str = "
    INSERT INTO transfers (id, started_unix_ns, host, peer, moved_bytes, transfer, packed)
    VALUES (:id, :started, :host, :peer, :moved, :transfer, :packed)";

const SELECT: &str = "
    SELECT rowid, transfer FROM transfers
    WHERE (:since IS NULL OR started_unix_ns >= :since)
      AND (:peer IS NULL OR peer = :peer)
      AND (:least IS NULL OR moved_bytes >= :least)
    ORDER BY id DESC
    LIMIT :limit";

const REMOVE_OLDEST: &str = "
    DELETE FROM transfers WHERE id <= (SELECT id FROM transfers ORDER BY id DESC LIMIT 1 OFFSET ?1)";
