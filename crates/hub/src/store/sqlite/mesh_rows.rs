//! Plan, runs, what was measured, incidents.

use std::collections::BTreeMap;

use mesh::board::{AgentRow, Rows as BoardRows, UsageRow};
use mesh::incident::Series;
use mesh::run::{RequestNumber, RunRow};
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use units::WallTime;

use crate::store::StoreError;
use crate::store::histories::Histories;
use crate::store::integers::{integer, natural, stored, time};
use crate::store::rows::{Judgement, MeshRows, Point, PointQuality, Revision, SeriesHistory, SeriesResult};
use crate::store::turn::{Changes, OpenRuns};

/// Plan and incidents, and how far judging has come.
pub(super) fn load(connection: &Connection) -> Result<MeshRows, StoreError> {
    let number = |name: &str| -> Result<Option<u64>, StoreError> {
        Ok(setting(connection, name)?.and_then(|text| text.parse().ok()))
    };
    Ok(MeshRows {
        plan: setting(connection, PLAN)?,
        planned: number(PLANNED)?.map(WallTime::from_unix_nanos),
        judged: number(JUDGED)?.unwrap_or_default(),
        revision: Revision::ONLY,
        incidents: json(connection, "SELECT content FROM incidents ORDER BY opened_unix_ns, id")?,
    })
}

/// Runs that are not over, the last requests of agents, what budgets have been charged.
pub(super) fn open_rows(connection: &Connection) -> Result<BoardRows, StoreError> {
    let runs = json(connection, "SELECT row FROM runs WHERE is_open = 1")?;
    let mut requests = connection.prepare_cached("SELECT agent, boots, number FROM requests")?;
    let agent = |row: &Row<'_>| {
        let last = RequestNumber { boots: natural(row.get(1)?), number: natural(row.get(2)?) };
        Ok(AgentRow { name: row.get(0)?, last })
    };
    let agents = requests.query_map([], agent)?.collect::<rusqlite::Result<_>>()?;
    Ok(BoardRows { runs, agents, usage: usage(connection)? })
}

/// Stores plan and rows over those of the same names.
pub(super) fn save(connection: &Connection, changes: &Changes) -> Result<(), StoreError> {
    let Changes { rows, plan, planned, .. } = changes;
    plan.as_ref().map_or(Ok(()), |text| set(connection, PLAN, text))?;
    planned.map_or(Ok(()), |until| set(connection, PLANNED, until.unix_nanos().to_string()))?;
    let mut run = connection.prepare_cached("INSERT OR REPLACE INTO runs (name, is_open, row) VALUES (?1, ?2, ?3)")?;
    for row in &rows.runs {
        run.execute((&row.id.0, !row.is_over(), serde_json::to_string(row)?))?;
    }
    let mut request =
        connection.prepare_cached("INSERT OR REPLACE INTO requests (agent, boots, number) VALUES (?1, ?2, ?3)")?;
    for AgentRow { name, last } in &rows.agents {
        request.execute((name, integer(last.boots), integer(last.number)))?;
    }
    let mut budget =
        connection.prepare_cached("INSERT OR REPLACE INTO budgets (resource, day, bytes) VALUES (?1, ?2, ?3)")?;
    for UsageRow { resource, day, bytes } in &rows.usage {
        budget.execute((serde_json::to_string(resource)?, day, integer(*bytes)))?;
    }
    Ok(())
}

/// Runs by their names.
pub(super) fn runs(connection: &Connection, names: &[String]) -> Result<Vec<RunRow>, StoreError> {
    let mut query = connection.prepare_cached("SELECT row FROM runs WHERE name = ?1")?;
    let mut runs = Vec::new();
    for name in names {
        let found: Option<String> = query.query_row([name], |row| row.get(0)).optional()?;
        runs.extend(found.map(|text| serde_json::from_str(&text)).transpose()?);
    }
    Ok(runs)
}

/// Runs that are not over: those that somebody has begun first, then those whose names come first.
pub(super) fn open_runs(connection: &Connection, most: usize) -> Result<OpenRuns, StoreError> {
    let query = "SELECT row FROM runs WHERE is_open = 1 ORDER BY instr(row, '{\"is\":\"waiting\"}') > 0, \
                 json_extract(row, '$.not_before') LIMIT ?1";
    let mut query = connection.prepare_cached(query)?;
    let texts = query.query_map([integer(most as u64)], |row| row.get::<_, String>(0))?;
    let rows = texts.map(|text| Ok(serde_json::from_str(&text?)?)).collect::<Result<_, StoreError>>()?;
    let all: i64 = connection.query_row("SELECT count(*) FROM runs WHERE is_open = 1", [], |row| row.get(0))?;
    Ok(OpenRuns { rows, all: natural(all) })
}

/// The diagnosis of an incident, as JSON.
pub(super) fn diagnosis(connection: &Connection, incident: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT content FROM diagnoses WHERE incident = ?1";
    Ok(connection.query_row(query, [incident], |row| row.get(0)).optional()?)
}

/// Stores what was made of records.
pub(super) fn judged(connection: &Connection, judgement: &Judgement) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO points (series, at_unix_ns, record, value, is_good) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for point in &judgement.points {
        let key = series_key(connection, &point.series)?;
        let is_good = point.good == PointQuality::Good;
        insert.execute((key, stored(point.at), integer(point.record), point.value, is_good))?;
    }
    let mut keep = connection
        .prepare_cached("INSERT OR REPLACE INTO incidents (id, opened_unix_ns, content) VALUES (?1, ?2, ?3)")?;
    for incident in &judgement.incidents {
        keep.execute((&incident.id.0, stored(incident.opened), serde_json::to_string(incident)?))?;
    }
    let mut explain =
        connection.prepare_cached("INSERT OR REPLACE INTO diagnoses (incident, content) VALUES (?1, ?2)")?;
    for (incident, content) in &judgement.diagnoses {
        explain.execute((&incident.0, content))?;
    }
    judgement.upto.map_or(Ok(()), |upto| set(connection, JUDGED, upto.to_string()))
}

/// What was measured since a moment, in order of time.
pub(super) fn points(
    connection: &Connection,
    series: Option<&Series>,
    since: WallTime,
) -> Result<Vec<Point>, StoreError> {
    // Two statements: with one condition for both, the points of one series would be looked for among those of all.
    match series {
        Some(series) => {
            let select = format!("{POINTS} WHERE series.series = ?1 AND at_unix_ns >= ?2 ORDER BY at_unix_ns");
            let mut query = connection.prepare_cached(&select)?;
            read_points(query.query((serde_json::to_string(series)?, stored(since)))?)
        }
        None => {
            let mut query =
                connection.prepare_cached(&format!("{POINTS} WHERE at_unix_ns >= ?1 ORDER BY at_unix_ns"))?;
            read_points(query.query([stored(since)])?)
        }
    }
}

/// What was measured since a moment, of all series. Rows come in the order of the table's key, so that nothing is sorted, and each
/// name is read once.
pub(super) fn histories(
    connection: &Connection,
    since: WallTime,
    each: &mut dyn FnMut(SeriesHistory),
) -> Result<(), StoreError> {
    let mut histories = Histories::to(each);
    let mut query = connection.prepare_cached(
        "SELECT series.key, series.series, at_unix_ns, value, is_good, record
         FROM series JOIN points ON points.series = series.key WHERE at_unix_ns >= ?1 ORDER BY points.series, at_unix_ns",
    )?;
    let mut rows = query.query([stored(since)])?;
    while let Some(row) = rows.next()? {
        let result = SeriesResult {
            at: time(row.get(2)?),
            value: row.get(3)?,
            good: if row.get(4)? { PointQuality::Good } else { PointQuality::Poor },
            record: natural(row.get(5)?),
        };
        histories.add(row.get(0)?, row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?, result)?;
    }
    histories.end();
    Ok(())
}

/// What records behind one of them have measured, in order of records.
pub(super) fn points_behind(connection: &Connection, record: u64) -> Result<Vec<Point>, StoreError> {
    let mut query = connection.prepare_cached(&format!("{POINTS} WHERE record > ?1 ORDER BY record"))?;
    read_points(query.query([integer(record)])?)
}

const POINTS: &str = "SELECT series.series, at_unix_ns, record, value, is_good
     FROM points JOIN series ON points.series = series.key";

fn read_points(mut rows: Rows<'_>) -> Result<Vec<Point>, StoreError> {
    let mut known: BTreeMap<String, Series> = BTreeMap::new();
    let mut points = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let series = match known.get(&name) {
            Some(series) => series.clone(),
            None => known.entry(name.clone()).or_insert(serde_json::from_str(&name)?).clone(),
        };
        points.push(Point {
            series,
            at: time(row.get(1)?),
            record: natural(row.get(2)?),
            value: row.get(3)?,
            settled: None,
            good: if row.get(4)? { PointQuality::Good } else { PointQuality::Poor },
        });
    }
    Ok(points)
}

fn series_key(connection: &Connection, series: &Series) -> Result<i64, StoreError> {
    let name = serde_json::to_string(series)?;
    let mut find = connection.prepare_cached("SELECT key FROM series WHERE series = ?1")?;
    if let Some(key) = find.query_row([&name], |row| row.get(0)).optional()? {
        return Ok(key);
    }
    connection.prepare_cached("INSERT INTO series (series) VALUES (?1)")?.execute([&name])?;
    Ok(connection.last_insert_rowid())
}

fn usage(connection: &Connection) -> Result<Vec<UsageRow>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT resource, day, bytes FROM budgets ORDER BY day DESC LIMIT 100000")?;
    let mut rows = query.query([])?;
    let mut usage = Vec::new();
    while let Some(row) = rows.next()? {
        let resource: String = row.get(0)?;
        let resource = serde_json::from_str(&resource)?;
        usage.push(UsageRow { resource, day: row.get(1)?, bytes: natural(row.get(2)?) });
    }
    Ok(usage)
}

fn json<T: serde::de::DeserializeOwned>(connection: &Connection, query: &str) -> Result<Vec<T>, StoreError> {
    let mut query = connection.prepare_cached(query)?;
    let texts = query.query_map([], |row| row.get::<_, String>(0))?;
    texts.map(|text| Ok(serde_json::from_str(&text?)?)).collect()
}

pub(super) fn setting(connection: &Connection, name: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT value FROM settings WHERE name = ?1";
    Ok(connection.query_row(query, [name], |row| row.get(0)).optional()?)
}

pub(super) fn set(connection: &Connection, name: &'static str, value: impl rusqlite::ToSql) -> Result<(), StoreError> {
    connection.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)", (name, value))?;
    Ok(())
}

const PLAN: &str = "plan";
const PLANNED: &str = "planned_unix_ns";
const JUDGED: &str = "judged_record";
