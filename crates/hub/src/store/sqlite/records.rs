//! What agents deliver.

use rusqlite::{Connection, OptionalExtension};
use units::WallTime;

use super::integers::{stored, time};
use crate::api::record::{RecordKind, Verdict};
use crate::store::StoreError;
use crate::store::rows::Arrival;

/// Stores what is not stored yet.
pub(super) fn deliver(
    connection: &Connection,
    agent: &str,
    arrivals: &[Arrival],
    now: WallTime,
) -> Result<Vec<Verdict>, StoreError> {
    arrivals.iter().map(|arrival| insert(connection, agent, arrival, now)).collect()
}

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
        RecordKind::Change | RecordKind::Snapshot => None,
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
    }
}
