//! Where a round is that is measured at this moment.

use std::time::Duration;

use archive::rounds::has_result;
use archive::running::{PlannedTest, RunningRound};
use model::played::Finding;
use model::round::Tested;
use model::run::{Outcome, Run, RunId};
use serde::{Deserialize, Serialize};
use units::{DataRate, WallTime};

/// How far a round is, in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningLine {
    /// What it will be called in the archive.
    pub id: RunId,
    /// What its plan is called.
    pub title: String,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// How many tests are where.
    #[serde(flatten)]
    pub counts: Counts,
}

/// How many tests of a round are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All of them.
    pub tests: usize,
    /// Those that have ended, and those that will not be run.
    pub ended: usize,
    /// Of these, those without a result.
    pub failed: usize,
    /// Those that run now.
    pub running: usize,
    /// Whether somebody leads the round; what it has so far waits for the next one where nobody does.
    pub is_led: bool,
}

/// How far a round is, with its tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundProgress {
    /// How many tests are where.
    #[serde(flatten)]
    pub counts: Counts,
    /// Those that run, the next ones, then the latest that have ended: at most [`MOST_ROWS`] of each.
    pub rows: Vec<TestRow>,
}

/// A test of a round that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestRow {
    /// Where it is.
    pub state: TestState,
    /// What it is called.
    pub test: String,
    /// Host that asks.
    pub from: String,
    /// Host that answers.
    pub to: String,
    /// When it began, after the start of the round.
    #[serde(
        rename = "began_us",
        default,
        skip_serializing_if = "Option::is_none",
        with = "units::duration::as_us::option"
    )]
    pub began: Option<Duration>,
    /// Goodput of all directions together.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// Least RTT of an echo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_min_us: Option<u64>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Where a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestState {
    /// It is measured now.
    Running,
    /// It has not begun.
    Waiting,
    /// It has a result, or the reason why it has none.
    Ended,
}

impl Counts {
    fn of(running: &RunningRound) -> Self {
        let failed = running.ended.values().filter(|tested| !has_result(&tested.finding)).count();
        let left_out = running.left_out.len();
        let is_led = running.is_led;
        let under_way = if is_led { running.under_way.len() } else { 0 };
        let ended = running.ended.len() + left_out;
        // The journal of an older version does not have all tests.
        let tests = running.planned.len().max(ended + under_way);
        Self { tests, ended, failed: failed + left_out, running: under_way, is_led }
    }
}

impl RunningLine {
    pub(crate) fn of(running: &RunningRound) -> Self {
        let round = &running.round;
        Self { id: round.id, title: round.title.clone(), started: round.started, counts: Counts::of(running) }
    }
}

impl RoundProgress {
    pub(crate) fn of(running: &RunningRound) -> Self {
        let counts = Counts::of(running);
        let planned = |state: TestState, test: &PlannedTest| TestRow {
            state,
            test: test.label.clone(),
            from: test.from.clone(),
            to: test.to.clone(),
            began: None,
            goodput: None,
            rtt_min_us: None,
            failure: None,
        };
        let under_way = running.under_way.iter().filter(|_| counts.is_led).filter_map(|(slot, began)| {
            Some(TestRow { began: Some(*began), ..planned(TestState::Running, running.planned.get(*slot)?) })
        });
        let is_waiting = |slot: &usize| {
            !running.ended.contains_key(slot)
                && !running.under_way.contains_key(slot)
                && !running.left_out.contains(slot)
        };
        let next = running.planned.iter().enumerate().filter(|(slot, _)| is_waiting(slot));
        let next = next.map(|(_, test)| planned(TestState::Waiting, test));
        let ended = running.round.tests.iter().rev().map(TestRow::ended);
        let rows = under_way.take(MOST_ROWS).chain(next.take(MOST_NEXT)).chain(ended.take(MOST_ROWS));
        Self { counts, rows: rows.collect() }
    }
}

impl TestRow {
    fn ended(tested: &Tested) -> Self {
        let goodput = match &tested.finding {
            Finding::Run(run) => goodput(run),
            _ => None,
        };
        let rtt_min_us = match &tested.finding {
            Finding::Echo(echo) => echo.summary.rtt.min_us,
            _ => None,
        };
        Self {
            state: TestState::Ended,
            test: tested.label.clone(),
            from: tested.from.host.clone(),
            to: tested.to.host.clone(),
            began: Some(tested.began),
            goodput,
            rtt_min_us,
            failure: failure(&tested.finding),
        }
    }
}

/// Of all directions together.
fn goodput(run: &Run) -> Option<DataRate> {
    let totals = run.measurement.as_ref().map(|found| found.totals.as_slice()).unwrap_or_default();
    (!totals.is_empty()).then(|| DataRate::from_bps(totals.iter().map(|total| total.goodput.bps()).sum()))
}

/// Why a test has no result.
fn failure(finding: &Finding) -> Option<String> {
    let of = |outcome: &Outcome| match outcome {
        Outcome::Complete => None,
        Outcome::Failed(failure) => Some(failure.detail.clone()),
    };
    match finding {
        Finding::Run(found) => of(&found.outcome),
        Finding::Echo(found) => of(&found.outcome),
        Finding::PathMtu(found) => of(&found.outcome),
        Finding::Hops(found) => of(&found.outcome),
        Finding::Downloads(found) => found.iter().find_map(|found| of(&found.outcome)),
        Finding::Nothing { detail } => Some(detail.clone()),
    }
}

/// Rows of a kind that a page lists.
pub const MOST_ROWS: usize = 50;
/// Tests that come next.
const MOST_NEXT: usize = 12;
