//! Plan, runs, what was measured, incidents.

use std::collections::BTreeMap;

use mesh::board::Rows;
use mesh::incident::Series;
use mesh::run::RunRow;
use postgres::Row;
use units::WallTime;

use super::pool::Connection;
use crate::store::StoreError;
use crate::store::histories::Histories;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::rows::{Judgement, MeshRows, Point, PointQuality, Revision, SeriesHistory, SeriesResult};
use crate::store::turn::OpenRuns;

/// A setting, by its name.
pub(super) struct Setting<'a> {
    pub(super) name: &'static str,
    pub(super) value: &'a str,
    pub(super) revision: Revision,
}

/// Plan and incidents, and how far judging has come.
pub(super) fn load(connection: &mut Connection) -> Result<MeshRows, StoreError> {
    // What is read after the revision may be newer, and is read again then.
    let revision = connection.row("SELECT revision FROM turns WHERE name = 'watching'", &[])?;
    let revision = revision.map(|row| row.try_get(0)).transpose()?.map(natural).unwrap_or_default();
    let judged = setting(connection, JUDGED, Revision::default())?.and_then(|text| text.parse().ok());
    let rows = connection.query("SELECT content FROM incidents ORDER BY opened_unix_ns, id COLLATE \"C\"", &[])?;
    let mut incidents = Vec::new();
    for row in rows {
        incidents.push(serde_json::from_str(row.try_get(0)?)?);
    }
    Ok(MeshRows {
        plan: setting(connection, PLAN, Revision::default())?,
        planned: planned(connection, Revision::default())?,
        judged: judged.unwrap_or_default(),
        revision: Revision(revision),
        incidents,
    })
}

/// Stores rows over those of the same names.
pub(super) fn save(connection: &mut Connection, rows: &Rows, revision: Revision) -> Result<(), StoreError> {
    let revision = integer(revision.0);
    if !rows.runs.is_empty() {
        let names: Vec<&str> = rows.runs.iter().map(|run| run.id.0.as_str()).collect();
        let open: Vec<bool> = rows.runs.iter().map(|run| !run.is_over()).collect();
        let texts: Vec<String> = rows.runs.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        connection.execute(
            "INSERT INTO runs (name, is_open, row, revision)
             SELECT name, is_open, row, $4 FROM unnest($1::text[], $2::boolean[], $3::text[]) AS r (name, is_open, row)
             ON CONFLICT (name) DO UPDATE
             SET is_open = excluded.is_open, row = excluded.row, revision = excluded.revision",
            &[&names, &open, &texts, &revision],
        )?;
    }
    if !rows.agents.is_empty() {
        let names: Vec<&str> = rows.agents.iter().map(|agent| agent.name.as_str()).collect();
        let boots: Vec<i64> = rows.agents.iter().map(|agent| integer(agent.last.boots)).collect();
        let numbers: Vec<i64> = rows.agents.iter().map(|agent| integer(agent.last.number)).collect();
        connection.execute(
            "INSERT INTO requests (agent, boots, number, revision)
             SELECT agent, boots, number, $4 FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS r (agent, boots, number)
             ON CONFLICT (agent) DO UPDATE
             SET boots = excluded.boots, number = excluded.number, revision = excluded.revision",
            &[&names, &boots, &numbers, &revision],
        )?;
    }
    for usage in &rows.usage {
        connection.execute(
            "INSERT INTO budgets (resource, day, bytes, revision) VALUES ($1, $2, $3, $4)
             ON CONFLICT (resource, day) DO UPDATE SET bytes = excluded.bytes, revision = excluded.revision",
            &[&serde_json::to_string(&usage.resource)?, &i64::from(usage.day), &integer(usage.bytes), &revision],
        )?;
    }
    Ok(())
}

/// Runs by their names.
pub(super) fn runs(connection: &mut Connection, names: &[String]) -> Result<Vec<RunRow>, StoreError> {
    let rows = connection.query("SELECT row FROM runs WHERE name = ANY ($1)", &[&names])?;
    let mut runs = Vec::new();
    for row in rows {
        runs.push(serde_json::from_str(row.try_get(0)?)?);
    }
    Ok(runs)
}

/// Runs that are not over: those that somebody has begun first, then those that are due next.
pub(super) fn open_runs(connection: &mut Connection, most: usize) -> Result<OpenRuns, StoreError> {
    let query = "SELECT row FROM runs WHERE is_open ORDER BY row::json->'state'->>'is' = 'waiting', \
                 (row::json->>'not_before')::bigint LIMIT $1";
    let found = connection.query(query, &[&integer(most as u64)])?;
    let mut rows = Vec::new();
    for row in found {
        rows.push(serde_json::from_str(row.try_get(0)?)?);
    }
    let all = connection.row("SELECT count(*) FROM runs WHERE is_open", &[])?;
    let all: Option<i64> = all.map(|row| row.try_get(0)).transpose()?;
    Ok(OpenRuns { rows, all: natural(all.unwrap_or_default()) })
}

/// The diagnosis of an incident, as JSON.
pub(super) fn diagnosis(connection: &mut Connection, incident: &str) -> Result<Option<String>, StoreError> {
    let row = connection.row("SELECT content FROM diagnoses WHERE incident = $1", &[&incident])?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Stores what was made of records.
pub(super) fn judged(connection: &mut Connection, judgement: &Judgement) -> Result<(), StoreError> {
    let mut keys: BTreeMap<&Series, i64> = BTreeMap::new();
    let mut points: BTreeMap<(i64, i64, i64), &Point> = BTreeMap::new();
    for point in &judgement.points {
        let key = match keys.get(&point.series) {
            Some(key) => *key,
            None => *keys.entry(&point.series).or_insert(series_key(connection, &point.series)?),
        };
        points.insert((key, stored(point.at), integer(point.record)), point);
    }
    if !points.is_empty() {
        let series: Vec<i64> = points.keys().map(|(series, ..)| *series).collect();
        let times: Vec<i64> = points.keys().map(|(_, at, _)| *at).collect();
        let records: Vec<i64> = points.keys().map(|(.., record)| *record).collect();
        let values: Vec<f64> = points.values().map(|point| point.value).collect();
        let good: Vec<bool> = points.values().map(|point| point.good == PointQuality::Good).collect();
        connection.execute(
            "INSERT INTO points (series, at_unix_ns, record, value, is_good)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::float8[], $5::boolean[])
             ON CONFLICT (series, at_unix_ns, record) DO UPDATE SET value = excluded.value, is_good = excluded.is_good",
            &[&series, &times, &records, &values, &good],
        )?;
    }
    for incident in &judgement.incidents {
        connection.execute(
            "INSERT INTO incidents (id, opened_unix_ns, content) VALUES ($1, $2, $3)
             ON CONFLICT (id) DO UPDATE SET opened_unix_ns = excluded.opened_unix_ns, content = excluded.content",
            &[&incident.id.0, &stored(incident.opened), &serde_json::to_string(incident)?],
        )?;
    }
    for (incident, content) in &judgement.diagnoses {
        connection.execute(
            "INSERT INTO diagnoses (incident, content) VALUES ($1, $2)
             ON CONFLICT (incident) DO UPDATE SET content = excluded.content",
            &[&incident.0, content],
        )?;
    }
    let Some(upto) = judgement.upto else { return Ok(()) };
    set(connection, &Setting { name: JUDGED, value: &upto.to_string(), revision: Revision::default() })
}

/// A query of points, by what follows the columns.
macro_rules! points {
    ($rest:literal) => {
        concat!(
            "SELECT series.key, series.series, at_unix_ns, record, value, is_good ",
            "FROM points JOIN series ON points.series = series.key ",
            $rest
        )
    };
}

/// What was measured since a moment, in order of time.
pub(super) fn points(
    connection: &mut Connection,
    series: Option<&Series>,
    since: WallTime,
) -> Result<Vec<Point>, StoreError> {
    // Two statements: with one condition for both, the points of one series would be looked for among those of all.
    let rows = match series {
        Some(series) => connection.query(
            points!("WHERE series.series = $1 AND at_unix_ns >= $2 ORDER BY at_unix_ns"),
            &[&serde_json::to_string(series)?, &stored(since)],
        )?,
        None => connection.query(points!("WHERE at_unix_ns >= $1 ORDER BY at_unix_ns"), &[&stored(since)])?,
    };
    read_points(rows)
}

/// What was measured since a moment, of all series.
pub(super) fn histories(
    connection: &mut Connection,
    since: WallTime,
    each: &mut dyn FnMut(SeriesHistory),
) -> Result<(), StoreError> {
    let mut histories = Histories::to(each);
    let rows =
        connection.query(points!("WHERE at_unix_ns >= $1 ORDER BY points.series, at_unix_ns"), &[&stored(since)])?;
    for row in rows {
        let result = SeriesResult {
            at: time(row.try_get(2)?),
            record: natural(row.try_get(3)?),
            value: row.try_get(4)?,
            good: if row.try_get(5)? { PointQuality::Good } else { PointQuality::Poor },
        };
        histories.add(row.try_get(0)?, row.try_get(1)?, result)?;
    }
    histories.end();
    Ok(())
}

/// What records behind one of them have measured, in order of records.
pub(super) fn points_behind(connection: &mut Connection, record: u64) -> Result<Vec<Point>, StoreError> {
    read_points(connection.query(points!("WHERE record > $1 ORDER BY record"), &[&integer(record)])?)
}

fn read_points(rows: Vec<Row>) -> Result<Vec<Point>, StoreError> {
    let mut known: BTreeMap<i64, Series> = BTreeMap::new();
    let mut points = Vec::new();
    for row in rows {
        let key: i64 = row.try_get(0)?;
        let series = match known.get(&key) {
            Some(series) => series.clone(),
            None => known.entry(key).or_insert(serde_json::from_str(row.try_get(1)?)?).clone(),
        };
        points.push(Point {
            series,
            at: time(row.try_get(2)?),
            record: natural(row.try_get(3)?),
            value: row.try_get(4)?,
            settled: None,
            good: if row.try_get(5)? { PointQuality::Good } else { PointQuality::Poor },
        });
    }
    Ok(points)
}

/// A setting, where it has changed since a revision.
pub(super) fn setting(
    connection: &mut Connection,
    name: &'static str,
    since: Revision,
) -> Result<Option<String>, StoreError> {
    let query = "SELECT value FROM settings WHERE name = $1 AND (revision > $2 OR $2 = 0)";
    let row = connection.row(query, &[&name, &integer(since.0)])?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Until when runs are planned, where that has changed since a revision.
pub(super) fn planned(connection: &mut Connection, since: Revision) -> Result<Option<WallTime>, StoreError> {
    let text = setting(connection, PLANNED, since)?;
    Ok(text.and_then(|text| text.parse().ok()).map(WallTime::from_unix_nanos))
}

pub(super) fn set(connection: &mut Connection, setting: &Setting<'_>) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO settings (name, value, revision) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, revision = excluded.revision",
        &[&setting.name, &setting.value, &integer(setting.revision.0)],
    )?;
    Ok(())
}

fn series_key(connection: &mut Connection, series: &Series) -> Result<i64, StoreError> {
    let name = serde_json::to_string(series)?;
    let row = match connection.row("SELECT key FROM series WHERE series = $1", &[&name])? {
        Some(row) => Some(row),
        None => connection.row("INSERT INTO series (series) VALUES ($1) RETURNING key", &[&name])?,
    };
    Ok(row.ok_or(StoreError::Closed)?.try_get(0)?)
}

pub(super) const PLAN: &str = "plan";
pub(super) const PLANNED: &str = "planned_unix_ns";
const JUDGED: &str = "judged_record";
