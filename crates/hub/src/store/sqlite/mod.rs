//! A hub's database in one file.
//!
//! * `schema`: its tables, and how older ones are brought up to date
//! * `writer`: one thread that writes, many requests in one transaction
//! * `trust`: tokens and agents
//! * `people`: accounts, sessions, what people did and wrote
//! * `records`: what agents deliver
//! * `segments`: which runs have their samples in which segment
//! * `mesh_rows`: plan, runs, what was measured, incidents

mod mesh_rows;
mod people;
mod records;
mod schema;
mod segments;
mod trust;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use mesh::incident::{IncidentId, Series};
use mesh::run::RunRow;
use rusqlite::Connection;
use units::WallTime;

use super::rows::{
    AgentRow, Judgement, Judging, JudgingClaim, MeshRows, Point, RecordQuery, Redeemed, Revision, SeriesHistory,
    StoredRecord, TokenRow,
};
use super::turn::{Changes, Committed, News, OpenRuns, Turn, TurnRequest};
use super::{Store, StoreError};
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;
use writer::Writer;

/// A database of SQLite in a write-ahead log, flushed at every commit.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    writer: Writer,
    /// Connections to read by that nobody uses now.
    readers: Mutex<Vec<Connection>>,
}

impl Sqlite {
    /// Opens the database at `path`; makes it where there is none.
    ///
    /// # Errors
    /// Where it cannot be made or read, or a newer hub has written it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let writer = Writer::start(schema::open(path)?)?;
        Ok(Self { path: path.to_owned(), writer, readers: Mutex::default() })
    }

    /// Reads, from what is committed.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.readers.lock().map_err(|_| StoreError::Closed)?.pop();
        let connection = match idle {
            Some(connection) => connection,
            None => schema::open_reader(&self.path)?,
        };
        let found = work(&connection)?;
        self.readers.lock().map_err(|_| StoreError::Closed)?.push(connection);
        Ok(found)
    }
}

impl Store for Sqlite {
    fn authority(&self, own: Option<Fingerprint>) -> Result<Option<Fingerprint>, StoreError> {
        // The file stands beside the authority of its one hub.
        Ok(own)
    }

    fn add_token(&self, token: TokenRow) -> Result<(), StoreError> {
        self.writer.write(move |connection| trust::add_token(connection, &token))
    }

    fn bearer(&self, hash: Fingerprint, now: WallTime) -> Result<Option<Purpose>, StoreError> {
        self.read(|connection| trust::bearer(connection, hash, now))
    }

    fn redeem(&self, hash: Fingerprint, key: Fingerprint, now: WallTime) -> Result<Redeemed, StoreError> {
        let spent = trust::Spent { hash, key };
        self.writer.write(move |connection| trust::redeem(connection, &spent, now))
    }

    fn add_agent(&self, agent: AgentRow) -> Result<bool, StoreError> {
        self.writer.write(move |connection| trust::add_agent(connection, &agent))
    }

    fn agent_of(&self, certificate: Fingerprint) -> Result<Option<String>, StoreError> {
        self.read(|connection| trust::agent_of(connection, certificate))
    }

    fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        self.read(trust::agents)
    }

    fn remove_agent(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.writer.write(move |connection| trust::remove_agent(connection, &name))
    }

    fn turn(&self, request: TurnRequest<'_>) -> Result<(News, Box<dyn Turn + '_>), StoreError> {
        let mut news = News { revision: Revision::ONLY, named: self.runs(request.runs)?, ..News::default() };
        if request.known != Revision::ONLY {
            let MeshRows { plan, planned, .. } = self.mesh()?;
            let rows = self.read(mesh_rows::open_rows)?;
            news = News { rows, plan, planned, ..news };
        }
        Ok((news, Box::new(SqliteTurn(&self.writer))))
    }

    fn mesh(&self) -> Result<MeshRows, StoreError> {
        self.read(mesh_rows::load)
    }

    fn runs(&self, names: &[String]) -> Result<Vec<RunRow>, StoreError> {
        self.read(|connection| mesh_rows::runs(connection, names))
    }

    fn open_runs(&self, most: usize) -> Result<OpenRuns, StoreError> {
        self.read(|connection| mesh_rows::open_runs(connection, most))
    }

    fn unjudged(&self, after: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|connection| records::after(connection, after, most))
    }

    fn judging(&self, _: JudgingClaim) -> Result<Judging, StoreError> {
        Ok(Judging::Own(Revision::ONLY))
    }

    fn judged(&self, judgement: Judgement) -> Result<Revision, StoreError> {
        self.writer.write(move |connection| mesh_rows::judged(connection, &judgement))?;
        Ok(Revision::ONLY)
    }

    fn points(&self, series: Option<&Series>, since: WallTime) -> Result<Vec<Point>, StoreError> {
        self.read(|connection| mesh_rows::points(connection, series, since))
    }

    fn histories(&self, since: WallTime, each: &mut dyn FnMut(SeriesHistory)) -> Result<(), StoreError> {
        self.read(|connection| mesh_rows::histories(connection, since, each))
    }

    fn points_behind(&self, record: u64) -> Result<Vec<Point>, StoreError> {
        self.read(|connection| mesh_rows::points_behind(connection, record))
    }

    fn diagnosis(&self, incident: &IncidentId) -> Result<Option<String>, StoreError> {
        self.read(|connection| mesh_rows::diagnosis(connection, &incident.0))
    }

    fn record(&self, key: u64) -> Result<Option<StoredRecord>, StoreError> {
        self.read(|connection| records::one(connection, key))
    }

    fn newest(&self, query: RecordQuery<'_>) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|connection| records::newest(connection, &query))
    }

    fn results_since(&self, since: WallTime, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.read(|connection| records::results_since(connection, since, most))
    }

    fn newest_snapshot(&self, agent: &str) -> Result<Option<WallTime>, StoreError> {
        self.read(|connection| records::newest_snapshot(connection, agent))
    }

    fn check(&self, now: WallTime) -> Result<(), StoreError> {
        self.writer.write(move |connection| schema::touch(connection, now))
    }
}

/// A turn of the one hub that there is.
struct SqliteTurn<'a>(&'a Writer);

impl Turn for SqliteTurn<'_> {
    fn commit(self: Box<Self>, changes: Changes) -> Result<Committed, StoreError> {
        let verdicts = self.0.write(move |connection| {
            mesh_rows::save(connection, &changes)?;
            changes.contacts.iter().try_for_each(|contact| trust::heard(connection, contact))?;
            changes.delivered.iter().map(|delivered| records::deliver(connection, delivered)).collect()
        })?;
        Ok(Committed { revision: Revision::ONLY, verdicts })
    }
}
