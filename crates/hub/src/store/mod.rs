//! What a hub keeps.
//!
//! * [`rows`]: what is stored, by its nouns
//! * [`people`]: accounts, sessions, what people did and wrote
//! * `error`: why a database refuses
//! * [`sqlite`]: in one file beside the hub
//!
//! A call returns when what it stored is on disk. Calls block: the server makes them on threads that may wait.

mod error;
pub mod people;
pub mod rows;
pub mod sqlite;

use std::fmt::Debug;
use std::sync::mpsc::Receiver;

use mesh::board::Rows;
use mesh::incident::{IncidentId, Series};
use mesh::run::RunRow;
use units::WallTime;

use crate::api::record::Verdict;
use crate::api::work::AgentHealth;
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;
pub use error::StoreError;
use people::People;
use rows::{AgentRow, Arrival, Judgement, MeshRows, Point, RecordQuery, Redeemed, StoredRecord, TokenRow};

/// What a hub keeps, wherever that is.
pub trait Store: People + Debug + Send + Sync {
    /// Keeps a token, by its hash.
    ///
    /// # Errors
    /// Where the database refuses, as for every call of this trait.
    fn add_token(&self, token: TokenRow) -> Result<(), StoreError>;

    /// What a token that is shown with every request opens now.
    ///
    /// # Errors
    /// Where the database refuses.
    fn bearer(&self, hash: Fingerprint, now: WallTime) -> Result<Option<Purpose>, StoreError>;

    /// Uses up a token of one use, for one key: the same key may come again, should its answer have been lost.
    ///
    /// # Errors
    /// Where the database refuses.
    fn redeem(&self, hash: Fingerprint, key: Fingerprint, now: WallTime) -> Result<Redeemed, StoreError>;

    /// Adds an agent, or another certificate of one that has joined with the same key. Whether it did: a name belongs to
    /// the key that had it first.
    ///
    /// # Errors
    /// Where the database refuses.
    fn add_agent(&self, agent: AgentRow) -> Result<bool, StoreError>;

    /// The agent with this certificate.
    ///
    /// # Errors
    /// Where the database refuses.
    fn agent_of(&self, certificate: Fingerprint) -> Result<Option<String>, StoreError>;

    /// All agents, by name.
    ///
    /// # Errors
    /// Where the database refuses.
    fn agents(&self) -> Result<Vec<AgentRow>, StoreError>;

    /// Forgets an agent: its certificate opens nothing any more. Whether there was one.
    ///
    /// # Errors
    /// Where the database refuses.
    fn remove_agent(&self, name: &str) -> Result<bool, StoreError>;

    /// An agent was heard.
    ///
    /// # Errors
    /// Where the database refuses.
    fn heard(&self, agent: &str, how: AgentContact) -> Result<(), StoreError>;

    /// Stores what an agent delivers, and in the same transaction what became of runs; a verdict for each record, in their
    /// order. What is handed over first is stored first, whoever waits first.
    ///
    /// # Errors
    /// Where the database refuses; nothing of it is stored then.
    fn deliver(&self, delivered: Delivered) -> Result<Pending<Vec<Verdict>>, StoreError>;

    /// What a hub starts with.
    ///
    /// # Errors
    /// Where the database refuses.
    fn mesh(&self) -> Result<MeshRows, StoreError>;

    /// Stores runs, requests and budgets.
    ///
    /// # Errors
    /// Where the database refuses; nothing of it is stored then.
    fn save(&self, rows: Rows, planned: Option<WallTime>) -> Result<Pending<()>, StoreError>;

    /// Runs by their names, those that are over as well.
    ///
    /// # Errors
    /// Where the database refuses.
    fn runs(&self, names: &[String]) -> Result<Vec<RunRow>, StoreError>;

    /// Keeps the plan.
    ///
    /// # Errors
    /// Where the database refuses.
    fn set_plan(&self, text: &str) -> Result<(), StoreError>;

    /// Results and changes behind a record, in their order.
    ///
    /// # Errors
    /// Where the database refuses.
    fn unjudged(&self, after: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError>;

    /// Keeps what was made of records.
    ///
    /// # Errors
    /// Where the database refuses; nothing of it is stored then.
    fn judged(&self, judgement: Judgement) -> Result<(), StoreError>;

    /// What was measured since a moment, in order of time: of one series, or of all.
    ///
    /// # Errors
    /// Where the database refuses.
    fn points(&self, series: Option<&Series>, since: WallTime) -> Result<Vec<Point>, StoreError>;

    /// The diagnosis of an incident, as JSON.
    ///
    /// # Errors
    /// Where the database refuses.
    fn diagnosis(&self, incident: &IncidentId) -> Result<Option<String>, StoreError>;

    /// A record with its content.
    ///
    /// # Errors
    /// Where the database refuses.
    fn record(&self, key: u64) -> Result<Option<StoredRecord>, StoreError>;

    /// The newest records of a kind, newest first.
    ///
    /// # Errors
    /// Where the database refuses.
    fn newest(&self, query: RecordQuery<'_>) -> Result<Vec<StoredRecord>, StoreError>;

    /// When the newest facts of an agent's host came.
    ///
    /// # Errors
    /// Where the database refuses.
    fn newest_snapshot(&self, agent: &str) -> Result<Option<WallTime>, StoreError>;

    /// Whether the database takes writes.
    ///
    /// # Errors
    /// Where it does not.
    fn check(&self, now: WallTime) -> Result<(), StoreError>;
}

/// What an agent delivers, and what became of its runs with that.
#[derive(Debug, Default)]
pub struct Delivered {
    /// Who delivers.
    pub agent: String,
    /// Records that are to be stored.
    pub arrivals: Vec<Arrival>,
    /// Rows that change with them.
    pub rows: Rows,
    /// When.
    pub at: WallTime,
}

/// What is handed to the database, in its order, and not on disk yet.
#[derive(Debug)]
pub struct Pending<T>(pub(crate) Receiver<Result<T, StoreError>>);

impl<T> Pending<T> {
    /// Waits until it is on disk.
    ///
    /// # Errors
    /// Where the database refuses: nothing of it is stored.
    pub fn wait(self) -> Result<T, StoreError> {
        self.0.recv().map_err(|_| StoreError::Closed)?
    }
}

/// How an agent was when it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentContact {
    /// When.
    pub at: WallTime,
    /// Its version of linerate.
    pub version: String,
    /// What it said of itself.
    pub health: AgentHealth,
}
