//! Runs without their contents.

use std::path::PathBuf;

use model::archived::ListedRun;
use model::run::{Failure, Outcome, Role};
use rusqlite::types::Type;
use rusqlite::{Row, named_params};
use serde::de::DeserializeOwned;
use units::{DataRate, PacketCount, WallTime};

use crate::digest::{self, Depth};
use crate::fault::Fault;
use crate::names::name_of;
use crate::store::Archive;

/// Which runs to list. By default all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// At most so many, the newest.
    pub limit: Option<u32>,
    /// Only with this target.
    pub peer: Option<String>,
    /// Only those that started then or later.
    pub since: Option<WallTime>,
    /// Only those in which this host had this role.
    pub role: Option<Role>,
    /// Only those that ended so.
    pub ended: Option<Ended>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Complete,
    /// With a failure of any kind.
    Failed,
}

/// The archive cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot list the archive {}", path.display())]
pub struct ListError {
    path: PathBuf,
    source: Fault,
}

impl Archive {
    /// The runs that `filter` lets through, newest first.
    ///
    /// # Errors
    /// If the database refuses, or a row has a role, protocol, direction or failure that is not known here.
    pub fn list(&self, filter: &Filter) -> Result<Vec<ListedRun>, ListError> {
        let failed = |source| ListError { path: self.path.clone(), source };
        let found = self.select(filter).map_err(|error| failed(error.into()))?;
        for (row, _) in &found {
            digest::RUNS.insist(&self.connection, *row, Depth::Columns).map_err(failed)?;
        }
        Ok(found.into_iter().map(|(_, summary)| summary).collect())
    }

    fn select(&self, filter: &Filter) -> rusqlite::Result<Vec<(i64, ListedRun)>> {
        let parameters = named_params! {
            ":target": filter.peer,
            ":since": filter.since.map(|since| i64::try_from(since.unix_nanos()).unwrap_or(i64::MAX)),
            ":role": filter.role.map(name_of),
            ":failed": filter.ended.map(|ended| ended == Ended::Failed),
            // To SQLite a negative limit is none.
            ":limit": filter.limit.map_or(-1, i64::from),
        };
        self.connection.prepare(SELECT)?.query_map(parameters, |row| Ok((row.get("key")?, summary(row)?)))?.collect()
    }
}

const SELECT: &str = "
    SELECT key, id, started_unix_ns, role, target, protocol, direction, failure, failure_detail, goodput_bps, retransmits
    FROM runs
    WHERE (:target IS NULL OR target = :target)
      AND (:since IS NULL OR started_unix_ns >= :since)
      AND (:role IS NULL OR role = :role)
      AND (:failed IS NULL OR (failure IS NOT NULL) = :failed)
    ORDER BY id DESC
    LIMIT :limit";

fn summary(row: &Row<'_>) -> rusqlite::Result<ListedRun> {
    let count = |name| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(name)?.map(i64::cast_unsigned));
    let kind: Option<String> = row.get("failure")?;
    let outcome = match kind {
        None => Outcome::Complete,
        Some(_) => Outcome::Failed(Failure {
            kind: named(row, "failure")?,
            detail: row.get::<_, Option<String>>("failure_detail")?.unwrap_or_default(),
        }),
    };
    Ok(ListedRun {
        id: named(row, "id")?,
        started: WallTime::from_unix_nanos(count("started_unix_ns")?.unwrap_or(0)),
        role: named(row, "role")?,
        peer: row.get("target")?,
        hosts: None,
        protocol: named(row, "protocol")?,
        direction: named(row, "direction")?,
        outcome,
        goodput: count("goodput_bps")?.map(DataRate::from_bps),
        retransmits: count("retransmits")?.map(PacketCount::new),
    })
}

/// The value whose name is in `column`.
fn named<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    serde_json::from_value(name.into())
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}
