//! Snapshots of hosts: kept, found again by host and time, and blessed as what a host should be.
//!
//! * [`find`]: from a host and a moment to one snapshot

pub mod find;

use std::fmt;
use std::path::PathBuf;

use model::host::snapshot::Snapshot;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, named_params};
use serde::Serialize;
use units::WallTime;

use crate::digest::{self, Depth};
use crate::fault::Fault;
use crate::store::Archive;

/// The number of a kept snapshot, given out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SnapshotId(pub u64);

/// What a list shows of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotSummary {
    /// Number in the archive, from 1.
    pub id: SnapshotId,
    /// Host name as its snapshots have it.
    pub host: String,
    /// When it was taken.
    #[serde(rename = "taken_unix_ns")]
    pub taken: WallTime,
    /// The boot it was taken in.
    pub boot_id: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The hosts that should be alike.
    pub role_group: Option<String>,
    /// Since when it is what the host should be, if it is.
    #[serde(rename = "blessed_unix_ns")]
    pub blessed: Option<WallTime>,
    /// What whoever kept or blessed it calls it.
    pub label: Option<String>,
}

/// Which snapshots to list. By default all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotFilter {
    /// Only of this host.
    pub host: Option<String>,
    /// Only of hosts of this group.
    pub role_group: Option<String>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

/// A snapshot that is kept now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Number in the archive, from 1.
    pub id: SnapshotId,
    /// Whether the archive had it before: one host has one state at one moment.
    pub was_there: bool,
}

/// Why a snapshot cannot be kept, found or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It does not say whose it is.
    #[error("the snapshot does not say of which host it is")]
    Nameless,
    /// There is none of that number.
    #[error("no snapshot {id} in the archive {}", path.display())]
    Unknown {
        /// Number in the archive that was asked for.
        id: SnapshotId,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// There is none of that host, or none then.
    #[error("no {what} of {host} in the archive {}", path.display())]
    None {
        /// What was looked for: `snapshot`, `baseline`, `snapshot before …`.
        what: &'static str,
        /// Host name as its snapshots have it.
        host: String,
        /// Path of the archive's database.
        path: PathBuf,
    },
    /// A newer linerate has written it.
    #[error("snapshot {id} has format {found}, this program knows {}: use a newer linerate", Snapshot::FORMAT)]
    Newer {
        /// Number in the archive that was asked for.
        id: SnapshotId,
        /// Format that it was stored in, newer than any that is known here.
        found: u32,
    },
    /// It has no form that can be kept, or what is kept is no snapshot.
    #[error("the snapshot cannot be written or understood as JSON")]
    Form(#[source] serde_json::Error),
    /// It cannot be compressed, or what is kept is damaged or larger than [`MAX_SNAPSHOT_BYTES`].
    #[error("the snapshot cannot be compressed or decompressed")]
    Compression(#[source] std::io::Error),
    /// The database refuses.
    #[error("cannot use the snapshots in the archive {}", path.display())]
    Database {
        /// Path of the archive's database.
        path: PathBuf,
        /// What SQLite reported.
        source: Fault,
    },
}

impl Archive {
    /// Keeps a snapshot. It is on disk when this returns. One that is there already is left as it is.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn keep_snapshot(&mut self, snapshot: &Snapshot, label: Option<&str>) -> Result<Kept, SnapshotError> {
        let name = snapshot.machine.name.value().filter(|name| !name.is_empty());
        let host = name.ok_or(SnapshotError::Nameless)?.as_str();
        let json = snapshot.to_json().map_err(SnapshotError::Form)?;
        let compressed = zstd::bulk::compress(&json, LEVEL).map_err(SnapshotError::Compression)?;
        let mut insert = || -> rusqlite::Result<Kept> {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            let taken = indexed(snapshot.taken);
            let known = "SELECT id FROM snapshots WHERE host = ?1 AND taken_unix_ns = ?2";
            if let Some(id) = transaction.query_row(known, (host, taken), |row| row.get(0).map(id_of)).optional()? {
                return Ok(Kept { id, was_there: true });
            }
            transaction.execute(
                INSERT,
                named_params! {
                    ":host": host,
                    ":taken": taken,
                    ":boot": snapshot.machine.boot_id.value(),
                    ":kernel": snapshot.machine.kernel_release.value(),
                    ":group": snapshot.machine.role_group,
                    ":label": label,
                    ":snapshot": compressed,
                },
            )?;
            digest::SNAPSHOTS.seal(&transaction, transaction.last_insert_rowid())?;
            let id = id_of(transaction.last_insert_rowid());
            transaction.commit()?;
            Ok(Kept { id, was_there: false })
        };
        let kept = insert();
        self.answered(kept)
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn snapshot(&self, id: SnapshotId) -> Result<Snapshot, SnapshotError> {
        let query = "SELECT snapshot FROM snapshots WHERE id = ?1";
        let found = self.connection.query_row(query, [id.row()], |row| row.get::<_, Vec<u8>>(0)).optional();
        let compressed = self.answered(found)?.ok_or_else(|| SnapshotError::Unknown { id, path: self.path.clone() })?;
        digest::SNAPSHOTS
            .insist(&self.connection, id.row(), Depth::Content)
            .map_err(|source| SnapshotError::Database { path: self.path.clone(), source })?;
        let json = zstd::bulk::decompress(&compressed, MAX_SNAPSHOT_BYTES).map_err(SnapshotError::Compression)?;
        let form: Format = serde_json::from_slice(&json).map_err(SnapshotError::Form)?;
        if form.format > Snapshot::FORMAT {
            return Err(SnapshotError::Newer { id, found: form.format });
        }
        Snapshot::from_json(&json).map_err(SnapshotError::Form)
    }

    /// The snapshots that `filter` lets through, the newest first.
    ///
    /// # Errors
    /// If the database refuses.
    pub fn snapshots(&self, filter: &SnapshotFilter) -> Result<Vec<SnapshotSummary>, SnapshotError> {
        let parameters = named_params! {
            ":host": filter.host,
            ":group": filter.role_group,
            // To SQLite a negative limit is none.
            ":limit": filter.limit.map_or(-1, i64::from),
        };
        let select = || self.connection.prepare(SELECT)?.query_map(parameters, summary)?.collect();
        self.answered(select())
    }

    /// Makes a snapshot what its host should be, from `now` on, in the place of any other.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn bless(&mut self, id: SnapshotId, label: Option<&str>, now: WallTime) -> Result<(), SnapshotError> {
        let mut bless = || -> rusqlite::Result<bool> {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            transaction.execute(
                "UPDATE snapshots SET blessed_unix_ns = NULL WHERE host = (SELECT host FROM snapshots WHERE id = ?1)",
                [id.row()],
            )?;
            let blessed = "UPDATE snapshots SET blessed_unix_ns = ?2, label = coalesce(?3, label) WHERE id = ?1";
            let found = transaction.execute(blessed, (id.row(), indexed(now), label))?;
            let of_host = "SELECT id FROM snapshots WHERE host = (SELECT host FROM snapshots WHERE id = ?1)";
            seal_all(&transaction, of_host, id.row())?;
            transaction.commit()?;
            Ok(found == 1)
        };
        let found = bless();
        if self.answered(found)? { Ok(()) } else { Err(SnapshotError::Unknown { id, path: self.path.clone() }) }
    }

    /// Leaves a host without a baseline. Tells whether it had one. The snapshot stays.
    ///
    /// # Errors
    /// If the database refuses.
    pub fn unbless(&mut self, host: &str) -> Result<bool, SnapshotError> {
        let query = "UPDATE snapshots SET blessed_unix_ns = NULL WHERE host = ?1 AND blessed_unix_ns IS NOT NULL";
        let mut unbless = || -> rusqlite::Result<usize> {
            let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
            let found = transaction.execute(query, [host])?;
            seal_all(&transaction, "SELECT id FROM snapshots WHERE host = ?1", host)?;
            transaction.commit()?;
            Ok(found)
        };
        let found = unbless();
        self.answered(found).map(|found| found > 0)
    }

    /// Removes all but the newest `keep` snapshots of each host. Those that are blessed stay. Tells how many went.
    ///
    /// # Errors
    /// If the database refuses; all are there then.
    pub fn prune_snapshots(&mut self, keep: u32) -> Result<usize, SnapshotError> {
        let removed = self.connection.execute(PRUNE, [keep]);
        self.answered(removed)
    }

    fn answered<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, SnapshotError> {
        outcome.map_err(|error| SnapshotError::Database { path: self.path.clone(), source: error.into() })
    }
}

impl SnapshotId {
    fn row(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// As much of a snapshot as every version has.
#[derive(serde::Deserialize)]
struct Format {
    format: u32,
}

/// Gives each row that `query` finds a new digest, after it was changed.
fn seal_all(connection: &Connection, query: &str, of: impl rusqlite::ToSql) -> rusqlite::Result<()> {
    let rows: Vec<i64> = connection.prepare(query)?.query_map([of], |row| row.get(0))?.collect::<Result<_, _>>()?;
    rows.into_iter().try_for_each(|row| digest::SNAPSHOTS.seal(connection, row))
}

fn id_of(row: i64) -> SnapshotId {
    SnapshotId(row.cast_unsigned())
}

fn indexed(time: WallTime) -> i64 {
    i64::try_from(time.unix_nanos()).unwrap_or(i64::MAX)
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SnapshotSummary> {
    let time = |nanos: i64| WallTime::from_unix_nanos(nanos.cast_unsigned());
    Ok(SnapshotSummary {
        id: row.get("id").map(id_of)?,
        host: row.get("host")?,
        taken: row.get("taken_unix_ns").map(time)?,
        boot_id: row.get("boot_id")?,
        kernel: row.get("kernel")?,
        role_group: row.get("role_group")?,
        blessed: row.get::<_, Option<i64>>("blessed_unix_ns")?.map(time),
        label: row.get("label")?,
    })
}

const INSERT: &str = "
    INSERT INTO snapshots (host, taken_unix_ns, boot_id, kernel, role_group, label, snapshot)
    VALUES (:host, :taken, :boot, :kernel, :group, :label, :snapshot)";

const SELECT: &str = "
    SELECT id, host, taken_unix_ns, boot_id, kernel, role_group, blessed_unix_ns, label
    FROM snapshots
    WHERE (:host IS NULL OR host = :host)
      AND (:group IS NULL OR role_group = :group)
    ORDER BY taken_unix_ns DESC, id DESC
    LIMIT :limit";

const PRUNE: &str = "
    DELETE FROM snapshots
    WHERE blessed_unix_ns IS NULL
      AND (SELECT count(*) FROM snapshots AS newer
           WHERE newer.host = snapshots.host AND newer.taken_unix_ns > snapshots.taken_unix_ns) >= ?1";

/// The largest snapshot that is read, decompressed: a host with a thousand namespaces is below this.
pub const MAX_SNAPSHOT_BYTES: usize = 256 << 20;

/// Level of zstd. Names and sources repeat within a snapshot, which any level finds.
const LEVEL: i32 = 3;
