//! A checksum of every row that a person relies on: a flipped bit is told, never shown as a result.
//!
//! SQLite checks the structure of its pages, not what is in them. A row's digest is 64 bytes: SHA-256 over its small
//! columns and over the digest of its content, then the digest of its content alone, so that a list is checked without
//! reading what it does not show.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::fault::Fault;

/// A table whose rows have a digest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed {
    pub(crate) name: &'static str,
    /// Small columns, the row's key first.
    columns: &'static str,
    /// The large one.
    content: &'static str,
}

pub(crate) const RUNS: Sealed = Sealed {
    name: "runs",
    columns: "key, id, started_unix_ns, role, target, protocol, direction, failure, failure_detail, goodput_bps, retransmits",
    content: "run",
};
pub(crate) const SAMPLES: Sealed = Sealed { name: "samples", columns: "run_key", content: "packed" };
pub(crate) const ROUNDS: Sealed = Sealed {
    name: "rounds",
    columns: "id, started_unix_ns, elapsed_us, title, hosts, hosts_failed, tests, tests_failed",
    content: "round",
};
pub(crate) const SNAPSHOTS: Sealed = Sealed {
    name: "snapshots",
    columns: "id, host, taken_unix_ns, boot_id, kernel, role_group, blessed_unix_ns, label",
    content: "snapshot",
};
pub(crate) const CHANGES: Sealed = Sealed {
    name: "changes",
    columns: "number, time_unix_ns, host, namespace, subject, fact, source",
    content: "entry",
};
pub(crate) const NOTES: Sealed =
    Sealed { name: "change_notes", columns: "key, change, time_unix_ns, user, ticket", content: "text" };

pub(crate) const TRANSFERS: Sealed =
    Sealed { name: "transfers", columns: "id, started_unix_ns, host, peer, moved_bytes, transfer", content: "packed" };

/// Every table with digests.
pub(crate) const TABLES: [Sealed; 7] = [RUNS, SAMPLES, ROUNDS, SNAPSHOTS, CHANGES, NOTES, TRANSFERS];

/// How much of a row is held against its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What lists show.
    Columns,
    /// Everything.
    Content,
}

/// What a row's digest says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is what was stored.
    Sound,
    /// An older version stored it, without a digest.
    Unsealed,
    /// It is not what was stored.
    Damaged,
}

type Hash = [u8; HASH];
const HASH: usize = 32;

impl Sealed {
    /// Gives a row its digest, within the transaction that wrote it.
    pub(crate) fn seal(self, connection: &Connection, row: i64) -> rusqlite::Result<()> {
        let query = format!("SELECT {} FROM {} WHERE rowid = ?1", self.content, self.name);
        let content = connection.query_row(&query, [row], |row| Ok(hash_of(row.get_ref(0)?)))?;
        let (digest, _) = self.columns(connection, row, content)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let update = format!("UPDATE {} SET digest = ?2 WHERE rowid = ?1", self.name);
        connection.execute(&update, (row, [digest, content].concat())).map(drop)
    }

    /// Holds a row against its digest.
    pub(crate) fn verify(self, connection: &Connection, row: i64, depth: Depth) -> rusqlite::Result<Verdict> {
        let query = format!("SELECT digest FROM {} WHERE rowid = ?1", self.name);
        let stored: Option<Option<Vec<u8>>> = connection.query_row(&query, [row], |row| row.get(0)).optional()?;
        // A row that is not there is somebody else's to tell.
        let Some(Some(stored)) = stored else { return Ok(Verdict::Unsealed) };
        let Some(content) = stored.get(HASH..).and_then(|content| <Hash>::try_from(content).ok()) else {
            return Ok(Verdict::Damaged);
        };
        let Some((digest, count)) = self.columns(connection, row, content)? else { return Ok(Verdict::Unsealed) };
        let mut sound = count == 1 && stored[..HASH] == digest;
        if sound && depth == Depth::Content {
            let query = format!("SELECT {} FROM {} WHERE rowid = ?1", self.content, self.name);
            sound = connection.query_row(&query, [row], |row| Ok(hash_of(row.get_ref(0)?)))? == content;
        }
        Ok(if sound { Verdict::Sound } else { Verdict::Damaged })
    }

    /// The same, with damage as the fault that it is.
    pub(crate) fn insist(self, connection: &Connection, row: i64, depth: Depth) -> Result<(), Fault> {
        match self.verify(connection, row, depth)? {
            Verdict::Sound | Verdict::Unsealed => Ok(()),
            Verdict::Damaged => Err(Fault::Checksum { table: self.name, row }),
        }
    }

    /// The digest of a row's small columns with that of its content, and how many rows there are of it.
    fn columns(self, connection: &Connection, row: i64, content: Hash) -> rusqlite::Result<Option<(Hash, usize)>> {
        let mut query = connection.prepare(&format!("SELECT {} FROM {} WHERE rowid = ?1", self.columns, self.name))?;
        let count = query.column_count();
        let mut rows = query.query([row])?;
        let Some(found) = rows.next()? else { return Ok(None) };
        let mut hasher = Sha256::new();
        hasher.update(self.name);
        for column in 0..count {
            hasher.update(hash_of(found.get_ref(column)?));
        }
        hasher.update(content);
        let digest = hasher.finalize().into();
        let more = rows.next()?.is_some();
        Ok(Some((digest, 1 + usize::from(more))))
    }
}

/// The digest of one value, its type included.
fn hash_of(value: ValueRef<'_>) -> Hash {
    let mut hasher = Sha256::new();
    match value {
        ValueRef::Null => hasher.update(b"n"),
        ValueRef::Integer(number) => {
            hasher.update(b"i");
            hasher.update(number.to_be_bytes());
        }
        ValueRef::Real(number) => {
            hasher.update(b"r");
            hasher.update(number.to_bits().to_be_bytes());
        }
        ValueRef::Text(bytes) => {
            hasher.update(b"t");
            hasher.update(bytes);
        }
        ValueRef::Blob(bytes) => {
            hasher.update(b"b");
            hasher.update(bytes);
        }
    }
    hasher.finalize().into()
}
