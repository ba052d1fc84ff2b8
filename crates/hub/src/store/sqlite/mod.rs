//! A hub's database in one file.
//!
//! * `integers`: times and counts as SQLite has them
//! * `schema`: its tables, and how older ones are brought up to date
//! * `writer`: one thread that writes, many requests in one transaction
//! * `trust`: tokens and agents
//! * `records`: what agents deliver

mod integers;
mod records;
mod schema;
mod trust;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use units::WallTime;

use super::rows::{AgentRow, Arrival, Redeemed, TokenRow};
use super::{AgentContact, Store, StoreError};
use crate::api::record::Verdict;
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

    fn heard(&self, agent: &str, how: AgentContact) -> Result<(), StoreError> {
        let agent = agent.to_owned();
        self.writer.write(move |connection| trust::heard(connection, &agent, &how))
    }

    fn deliver(&self, agent: &str, arrivals: Vec<Arrival>, now: WallTime) -> Result<Vec<Verdict>, StoreError> {
        let agent = agent.to_owned();
        self.writer.write(move |connection| records::deliver(connection, &agent, &arrivals, now))
    }

    fn newest_snapshot(&self, agent: &str) -> Result<Option<WallTime>, StoreError> {
        self.read(|connection| records::newest_snapshot(connection, agent))
    }

    fn check(&self, now: WallTime) -> Result<(), StoreError> {
        self.writer.write(move |connection| schema::touch(connection, now))
    }
}
