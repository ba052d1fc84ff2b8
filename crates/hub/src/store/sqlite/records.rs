//! What agents deliver.

use rusqlite::{Connection, OptionalExtension, Row};
use units::WallTime;

use crate::api::record::{RecordKind, Verdict};
use crate::store::StoreError;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::rows::{Arrival, Delivered, RecordQuery, StoredRecord};

/// Stores what is not stored yet.
pub(super) fn deliver(connection: &Connection, delivered: &Delivered) -> Result<Vec<Verdict>, StoreError> {
    let Delivered { agent, arrivals, at, .. } = delivered;
    arrivals.iter().map(|arrival| insert(connection, agent, arrival, *at)).collect()
}

/// Results and changes behind a record, in their order.
pub(super) fn after(connection: &Connection, key: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM records WHERE key > ?1 AND kind <> 'snapshot' ORDER BY key LIMIT ?2");
    let mut query = connection.prepare_cached(&query)?;
    let rows = query.query_map((integer(key), integer(most as u64)), stored_record)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A record with its content.
pub(super) fn one(connection: &Connection, key: u64) -> Result<Option<StoredRecord>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM records WHERE key = ?1");
    Ok(connection.prepare_cached(&query)?.query_row([integer(key)], stored_record).optional()?)
}

/// The newest records of a kind, newest first.
pub(super) fn newest(connection: &Connection, asked: &RecordQuery<'_>) -> Result<Vec<StoredRecord>, StoreError> {
    let query = format!(
        "SELECT {COLUMNS} FROM records WHERE kind = ?1 AND (?2 IS NULL OR agent = ?2) AND received_unix_ns >= ?3
         ORDER BY key DESC LIMIT ?4"
    );
    let mut query = connection.prepare_cached(&query)?;
    let rows =
        query.query_map((asked.kind, asked.agent, stored(asked.since), integer(asked.most as u64)), stored_record)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Results that came since a moment, the first of them first.
pub(super) fn results_since(
    connection: &Connection,
    since: WallTime,
    most: usize,
) -> Result<Vec<StoredRecord>, StoreError> {
    let query =
        format!("SELECT {COLUMNS} FROM records WHERE kind = 'result' AND received_unix_ns >= ?1 ORDER BY key LIMIT ?2");
    let mut query = connection.prepare_cached(&query)?;
    let rows = query.query_map((stored(since), integer(most as u64)), stored_record)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn stored_record(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    Ok(StoredRecord {
        key: natural(row.get(0)?),
        agent: row.get(1)?,
        kind: row.get(2)?,
        run: row.get(3)?,
        received: time(row.get(4)?),
        content: row.get(5)?,
        samples: row.get(6)?,
    })
}

const COLUMNS: &str = "key, agent, kind, run, received_unix_ns, content, samples";

/// When the newest facts of an agent's host came.
pub(super) fn newest_snapshot(connection: &Connection, agent: &str) -> Result<Option<WallTime>, StoreError> {
    let query = "SELECT max(received_unix_ns) FROM records WHERE kind = 'snapshot' AND agent = ?1";
    let found: Option<i64> = connection.query_row(query, [agent], |row| row.get(0))?;
    Ok(found.map(time))
}

fn insert(connection: &Connection, agent: &str, arrival: &Arrival, now: WallTime) -> Result<Verdict, StoreError> {
    let Arrival { record, unpacked } = arrival;
    let run = match &record.kind {
        RecordKind::Result { lease } => Some(&lease.run),
        RecordKind::Change | RecordKind::Snapshot | RecordKind::Transfers => None,
    };
    let mut known =
        connection.prepare_cached("SELECT 1 FROM records WHERE (agent = ?1 AND name = ?2) OR run = ?3 LIMIT 1")?;
    if known.query_row((agent, &record.name, run), |_| Ok(())).optional()?.is_some() {
        return Ok(Verdict::Duplicate);
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO records (agent, name, kind, run, received_unix_ns, digest, content, samples)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    insert.execute((
        agent,
        &record.name,
        kind(&record.kind),
        run,
        stored(now),
        record.digest.to_string(),
        &unpacked.compressed,
        &unpacked.samples,
    ))?;
    Ok(Verdict::Stored)
}

fn kind(kind: &RecordKind) -> &'static str {
    match kind {
        RecordKind::Result { .. } => "result",
        RecordKind::Change => "change",
        RecordKind::Snapshot => "snapshot",
        RecordKind::Transfers => "transfers",
    }
}
