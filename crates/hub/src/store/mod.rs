//! What a hub keeps.
//!
//! * [`rows`]: what is stored, by its nouns
//! * [`sqlite`]: in one file beside the hub
//!
//! A call returns when what it stored is on disk. Calls block: the server makes them on threads that may wait.

pub mod rows;
pub mod sqlite;

use std::fmt::Debug;

use units::WallTime;

use crate::api::record::Verdict;
use crate::api::work::AgentHealth;
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;
use rows::{AgentRow, Arrival, Redeemed, TokenRow};

/// What a hub keeps, wherever that is.
pub trait Store: Debug + Send + Sync {
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

    /// Stores what an agent delivers; a verdict for each, in their order.
    ///
    /// # Errors
    /// Where the database refuses; nothing of it is stored then.
    fn deliver(&self, agent: &str, arrivals: Vec<Arrival>, now: WallTime) -> Result<Vec<Verdict>, StoreError>;

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

/// Why the database refuses.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite does.
    #[error("the hub's database refuses")]
    Sqlite(#[from] rusqlite::Error),
    /// It cannot be made or entered.
    #[error("the hub's database cannot be opened")]
    Open(#[from] std::io::Error),
    /// A newer hub has written it.
    #[error("the hub's database has version {found}, this program knows {known}: use a newer linerate")]
    Newer {
        /// Version of the tables in the file.
        found: i32,
        /// The newest that this program knows.
        known: i32,
    },
    /// A row cannot be written or read as JSON.
    #[error("a row of the hub's database is not understood")]
    Row(#[from] serde_json::Error),
    /// The thread that writes has ended.
    #[error("the hub's database is closed")]
    Closed,
}
