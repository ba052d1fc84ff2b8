//! What a delivery makes of runs.

use mesh::board::Delivery;
use mesh::run::{Outcome, RunId, Verdict as RunVerdict};
use model::played::Finding;
use model::probe::download::Download;
use model::run::Outcome as TestOutcome;
use units::{ByteCount, WallTime};

use super::Schedule;
use super::state::State;
use super::turns::{Needs, Stored};
use crate::api::order::LeaseName;
use crate::api::record::{RecordKind, RunResult, Verdict};
use crate::store::rows::{Arrival, Delivered};
use crate::store::{Store, StoreError};

impl Schedule {
    /// Stores what an agent delivers together with what became of its runs: a verdict for each record, in their order, once they
    /// are on disk.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn deliver(
        &self,
        store: &dyn Store,
        agent: &str,
        arrivals: Vec<Arrival>,
        now: WallTime,
    ) -> Result<Vec<Verdict>, StoreError> {
        // A run that is over here may get its result yet, and one that another hub has planned is stored.
        let runs = arrivals.iter().filter_map(|arrival| Some(lease(arrival)?.run.clone())).collect();
        let outcomes: Vec<Option<Result<Outcome, String>>> =
            arrivals.iter().map(|arrival| lease(arrival).map(|_| outcome(arrival))).collect();
        let agent = agent.to_owned();
        let sort = move |state: &mut State| {
            let (mut verdicts, mut kept) = (Vec::new(), Vec::new());
            for (arrival, outcome) in arrivals.into_iter().zip(outcomes) {
                let verdict = state.verdict(&agent, &arrival, outcome, now);
                if verdict.is_none() {
                    kept.push(arrival);
                }
                verdicts.push(verdict);
            }
            (verdicts, Stored { delivered: Some(Delivered { agent, arrivals: kept, at: now }), ..Stored::default() })
        };
        let (verdicts, kept) = self.change(store, Needs { runs, heard_within: None }, sort)?;
        let mut kept = kept.into_iter();
        let verdicts = verdicts.into_iter().map(|own| own.or_else(|| kept.next()).unwrap_or(Verdict::Unwanted));
        Ok(verdicts.collect())
    }
}

impl State {
    /// What becomes of a record; [`None`] where it goes to the database, which has its verdict.
    fn verdict(
        &mut self,
        agent: &str,
        arrival: &Arrival,
        outcome: Option<Result<Outcome, String>>,
        now: WallTime,
    ) -> Option<Verdict> {
        let (lease, outcome) = lease(arrival).zip(outcome)?;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(reason) => return Some(Verdict::Refused { reason }),
        };
        let is_light =
            self.planned.as_ref().is_some_and(|planned| planned.light(agent, &RunId(lease.run.clone())).is_some());
        // The database knows whether it has the result.
        if is_light { None } else { of_run(&mut self.board, agent, lease, outcome, now) }
    }
}

/// The lease that a record is the result of.
const fn lease(arrival: &Arrival) -> Option<&LeaseName> {
    match &arrival.record.kind {
        RecordKind::Result { lease } => Some(lease),
        RecordKind::Change | RecordKind::Snapshot => None,
    }
}

fn of_run(
    board: &mut mesh::board::Board,
    agent: &str,
    lease: &LeaseName,
    outcome: Outcome,
    now: WallTime,
) -> Option<Verdict> {
    let name = mesh::run::LeaseName::from(lease);
    if board.run(&name.run).is_some_and(|run| run.agent != agent) {
        return Some(Verdict::Refused { reason: "the run is another agent's".to_owned() });
    }
    match board.deliver(&Delivery { lease: name, outcome }, now) {
        RunVerdict::Stored | RunVerdict::Late | RunVerdict::Duplicate => None,
        RunVerdict::Superseded => Some(Verdict::Unwanted),
        RunVerdict::Unknown => Some(Verdict::Refused { reason: "the hub knows no such run".to_owned() }),
    }
}

/// What came of a run, as far as its schedule has to know.
fn outcome(arrival: &Arrival) -> Result<Outcome, String> {
    let result: RunResult =
        serde_json::from_slice(&arrival.unpacked.content).map_err(|error| format!("no result of a run: {error}"))?;
    Ok(match result.finding {
        Finding::Nothing { detail } => Outcome::Failed { reason: detail },
        Finding::Run(run) => match run.outcome {
            TestOutcome::Failed(failure) => Outcome::Failed { reason: failure.detail },
            TestOutcome::Complete => {
                let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
                let bytes = totals.filter_map(|total| total.received.or(total.sent)).map(ByteCount::get).sum();
                Outcome::Measured { bytes: ByteCount::new(bytes) }
            }
        },
        Finding::Downloads(downloads) => of_downloads(&downloads),
        _ => Outcome::Measured { bytes: ByteCount::new(0) },
    })
}

/// Files that came count, and those of which a part came.
fn of_downloads(downloads: &[Download]) -> Outcome {
    let failure = |download: &Download| match &download.outcome {
        TestOutcome::Failed(failure) => Some(failure.detail.clone()),
        TestOutcome::Complete => None,
    };
    let failures: Vec<String> = downloads.iter().filter_map(failure).collect();
    match failures.first() {
        Some(reason) if failures.len() == downloads.len() => Outcome::Failed { reason: reason.clone() },
        _ => Outcome::Measured { bytes: ByteCount::new(downloads.iter().map(|one| one.body.get()).sum()) },
    }
}
