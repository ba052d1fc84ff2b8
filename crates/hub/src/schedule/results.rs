//! What a delivery makes of runs.

use mesh::board::{Delivery, Rows};
use mesh::run::{Outcome, RunId, Verdict as RunVerdict};
use model::played::Finding;
use model::run::Outcome as TestOutcome;
use units::{ByteCount, WallTime};

use super::Schedule;
use crate::api::order::LeaseName;
use crate::api::record::{RecordKind, RunResult, Verdict};
use crate::store::rows::Arrival;
use crate::store::{Delivered, Pending, Store, StoreError};

/// Records by what is done with them.
#[derive(Debug, Default)]
pub struct Sorted {
    /// A verdict for each record; [`None`] for those that go to the database, which has theirs.
    pub verdicts: Vec<Option<Verdict>>,
    /// The verdicts of the others, once they are on disk.
    pub pending: Option<Pending<Vec<Verdict>>>,
}

impl Schedule {
    /// Sorts what an agent delivers, and hands what is kept to the database together with what became of its runs.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn deliver(
        &self,
        store: &dyn Store,
        agent: &str,
        arrivals: Vec<Arrival>,
        now: WallTime,
    ) -> Result<Sorted, StoreError> {
        let mut guard = self.fresh(store)?;
        let state = &mut *guard;
        let names = unknown(&state.board, &arrivals);
        if !names.is_empty() {
            // A run that is over here may get its result yet, and one that another hub has planned is stored.
            let runs = store.runs(&names)?;
            state.board.load(Rows { runs, ..Rows::default() });
        }
        let (mut verdicts, mut kept) = (Vec::new(), Vec::new());
        for arrival in arrivals {
            let verdict = match &arrival.record.kind {
                RecordKind::Change | RecordKind::Snapshot => None,
                RecordKind::Result { lease } => match outcome(&arrival) {
                    Err(reason) => Some(Verdict::Refused { reason }),
                    Ok(outcome) => {
                        let is_light = state
                            .planned
                            .as_ref()
                            .is_some_and(|planned| planned.light(agent, &RunId(lease.run.clone())).is_some());
                        // The database knows whether it has the result: what was not committed is not acknowledged.
                        if is_light { None } else { of_run(&mut state.board, agent, lease, outcome, now) }
                    }
                },
            };
            if verdict.is_none() {
                if let RecordKind::Result { lease } = &arrival.record.kind {
                    state.partners.over(&lease.into());
                }
                kept.push(arrival);
            }
            verdicts.push(verdict);
        }
        let rows = state.board.take_changes();
        state.board.forget_over();
        let pending = store.deliver(Delivered { agent: agent.to_owned(), arrivals: kept, rows, at: now })?;
        Ok(Sorted { verdicts, pending: Some(pending) })
    }

    /// The database has refused a delivery.
    pub fn delivery_refused(&self) {
        self.refused();
    }
}

fn unknown(board: &mesh::board::Board, arrivals: &[Arrival]) -> Vec<String> {
    let names = arrivals.iter().filter_map(|arrival| match &arrival.record.kind {
        RecordKind::Result { lease } => Some(lease.run.clone()),
        RecordKind::Change | RecordKind::Snapshot => None,
    });
    names.filter(|name| board.run(&RunId(name.clone())).is_none()).collect()
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
        _ => Outcome::Measured { bytes: ByteCount::new(0) },
    })
}
