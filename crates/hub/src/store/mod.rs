//! What a hub keeps.
//!
//! * [`rows`]: what is stored, by its nouns
//! * [`segments`]: which runs have their samples in which segment
//! * [`people`]: accounts, sessions, what people did and wrote
//! * `error`: why a database refuses
//! * `histories`: rows as histories of series
//! * `integers`: times and counts as databases have them
//! * [`turn`]: how hubs that share a database change runs one after the other
//! * [`mod@open`]: which database a hub has
//! * [`sqlite`]: in one file beside the hub
//! * [`postgres`]: in a PostgreSQL that several hubs share
//!
//! A call returns when what it stored is on disk. Calls block: the server makes them on threads that may wait.

mod error;
mod histories;
mod integers;
pub mod open;
pub mod people;
pub mod postgres;
pub mod rows;
pub mod segments;
pub mod sqlite;
pub mod turn;

use std::fmt::Debug;

use mesh::incident::{IncidentId, Series};
use mesh::run::RunRow;
use units::WallTime;

use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;
pub use error::StoreError;
use people::People;
use rows::{
    AgentRow, Judgement, Judging, JudgingClaim, MeshRows, Point, RecordQuery, Redeemed, Revision, SeriesHistory,
    StoredRecord, TokenRow,
};
use segments::SegmentIndex;
use turn::{News, OpenRuns, Turn, TurnRequest};

/// What a hub keeps, wherever that is.
pub trait Store: People + SegmentIndex + Debug + Send + Sync {
    /// The authority of the hubs whose database this is; `own` from now on where there is none yet.
    ///
    /// # Errors
    /// Where the database refuses.
    fn authority(&self, own: Option<Fingerprint>) -> Result<Option<Fingerprint>, StoreError>;

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

    /// Begins a turn of this hub: until it ends, no other changes runs.
    ///
    /// # Errors
    /// Where the database refuses, or another hub takes too long.
    fn turn(&self, request: TurnRequest<'_>) -> Result<(News, Box<dyn Turn + '_>), StoreError>;

    /// The plan, and what was made of records.
    ///
    /// # Errors
    /// Where the database refuses.
    fn mesh(&self) -> Result<MeshRows, StoreError>;

    /// Runs by their names, those that are over as well.
    ///
    /// # Errors
    /// Where the database refuses.
    fn runs(&self, names: &[String]) -> Result<Vec<RunRow>, StoreError>;

    /// Runs that agents have now or had when they fell silent, and those that are due next: so many of both together.
    ///
    /// # Errors
    /// Where the database refuses.
    fn open_runs(&self, most: usize) -> Result<OpenRuns, StoreError>;

    /// Results and changes behind a record, in their order.
    ///
    /// # Errors
    /// Where the database refuses.
    fn unjudged(&self, after: u64, most: usize) -> Result<Vec<StoredRecord>, StoreError>;

    /// Whether this hub is the one that judges records now. The others show what it finds; one of them goes on when it is silent.
    ///
    /// # Errors
    /// Where the database refuses.
    fn judging(&self, claim: JudgingClaim) -> Result<Judging, StoreError>;

    /// Keeps what was made of records, by the hub that judges; the revision at which it stands then.
    ///
    /// # Errors
    /// Where the database refuses, or another hub judges by now; nothing of it is stored then.
    fn judged(&self, judgement: Judgement) -> Result<Revision, StoreError>;

    /// What was measured since a moment, in order of time: of one series, or of all.
    ///
    /// # Errors
    /// Where the database refuses.
    fn points(&self, series: Option<&Series>, since: WallTime) -> Result<Vec<Point>, StoreError>;

    /// Hands over what was measured since a moment, one series after the other, each in order of time: of a million series nobody has to
    /// hold more than what is made of them.
    ///
    /// # Errors
    /// Where the database refuses: some may have been handed over.
    fn histories(&self, since: WallTime, each: &mut dyn FnMut(SeriesHistory)) -> Result<(), StoreError>;

    /// What records behind one of them have measured, in order of records.
    ///
    /// # Errors
    /// Where the database refuses.
    fn points_behind(&self, record: u64) -> Result<Vec<Point>, StoreError>;

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

    /// Results that came since a moment, the first of them first.
    ///
    /// # Errors
    /// Where the database refuses.
    fn results_since(&self, since: WallTime, most: usize) -> Result<Vec<StoredRecord>, StoreError>;

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
