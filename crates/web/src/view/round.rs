//! What there is to see of a round.

use std::collections::BTreeMap;
use std::time::Duration;

use model::round::{Member, Round, Segment};
use model::run::RunId;
use serde::{Deserialize, Serialize};
use units::WallTime;

use super::matrix::{FIRST, GOOD, Matrix, Scale};
use super::progress::RoundProgress;

/// A round without its tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundView {
    /// Its name in the archive.
    pub id: RunId,
    /// What its plan is called.
    pub title: String,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// How long it took.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    pub elapsed: Duration,
    /// How many tests it has.
    pub tests: usize,
    /// Where it is, while it is measured; absent once it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<RoundProgress>,
    /// Hosts in the order of the plan, those that took no part included.
    pub hosts: Vec<HostLine>,
    /// Links between hosts, as far as they are known.
    pub segments: Vec<Segment>,
    /// Its grids, the most telling first.
    pub metrics: Vec<Metric>,
    /// The grid with the worst pair, to be shown first; absent where none is below the best grade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// A host of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLine {
    /// Its name in the plan.
    pub name: String,
    /// What distinguishes it: `role`, `site`, `nic`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Why it took no part, or ceased to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A grid that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// What the address of the grid calls it.
    pub key: String,
    /// What people call it.
    pub title: String,
}

/// A round without its tests, with the grids that were made of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundOutline {
    /// Its name in the archive.
    pub id: RunId,
    /// What its plan is called.
    pub title: String,
    /// When it started.
    pub started: WallTime,
    /// How long it took.
    pub elapsed: Duration,
    /// How many tests it has.
    pub tests: usize,
    /// Hosts in the order of the plan, those that took no part included.
    pub hosts: Vec<HostLine>,
    /// Links between hosts, as far as they are known.
    pub segments: Vec<Segment>,
    /// Its grids, the most telling first.
    pub matrices: Vec<Matrix>,
}

impl HostLine {
    /// A member of a round, without its facts.
    #[must_use]
    pub fn of(member: &Member) -> Self {
        Self { name: member.name.clone(), attributes: member.attributes.clone(), failure: member.failure.clone() }
    }
}

impl RoundOutline {
    pub(crate) fn of(round: &Round, matrices: Vec<Matrix>) -> Self {
        Self {
            id: round.id,
            title: round.title.clone(),
            started: round.started,
            elapsed: round.elapsed,
            tests: round.tests.len(),
            hosts: round.members.iter().map(HostLine::of).collect(),
            segments: round.segments.clone(),
            matrices,
        }
    }
}

impl RoundView {
    pub(crate) fn of(outline: &RoundOutline, progress: Option<RoundProgress>) -> Self {
        let metric = |matrix: &Matrix| Metric { key: matrix.key.clone(), title: matrix.title.clone() };
        let RoundOutline { id, title, started, elapsed, tests, hosts, segments, matrices } = outline;
        Self {
            id: *id,
            title: title.clone(),
            started: *started,
            elapsed: *elapsed,
            tests: *tests,
            progress,
            hosts: hosts.clone(),
            segments: segments.clone(),
            metrics: matrices.iter().map(metric).collect(),
            worst: worst(matrices),
        }
    }
}

/// The grid with the pair that does the smallest part of what it should, of those below the best grade.
fn worst(matrices: &[Matrix]) -> Option<String> {
    let lowest = |matrix: &Matrix| {
        let is_worse = |code: &&u8| matrix.scale == Scale::Expectation && (FIRST..FIRST + GOOD).contains(*code);
        matrix.codes.iter().filter(is_worse).min().map(|code| (*code, matrix.key.clone()))
    };
    matrices.iter().filter_map(lowest).min_by_key(|(code, _)| *code).map(|(_, key)| key)
}
