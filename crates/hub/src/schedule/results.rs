//! What a delivery makes of runs.

use mesh::board::Delivery;
use mesh::run::{Outcome, RunId, Verdict as RunVerdict};
use model::measurement::DirectionTotal;
use model::probe::download::Download;
use model::run::Outcome as TestOutcome;
use serde::Deserialize;
use serde::de::IgnoredAny;
use units::{ByteCount, WallTime};

use super::Schedule;
use super::state::State;
use super::turns::{Needs, Stored};
use crate::api::order::LeaseName;
use crate::api::record::{RecordKind, Verdict};
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

impl Schedule {
    /// Stores a result that no agent was asked for.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn keep(&self, store: &dyn Store, host: &str, arrival: Arrival, now: WallTime) -> Result<Verdict, StoreError> {
        let delivered = Delivered { agent: host.to_owned(), arrivals: vec![arrival], at: now };
        let stored = Stored { delivered: Some(delivered), ..Stored::default() };
        let ((), verdicts) = self.change(store, Needs::default(), move |_| ((), stored))?;
        Ok(verdicts.into_iter().next().unwrap_or(Verdict::Unwanted))
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
        RecordKind::Change | RecordKind::Snapshot | RecordKind::Transfers => None,
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
    let Glance { finding } =
        serde_json::from_slice(&arrival.unpacked.content).map_err(|error| format!("no result of a run: {error}"))?;
    Ok(match finding {
        FindingGlance::Nothing { detail } => Outcome::Failed { reason: detail },
        FindingGlance::Run(run) => match run.outcome {
            TestOutcome::Failed(failure) => Outcome::Failed { reason: failure.detail },
            TestOutcome::Complete => {
                let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
                let bytes = totals.filter_map(|total| total.received.or(total.sent)).map(ByteCount::get).sum();
                Outcome::Measured { bytes: ByteCount::new(bytes) }
            }
        },
        FindingGlance::Downloads(downloads) => of_downloads(&downloads),
        FindingGlance::Echo(_) | FindingGlance::PathMtu(_) | FindingGlance::Hops(_) => {
            Outcome::Measured { bytes: ByteCount::new(0) }
        }
    })
}

/// [`RunResult`](crate::api::record::RunResult), of which the most is passed over: a run has a thousand counters of its hosts, whose
/// reading is most of what a delivery would cost. Who judges reads all of it.
#[derive(Deserialize)]
struct Glance {
    finding: FindingGlance,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "result")]
enum FindingGlance {
    Run(RunGlance),
    Echo(IgnoredAny),
    PathMtu(IgnoredAny),
    Hops(IgnoredAny),
    Downloads(Vec<Download>),
    Nothing { detail: String },
}

#[derive(Deserialize)]
struct RunGlance {
    outcome: TestOutcome,
    measurement: Option<MeasurementGlance>,
}

#[derive(Deserialize)]
struct MeasurementGlance {
    totals: Vec<DirectionTotal>,
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

#[cfg(test)]
mod tests {
    use model::played::Finding;
    use model::run::Run;
    use serde_json::json;
    use units::WallTime;

    use super::*;
    use crate::api::record::{Record, RunResult};

    /// What the schedule hears of a result.
    fn heard(finding: Finding) -> Outcome {
        let result = RunResult { began: WallTime::from_unix_nanos(1), finding };
        let lease = LeaseName { run: "t@all/a/b/1".to_owned(), attempt: 1 };
        let content = serde_json::to_vec(&result).unwrap();
        let record = Record::pack("r".to_owned(), RecordKind::Result { lease }, &content, None).unwrap();
        outcome(&Arrival { unpacked: record.unpack().unwrap(), record }).unwrap()
    }

    fn run(outcome: &serde_json::Value) -> Finding {
        let run: Run = serde_json::from_value(json!({
            "format": 1, "id": "01JC0000000000000000000000", "started_unix_ns": 1, "role": "client", "command": [],
            "spec": model::spec::TestSpec::default(), "local": { "name": "a" }, "peer": { "target": "b" }, "outcome": outcome,
        }))
        .unwrap();
        Finding::Run(Box::new(run))
    }

    #[test]
    fn each_kind_of_finding_is_understood_at_a_glance() {
        let complete = run(&json!({ "state": "complete" }));
        assert_eq!(heard(complete), Outcome::Measured { bytes: ByteCount::new(0) });
        let failed = run(&json!({ "state": "failed", "kind": "refused", "detail": "busy" }));
        assert_eq!(heard(failed), Outcome::Failed { reason: "busy".to_owned() });
        assert_eq!(heard(Finding::Downloads(Vec::new())), Outcome::Measured { bytes: ByteCount::new(0) });
        let nothing = Finding::Nothing { detail: "no partner".to_owned() };
        assert_eq!(heard(nothing), Outcome::Failed { reason: "no partner".to_owned() });
    }
}
