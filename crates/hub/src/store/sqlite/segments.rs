//! Which runs have their samples in which segment.

use rusqlite::{Connection, OptionalExtension, Row};
use units::WallTime;

use super::Sqlite;
use super::mesh_rows::{set, setting};
use crate::segments::layout::SegmentFolder;
use crate::store::StoreError;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::segments::{
    ClosedRuns, Closing, NewSegment, SegmentIndex, SegmentRecord, SegmentRow, SegmentRun, SortedRuns, WaitingRuns,
};

impl SegmentIndex for Sqlite {
    fn sorted(&self) -> Result<u64, StoreError> {
        self.read(|connection| Ok(setting(connection, SORTED)?.and_then(|text| text.parse().ok()).unwrap_or_default()))
    }

    fn sort(&self, sorted: SortedRuns) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR IGNORE INTO segment_runs (record, day, pair, bytes, received_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for SegmentRun { record, folder, bytes, received } in &sorted.runs {
                insert.execute((integer(*record), folder.day, folder.pair, integer(*bytes), stored(*received)))?;
            }
            set(connection, SORTED, sorted.upto.to_string())
        })
    }

    fn waiting(&self) -> Result<Vec<WaitingRuns>, StoreError> {
        self.read(|connection| {
            let mut query = connection.prepare_cached(
                "SELECT day, pair, count(*), sum(bytes), min(received_unix_ns) FROM segment_runs
                 WHERE segment IS NULL GROUP BY day, pair",
            )?;
            let waiting = |row: &Row<'_>| {
                Ok(WaitingRuns {
                    folder: SegmentFolder { day: row.get(0)?, pair: row.get(1)? },
                    runs: natural(row.get(2)?),
                    bytes: natural(row.get(3)?),
                    oldest: time(row.get(4)?),
                })
            };
            Ok(query.query_map([], waiting)?.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn close(&self, closing: Closing) -> Result<ClosedRuns, StoreError> {
        self.writer.write(move |connection| close(connection, &closing))
    }

    fn unwritten(&self) -> Result<Option<SegmentRow>, StoreError> {
        self.read(|connection| {
            let query = "SELECT key, path FROM segments WHERE state = 0 ORDER BY key LIMIT 1";
            let found: Option<(i64, String)> =
                connection.prepare_cached(query)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((key, path)) = found else { return Ok(None) };
            let mut query = connection.prepare_cached(
                "SELECT record, run FROM segment_runs JOIN records ON records.key = record
                 WHERE segment = ?1 ORDER BY record",
            )?;
            let record = |row: &Row<'_>| Ok(SegmentRecord { key: natural(row.get(0)?), run: row.get(1)? });
            let records = query.query_map([key], record)?.collect::<rusqlite::Result<_>>()?;
            Ok(Some(SegmentRow { key: natural(key), path, records }))
        })
    }

    fn written(&self, key: u64, unreadable: Vec<u64>) -> Result<(), StoreError> {
        self.writer.write(move |connection| {
            for record in &unreadable {
                connection.execute("DELETE FROM segment_runs WHERE record = ?1", [integer(*record)])?;
            }
            connection.execute("UPDATE segments SET state = 1 WHERE key = ?1 AND state = 0", [integer(key)])?;
            Ok(())
        })
    }

    fn prune(&self, before: WallTime) -> Result<bool, StoreError> {
        // Most looks find nothing, and need not write.
        let next = move |connection: &Connection| -> Result<Option<i64>, StoreError> {
            let query = "SELECT key FROM segments WHERE state = 1 AND newest_unix_ns <= ?1 ORDER BY key LIMIT 1";
            Ok(connection.prepare_cached(query)?.query_row([stored(before)], |row| row.get(0)).optional()?)
        };
        if self.read(next)?.is_none() {
            return Ok(false);
        }
        self.writer.write(move |connection| {
            let Some(key) = next(connection)? else { return Ok(false) };
            connection.execute(
                "UPDATE records SET samples = NULL WHERE key IN (SELECT record FROM segment_runs WHERE segment = ?1)",
                [key],
            )?;
            connection.execute("UPDATE segments SET state = 2 WHERE key = ?1", [key])?;
            Ok(true)
        })
    }

    fn segment_of(&self, record: u64) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let query = "SELECT path FROM segment_runs JOIN segments ON segments.key = segment
                         WHERE record = ?1 AND state > 0";
            Ok(connection.prepare_cached(query)?.query_row([integer(record)], |row| row.get(0)).optional()?)
        })
    }
}

fn close(connection: &Connection, closing: &Closing) -> Result<ClosedRuns, StoreError> {
    let SegmentFolder { day, pair } = closing.folder;
    let mut query = connection.prepare_cached(
        "SELECT record, bytes, segment_runs.received_unix_ns, run FROM segment_runs JOIN records ON records.key = record
         WHERE segment IS NULL AND day = ?1 AND pair = ?2 ORDER BY record LIMIT ?3",
    )?;
    let mut waiting = Vec::new();
    let mut rows = query.query((day, pair, integer(closing.most_runs)))?;
    while let Some(row) = rows.next()? {
        let (record, bytes, received) = (natural(row.get(0)?), natural(row.get(1)?), time(row.get(2)?));
        waiting.push((SegmentRun { record, folder: closing.folder, bytes, received }, row.get(3)?));
    }
    let Some(segment) = NewSegment::of(waiting, closing) else { return Ok(ClosedRuns::default()) };
    connection.execute(
        "INSERT INTO segments (path, state, newest_unix_ns) VALUES (?1, 0, ?2)",
        (&segment.path, stored(segment.newest)),
    )?;
    connection.execute(
        "UPDATE segment_runs SET segment = ?1 WHERE segment IS NULL AND day = ?2 AND pair = ?3 AND record <= ?4",
        (connection.last_insert_rowid(), day, pair, integer(segment.last)),
    )?;
    Ok(segment.closed)
}

const SORTED: &str = "segments_sorted";
