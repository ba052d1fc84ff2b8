//! What agents deliver.

use std::collections::BTreeSet;

use postgres::Row;
use units::WallTime;

use super::pool::Connection;
use crate::api::record::{RecordKind, Verdict};
use crate::store::StoreError;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::rows::{Arrival, Delivered, RecordQuery, StoredRecord};

/// Stores what is not stored yet.
pub(super) fn deliver(connection: &mut Connection, delivered: &[Delivered]) -> Result<Vec<Vec<Verdict>>, StoreError> {
    let all: Vec<Coming<'_>> = delivered.iter().flat_map(coming).collect();
    let mut verdicts = Vec::new();
    for some in all.chunks(MOST_TOGETHER) {
        verdicts.extend(insert(connection, some)?);
    }
    let mut verdicts = verdicts.into_iter();
    Ok(delivered.iter().map(|one| verdicts.by_ref().take(one.arrivals.len()).collect()).collect())
}

/// A record with who delivers it.
#[derive(Clone, Copy)]
struct Coming<'a> {
    agent: &'a str,
    arrival: &'a Arrival,
    at: WallTime,
}

fn coming(delivered: &Delivered) -> impl Iterator<Item = Coming<'_>> {
    let Delivered { agent, arrivals, at } = delivered;
    arrivals.iter().map(move |arrival| Coming { agent, arrival, at: *at })
}

impl Coming<'_> {
    fn run(&self) -> Option<&str> {
        match &self.arrival.record.kind {
            RecordKind::Result { lease } => Some(&lease.run),
            RecordKind::Change | RecordKind::Snapshot | RecordKind::Transfers => None,
        }
    }
}

fn insert(connection: &mut Connection, coming: &[Coming<'_>]) -> Result<Vec<Verdict>, StoreError> {
    let agents: Vec<&str> = coming.iter().map(|one| one.agent).collect();
    let names: Vec<&str> = coming.iter().map(|one| one.arrival.record.name.as_str()).collect();
    let kinds: Vec<&str> = coming.iter().map(|one| kind(&one.arrival.record.kind)).collect();
    let runs: Vec<Option<&str>> = coming.iter().map(Coming::run).collect();
    let times: Vec<i64> = coming.iter().map(|one| stored(one.at)).collect();
    let digests: Vec<String> = coming.iter().map(|one| one.arrival.record.digest.to_string()).collect();
    let contents: Vec<&[u8]> = coming.iter().map(|one| one.arrival.unpacked.compressed.as_slice()).collect();
    let samples: Vec<Option<&[u8]>> = coming.iter().map(|one| one.arrival.unpacked.samples.as_deref()).collect();
    let rows = connection.query(
        "INSERT INTO records (agent, name, kind, run, received_unix_ns, digest, content, samples)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bytea[], $8::bytea[])
         ON CONFLICT DO NOTHING RETURNING agent, name",
        &[&agents, &names, &kinds, &runs, &times, &digests, &contents, &samples],
    )?;
    let mut stored: BTreeSet<(&str, &str)> = BTreeSet::new();
    for row in &rows {
        stored.insert((row.try_get(0)?, row.try_get(1)?));
    }
    // Of two with one name in one delivery the first is the one that is stored.
    let mut verdicts = Vec::new();
    for one in coming {
        let is_new = stored.remove(&(one.agent, one.arrival.record.name.as_str()));
        verdicts.push(if is_new { Verdict::Stored } else { Verdict::Duplicate });
    }
    Ok(verdicts)
}

/// Results and changes behind a record, in their order.
pub(super) fn after(connection: &mut Connection, key: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
    let query = "SELECT key, agent, kind, run, received_unix_ns, content, samples FROM records
                 WHERE key > $1 AND kind <> 'snapshot' ORDER BY key LIMIT $2";
    connection.query(query, &[&integer(key), &integer(most as u64)])?.iter().map(stored_record).collect()
}

/// A record with its content.
pub(super) fn one(connection: &mut Connection, key: u64) -> Result<Option<StoredRecord>, StoreError> {
    let query = "SELECT key, agent, kind, run, received_unix_ns, content, samples FROM records WHERE key = $1";
    connection.row(query, &[&integer(key)])?.as_ref().map(stored_record).transpose()
}

/// The newest records of a kind, newest first.
pub(super) fn newest(connection: &mut Connection, asked: &RecordQuery<'_>) -> Result<Vec<StoredRecord>, StoreError> {
    let (since, most) = (stored(asked.since), integer(asked.most as u64));
    let rows = match asked.agent {
        Some(agent) => connection.query(
            "SELECT key, agent, kind, run, received_unix_ns, content, samples FROM records
             WHERE kind = $1 AND agent = $2 AND received_unix_ns >= $3 ORDER BY key DESC LIMIT $4",
            &[&asked.kind, &agent, &since, &most],
        ),
        None => connection.query(
            "SELECT key, agent, kind, run, received_unix_ns, content, samples FROM records
             WHERE kind = $1 AND received_unix_ns >= $2 ORDER BY key DESC LIMIT $3",
            &[&asked.kind, &since, &most],
        ),
    };
    rows?.iter().map(stored_record).collect()
}

/// Results that came since a moment, the first of them first.
pub(super) fn results_since(
    connection: &mut Connection,
    since: WallTime,
    most: usize,
) -> Result<Vec<StoredRecord>, StoreError> {
    let query = "SELECT key, agent, kind, run, received_unix_ns, content, samples FROM records
                 WHERE kind = 'result' AND received_unix_ns >= $1 ORDER BY key LIMIT $2";
    connection.query(query, &[&stored(since), &integer(most as u64)])?.iter().map(stored_record).collect()
}

fn stored_record(row: &Row) -> Result<StoredRecord, StoreError> {
    Ok(StoredRecord {
        key: natural(row.try_get(0)?),
        agent: row.try_get(1)?,
        kind: row.try_get(2)?,
        run: row.try_get(3)?,
        received: time(row.try_get(4)?),
        content: row.try_get(5)?,
        samples: row.try_get(6)?,
    })
}

/// When the newest facts of an agent's host came.
pub(super) fn newest_snapshot(connection: &mut Connection, agent: &str) -> Result<Option<WallTime>, StoreError> {
    let query = "SELECT received_unix_ns FROM records WHERE kind = 'snapshot' AND agent = $1 ORDER BY key DESC LIMIT 1";
    let row = connection.row(query, &[&agent])?;
    Ok(row.map(|row| row.try_get(0)).transpose()?.map(time))
}

const fn kind(kind: &RecordKind) -> &'static str {
    match kind {
        RecordKind::Result { .. } => "result",
        RecordKind::Change => "change",
        RecordKind::Snapshot => "snapshot",
        RecordKind::Transfers => "transfers",
    }
}

/// Records of one statement.
const MOST_TOGETHER: usize = 256;
