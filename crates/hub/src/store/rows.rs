//! What is stored, by its nouns.

use std::sync::Arc;

use mesh::incident::{Incident, IncidentId, Series};
use units::WallTime;

use crate::api::record::{Record, Unpacked};
use crate::api::work::AgentHealth;
use crate::trust::digest::Fingerprint;
use crate::trust::token::Purpose;

/// How often something was changed, by whichever hub: 0 before anything is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Revision(pub u64);

impl Revision {
    /// Of a database that one hub has alone: what is known once is known.
    pub const ONLY: Self = Self(1);
}

/// A token, by its hash: the secret itself is nowhere at the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// The SHA-256 of its secret.
    pub hash: Fingerprint,
    /// What it is for.
    pub purpose: Purpose,
    /// Until when it counts.
    pub expires: WallTime,
}

/// What has become of a token of one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redeemed {
    /// It is used now, or was used by the same key.
    Accepted,
    /// There is none of this hash, or it is for something else.
    Unknown,
    /// It came too late.
    Expired,
    /// Another key has used it.
    Used,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Name of the agent, unique at the hub.
    pub name: String,
    /// The SHA-256 of its public key.
    pub key: Fingerprint,
    /// The SHA-256 of its certificate.
    pub certificate: Fingerprint,
    /// By what others reach it, where it said so.
    pub address: Option<String>,
    /// When it joined.
    pub joined: WallTime,
    /// When it was heard last.
    pub heard: Option<WallTime>,
    /// Its version then.
    pub version: Option<String>,
    /// How it was then.
    pub health: AgentHealth,
}

/// A record that has come, read.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// As it came.
    pub record: Record,
    /// What is in it.
    pub unpacked: Unpacked,
}

/// The plan, and what was made of records. Runs are read in turns.
#[derive(Debug, Clone, Default)]
pub struct MeshRows {
    /// The plan, as it was given.
    pub plan: Option<String>,
    /// Until when runs are planned.
    pub planned: Option<WallTime>,
    /// The last record that was judged.
    pub judged: u64,
    /// How far what was made of records has come.
    pub revision: Revision,
    /// All incidents, in the order of opening.
    pub incidents: Vec<Incident>,
}

/// A record as it is stored.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// Its place among all records.
    pub key: u64,
    /// Who delivered it.
    pub agent: String,
    /// `result`, `change` or `snapshot`.
    pub kind: String,
    /// The run that it is the result of.
    pub run: Option<String>,
    /// When it came.
    pub received: WallTime,
    /// JSON compressed by zstd.
    pub content: Vec<u8>,
    /// Packed samples of a run.
    pub samples: Option<Vec<u8>>,
}

/// A result of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Of which series.
    pub series: Series,
    /// When it was measured.
    pub at: WallTime,
    /// In the unit of its metric.
    pub value: f64,
    /// What it was once its transfer had started, where that is known: for what the plan expects, and not stored.
    pub settled: Option<f64>,
    /// Whether it counts: what an overloaded host measured is kept and not judged.
    pub good: PointQuality,
    /// The record that it is from.
    pub record: u64,
}

/// A result of a series that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesResult {
    /// When it was measured.
    pub at: WallTime,
    /// In the unit of its metric.
    pub value: f64,
    /// Whether it counts.
    pub good: PointQuality,
    /// The record that it is from.
    pub record: u64,
}

impl SeriesResult {
    /// That of a point.
    #[must_use]
    pub const fn of(point: &Point) -> Self {
        Self { at: point.at, value: point.value, good: point.good, record: point.record }
    }
}

/// What was measured of a series, in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesHistory {
    /// Of which series: shared, since a mesh of a thousand hosts has a million.
    pub series: Arc<Series>,
    /// Its results, at least one.
    pub results: Vec<SeriesResult>,
}

/// Whether a result can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointQuality {
    /// It is judged.
    Good,
    /// It is kept and not judged.
    Poor,
}

/// What was made of records.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// The last record that was judged.
    pub upto: Option<u64>,
    /// What they have measured.
    pub points: Vec<Point>,
    /// Incidents that are new or have changed.
    pub incidents: Vec<Incident>,
    /// Diagnoses as JSON, over earlier ones of the same incident.
    pub diagnoses: Vec<(IncidentId, String)>,
}

/// Which records of agents are asked for: the newest of a kind.
#[derive(Debug, Clone, Copy)]
pub struct RecordQuery<'a> {
    /// `change` or `snapshot`.
    pub kind: &'a str,
    /// Of one agent.
    pub agent: Option<&'a str>,
    /// Came since then.
    pub since: WallTime,
    /// At most so many.
    pub most: usize,
}

/// What an agent delivers.
#[derive(Debug, Default)]
pub struct Delivered {
    /// Who delivers.
    pub agent: String,
    /// Records that are to be stored.
    pub arrivals: Vec<Arrival>,
    /// When.
    pub at: WallTime,
}

/// How an agent was when it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentContact {
    /// Agent that has asked for work.
    pub agent: String,
    /// When.
    pub at: WallTime,
    /// Its version of linerate.
    pub version: String,
    /// What it said of itself.
    pub health: AgentHealth,
}

/// How a hub asks to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgingClaim {
    /// It goes on where it judges already, or nobody does.
    IfFree,
    /// A person wants something done about an incident here and now.
    TakeOver,
}

/// Whether a hub judges, and how what is stored has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judging {
    /// It does, of what stands at this revision.
    Own(Revision),
    /// Another does, and has come to this revision.
    Others(Revision),
}
