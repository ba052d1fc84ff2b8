//! A PostgreSQL that several hubs share.
//!
//! * [`address`]: where it is, and who asks, as users of PostgreSQL say it
//! * [`error`]: why it does not do what it is asked
//! * `tls`: connections that nobody else reads
//! * `pool`: connections, a few, kept
//! * `schema`: its tables, and how older ones are brought up to date
//! * `turns`: runs, changed by one hub after the other
//! * `trust`: tokens and agents
//! * `people`: accounts, sessions, what people did and wrote
//! * `records`: what agents deliver
//! * `segments`: which runs have their samples in which segment
//! * `mesh_rows`: plan, runs, what was measured, incidents

pub mod address;
pub mod error;
mod mesh_rows;
mod people;
mod pool;
mod records;
mod schema;
mod segments;
mod tls;
mod trust;
mod turns;

use mesh::incident::{IncidentId, Series};
use mesh::run::RunRow;
use units::WallTime;

use super::rows::{
    AgentRow, Judgement, Judging, JudgingClaim, MeshRows, Point, RecordQuery, Redeemed, Revision, SeriesHistory,
    StoredRecord, TokenRow,
};
use super::turn::{News, OpenRuns, Turn, TurnRequest};
use super::{Store, StoreError};
use crate::trust::digest::Fingerprint;
use crate::trust::secret;
use crate::trust::token::Purpose;
use address::Address;
use pool::Pool;

/// The tables of hubs in a PostgreSQL, in a schema of their own.
#[derive(Debug)]
pub struct Postgres {
    pool: Pool,
    /// What this hub is called while it runs, among those that share the database.
    hub: String,
}

impl Postgres {
    /// Opens the tables at an address; makes them where there are none.
    ///
    /// # Errors
    /// Where it cannot be reached, or a newer hub has made the tables.
    pub fn open(address: Address) -> Result<Self, StoreError> {
        let pool = Pool::new(address);
        pool.write(schema::migrate)?;
        Ok(Self { pool, hub: Fingerprint::from(secret::random::<32>()?).short() })
    }
}

impl Drop for Postgres {
    /// Another hub need not wait until this one is silent for long enough.
    fn drop(&mut self) {
        // Where that cannot be said, it waits.
        let _ = self.pool.read(|connection| turns::leave(connection, &self.hub));
    }
}

impl Store for Postgres {
    fn authority(&self, own: Option<Fingerprint>) -> Result<Option<Fingerprint>, StoreError> {
        self.pool.write(|connection| trust::authority(connection, own))
    }

    fn add_token(&self, token: TokenRow) -> Result<(), StoreError> {
        self.pool.write(|connection| trust::add_token(connection, &token))
    }

    fn bearer(&self, hash: Fingerprint, now: WallTime) -> Result<Option<Purpose>, StoreError> {
        self.pool.read(|connection| trust::bearer(connection, hash, now))
    }

    fn redeem(&self, hash: Fingerprint, key: Fingerprint, now: WallTime) -> Result<Redeemed, StoreError> {
        self.pool.write(|connection| trust::redeem(connection, &trust::Spent { hash, key }, now))
    }

    fn add_agent(&self, agent: AgentRow) -> Result<bool, StoreError> {
        self.pool.write(|connection| trust::add_agent(connection, &agent))
    }

    fn agent_of(&self, certificate: Fingerprint) -> Result<Option<String>, StoreError> {
        self.pool.read(|connection| trust::agent_of(connection, certificate))
    }

    fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        self.pool.read(trust::agents)
    }

    fn remove_agent(&self, name: &str) -> Result<bool, StoreError> {
        self.pool.write(|connection| trust::remove_agent(connection, name))
    }

    fn turn(&self, request: TurnRequest<'_>) -> Result<(News, Box<dyn Turn + '_>), StoreError> {
        turns::begin(&self.pool, request)
    }

    fn mesh(&self) -> Result<MeshRows, StoreError> {
        self.pool.read(mesh_rows::load)
    }

    fn runs(&self, names: &[String]) -> Result<Vec<RunRow>, StoreError> {
        self.pool.read(|connection| mesh_rows::runs(connection, names))
    }

    fn open_runs(&self, most: usize) -> Result<OpenRuns, StoreError> {
        self.pool.read(|connection| mesh_rows::open_runs(connection, most))
    }

    fn unjudged(&self, after: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.pool.read(|connection| records::after(connection, after, most))
    }

    fn judging(&self, claim: JudgingClaim) -> Result<Judging, StoreError> {
        self.pool.read(|connection| turns::judging(connection, &self.hub, claim))
    }

    fn judged(&self, judgement: Judgement) -> Result<Revision, StoreError> {
        self.pool.write(|connection| {
            let revision = turns::judges(connection, &self.hub)?;
            mesh_rows::judged(connection, &judgement)?;
            Ok(revision)
        })
    }

    fn points(&self, series: Option<&Series>, since: WallTime) -> Result<Vec<Point>, StoreError> {
        self.pool.read(|connection| mesh_rows::points(connection, series, since))
    }

    fn histories(&self, since: WallTime, each: &mut dyn FnMut(SeriesHistory)) -> Result<(), StoreError> {
        self.pool.read(|connection| mesh_rows::histories(connection, since, each))
    }

    fn points_behind(&self, record: u64) -> Result<Vec<Point>, StoreError> {
        self.pool.read(|connection| mesh_rows::points_behind(connection, record))
    }

    fn diagnosis(&self, incident: &IncidentId) -> Result<Option<String>, StoreError> {
        self.pool.read(|connection| mesh_rows::diagnosis(connection, &incident.0))
    }

    fn record(&self, key: u64) -> Result<Option<StoredRecord>, StoreError> {
        self.pool.read(|connection| records::one(connection, key))
    }

    fn newest(&self, query: RecordQuery<'_>) -> Result<Vec<StoredRecord>, StoreError> {
        self.pool.read(|connection| records::newest(connection, &query))
    }

    fn results_since(&self, since: WallTime, most: usize) -> Result<Vec<StoredRecord>, StoreError> {
        self.pool.read(|connection| records::results_since(connection, since, most))
    }

    fn newest_snapshot(&self, agent: &str) -> Result<Option<WallTime>, StoreError> {
        self.pool.read(|connection| records::newest_snapshot(connection, agent))
    }

    fn check(&self, now: WallTime) -> Result<(), StoreError> {
        self.pool.write(|connection| schema::touch(connection, now))
    }
}
