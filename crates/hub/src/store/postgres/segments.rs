//! Which runs have their samples in which segment.

use units::WallTime;

use super::Postgres;
use super::pool::Connection;
use crate::segments::layout::SegmentFolder;
use crate::store::StoreError;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::segments::{
    ClosedRuns, Closing, NewSegment, SegmentIndex, SegmentRecord, SegmentRow, SegmentRun, SortedRuns, WaitingRuns,
};

impl SegmentIndex for Postgres {
    fn sorted(&self) -> Result<u64, StoreError> {
        self.pool.read(|connection| {
            let row = connection.row("SELECT revision FROM turns WHERE name = 'segments'", &[])?;
            Ok(natural(row.ok_or(StoreError::Closed)?.try_get(0)?))
        })
    }

    fn sort(&self, sorted: SortedRuns) -> Result<(), StoreError> {
        let SortedRuns { upto, runs } = sorted;
        let records: Vec<i64> = runs.iter().map(|run| integer(run.record)).collect();
        let days: Vec<i64> = runs.iter().map(|run| i64::from(run.folder.day)).collect();
        let pairs: Vec<i32> = runs.iter().map(|run| i32::from(run.folder.pair)).collect();
        let bytes: Vec<i64> = runs.iter().map(|run| integer(run.bytes)).collect();
        let times: Vec<i64> = runs.iter().map(|run| stored(run.received)).collect();
        self.pool.write(|connection| {
            connection.execute(
                "INSERT INTO segment_runs (record, day, pair, bytes, received_unix_ns)
                 SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[])
                 ON CONFLICT DO NOTHING",
                &[&records, &days, &pairs, &bytes, &times],
            )?;
            connection.execute(
                "UPDATE turns SET revision = greatest(revision, $1) WHERE name = 'segments'",
                &[&integer(upto)],
            )?;
            Ok(())
        })
    }

    fn waiting(&self) -> Result<Vec<WaitingRuns>, StoreError> {
        self.pool.read(|connection| {
            let rows = connection.query(
                "SELECT day, pair, count(*), sum(bytes)::bigint, min(received_unix_ns) FROM segment_runs
                 WHERE segment IS NULL GROUP BY day, pair ORDER BY day, pair",
                &[],
            )?;
            let waiting = |row: &postgres::Row| {
                Ok(WaitingRuns {
                    folder: SegmentFolder {
                        day: u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX),
                        pair: u16::try_from(row.try_get::<_, i32>(1)?).unwrap_or(u16::MAX),
                    },
                    runs: natural(row.try_get(2)?),
                    bytes: natural(row.try_get(3)?),
                    oldest: time(row.try_get(4)?),
                })
            };
            rows.iter().map(waiting).collect()
        })
    }

    fn close(&self, closing: Closing) -> Result<ClosedRuns, StoreError> {
        self.pool.write(|connection| close(connection, &closing))
    }

    fn unwritten(&self) -> Result<Option<SegmentRow>, StoreError> {
        self.pool.read(|connection| {
            let query = "SELECT key, path FROM segments WHERE state = 0 ORDER BY key LIMIT 1";
            let Some(found) = connection.row(query, &[])? else { return Ok(None) };
            let key: i64 = found.try_get(0)?;
            let rows = connection.query(
                "SELECT record, run FROM segment_runs JOIN records ON records.key = record
                 WHERE segment = $1 ORDER BY record",
                &[&key],
            )?;
            let record = |row: &postgres::Row| -> Result<SegmentRecord, StoreError> {
                Ok(SegmentRecord { key: natural(row.try_get(0)?), run: row.try_get(1)? })
            };
            let records = rows.iter().map(record).collect::<Result<_, _>>()?;
            Ok(Some(SegmentRow { key: natural(key), path: found.try_get(1)?, records }))
        })
    }

    fn written(&self, key: u64, unreadable: Vec<u64>) -> Result<(), StoreError> {
        let unreadable: Vec<i64> = unreadable.into_iter().map(integer).collect();
        self.pool.write(|connection| {
            connection.execute("DELETE FROM segment_runs WHERE record = ANY($1)", &[&unreadable])?;
            connection.execute("UPDATE segments SET state = 1 WHERE key = $1 AND state = 0", &[&integer(key)])?;
            Ok(())
        })
    }

    fn prune(&self, before: WallTime) -> Result<bool, StoreError> {
        let pruned = self.pool.write(|connection| {
            connection.row(
                "WITH old AS (
                     UPDATE segments SET state = 2 WHERE key = (
                         SELECT key FROM segments WHERE state = 1 AND newest_unix_ns <= $1 ORDER BY key LIMIT 1 FOR UPDATE SKIP LOCKED
                     ) RETURNING key
                 ), emptied AS (
                     UPDATE records SET samples = NULL FROM segment_runs, old
                     WHERE records.key = segment_runs.record AND segment_runs.segment = old.key
                 ) SELECT key FROM old",
                &[&stored(before)],
            )
        })?;
        Ok(pruned.is_some())
    }

    fn segment_of(&self, record: u64) -> Result<Option<String>, StoreError> {
        self.pool.read(|connection| {
            let query = "SELECT path FROM segment_runs JOIN segments ON segments.key = segment
                         WHERE record = $1 AND state > 0";
            Ok(connection.row(query, &[&integer(record)])?.map(|row| row.try_get(0)).transpose()?)
        })
    }
}

fn close(connection: &mut Connection, closing: &Closing) -> Result<ClosedRuns, StoreError> {
    // One hub at a time: two would give a run to two segments.
    connection.row("SELECT 1 FROM turns WHERE name = 'segments' FOR UPDATE", &[])?;
    let (day, pair) = (i64::from(closing.folder.day), i32::from(closing.folder.pair));
    let rows = connection.query(
        "SELECT record, bytes, segment_runs.received_unix_ns, run FROM segment_runs JOIN records ON records.key = record
         WHERE segment IS NULL AND day = $1 AND pair = $2 ORDER BY record LIMIT $3",
        &[&day, &pair, &integer(closing.most_runs)],
    )?;
    let mut waiting = Vec::with_capacity(rows.len());
    for row in &rows {
        let (record, bytes, received) = (natural(row.try_get(0)?), natural(row.try_get(1)?), time(row.try_get(2)?));
        waiting.push((SegmentRun { record, folder: closing.folder, bytes, received }, row.try_get(3)?));
    }
    let Some(segment) = NewSegment::of(waiting, closing) else { return Ok(ClosedRuns::default()) };
    let row = connection.row(
        "INSERT INTO segments (path, state, newest_unix_ns) VALUES ($1, 0, $2) RETURNING key",
        &[&segment.path, &stored(segment.newest)],
    )?;
    let key: i64 = row.ok_or(StoreError::Closed)?.try_get(0)?;
    connection.execute(
        "UPDATE segment_runs SET segment = $1 WHERE segment IS NULL AND day = $2 AND pair = $3 AND record <= $4",
        &[&key, &day, &pair, &integer(segment.last)],
    )?;
    Ok(segment.closed)
}
