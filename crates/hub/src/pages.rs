//! What a hub has, as the pages of `web` show it: read from its database, so that pages are the same in the hub and beside it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Incident, IncidentId, Metric, Series};
use model::archived::ListedRun;
use model::host::change::{ChangeEntry, LoggedChange};
use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Round, RoundSummary};
use model::run::{Run, RunId};
use units::WallTime;
use web::source::files::{round_summary, run_summary};
use web::source::results::{self, PairResult};
use web::source::{IncidentRecord, IncidentReport, Pair, Source, SourceError, StoredRun};

use crate::api::record::{RunResult, content};
use crate::reports::{Postmortem, postmortem};
use crate::schedule::planned::Planned;
use crate::segments::samples;
use crate::segments::target::SegmentTarget;
use crate::store::rows::{Point, RecordQuery, StoredRecord};
use crate::store::{Store, StoreError};
use crate::watching::{latest_round, newest_facts};

/// A hub's database, as pages read it.
#[derive(Debug)]
pub struct HubSource {
    name: String,
    store: Arc<dyn Store>,
    /// Where samples are that have left the database.
    segments: Option<Arc<SegmentTarget>>,
    planned: Mutex<Option<Arc<Planned>>>,
    /// Rounds of latest results that somebody looks at.
    rounds: Mutex<Vec<Arc<Round>>>,
}

impl HubSource {
    /// Of a database and where its segments are, with a name for people.
    #[must_use]
    pub fn new(name: String, store: Arc<dyn Store>, segments: Option<Arc<SegmentTarget>>) -> Self {
        Self { name, store, segments, planned: Mutex::default(), rounds: Mutex::default() }
    }

    /// The plan with the agents that there are; [`None`] before the first plan.
    fn planned(&self) -> Result<Option<Arc<Planned>>, SourceError> {
        let Some(text) = self.store.mesh().map_err(|error| broken(&error))?.plan else { return Ok(None) };
        let joined: BTreeSet<String> =
            self.store.agents().map_err(|error| broken(&error))?.into_iter().map(|one| one.name).collect();
        let mut known = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |planned: &&Arc<Planned>| {
            planned.text() == text && planned.agents().iter().all(|agent| joined.contains(agent))
        };
        if let Some(planned) = known.as_ref().filter(is_known) {
            return Ok(Some(Arc::clone(planned)));
        }
        let planned = Planned::new(text, &joined).map_err(|error| SourceError::broken("the plan", &error))?;
        Ok(known.insert(Arc::new(planned)).clone().into())
    }

    /// The latest result of each test and pair as a round, which has the time of the newest of them in its name.
    fn latest(&self) -> Result<Option<Arc<Round>>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(None) };
        let round =
            latest_round(self.store.as_ref(), &planned, linux::clock::wall_now()).map_err(|error| broken(&error))?;
        let Some(round) = round else { return Ok(None) };
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = rounds.iter().find(|known| known.id == round.id) {
            return Ok(Some(Arc::clone(known)));
        }
        let excess = (rounds.len() + 1).saturating_sub(MOST_ROUNDS);
        rounds.drain(..excess);
        rounds.push(Arc::new(round));
        Ok(rounds.last().cloned())
    }

    fn newest_runs(&self, most: u32) -> Result<Vec<(StoredRecord, Run)>, SourceError> {
        let most = (most as usize).min(MOST_RUNS);
        let query = RecordQuery { kind: "result", agent: None, since: WallTime::default(), most };
        let records = self.store.newest(query).map_err(|error| broken(&error))?;
        Ok(records.into_iter().filter_map(|record| run_of(&record).map(|run| (record, run))).collect())
    }

    /// The points of goodput of a pair, in order of time.
    fn points(&self, pair: &Pair) -> Result<Vec<Point>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(Vec::new()) };
        let since = clock::earlier(linux::clock::wall_now(), HISTORY);
        let labels: BTreeSet<&String> = planned.plan().tests.iter().map(|test| &test.label).collect();
        let mut points = Vec::new();
        for label in labels {
            let series = Series {
                from: pair.from.clone(),
                to: pair.to.clone(),
                test: label.clone(),
                family: None,
                metric: Metric::Goodput,
            };
            points.extend(self.store.points(Some(&series), since).map_err(|error| broken(&error))?);
        }
        points.sort_by_key(|point| point.at);
        Ok(points)
    }
}

impl Source for HubSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn rounds(&self, limit: u32) -> Result<Vec<RoundSummary>, SourceError> {
        let latest = self.latest()?.filter(|_| limit > 0);
        Ok(latest.iter().map(|round| round_summary(round)).collect())
    }

    fn round(&self, id: RunId) -> Result<Arc<Round>, SourceError> {
        let known = |source: &Self| {
            let rounds = source.rounds.lock().unwrap_or_else(PoisonError::into_inner);
            rounds.iter().find(|round| round.id == id).cloned()
        };
        if let Some(round) = known(self) {
            return Ok(round);
        }
        self.latest()?.filter(|round| round.id == id).ok_or_else(|| SourceError::unknown(&format!("round {id}")))
    }

    fn runs(&self, limit: u32) -> Result<Vec<ListedRun>, SourceError> {
        Ok(self.newest_runs(limit)?.iter().map(|(_, run)| run_summary(run)).collect())
    }

    fn run(&self, id: RunId) -> Result<StoredRun, SourceError> {
        let found = self.newest_runs(u32::MAX)?.into_iter().find(|(_, run)| run.id == id);
        let (record, run) = found.ok_or_else(|| SourceError::unknown(&format!("run {id}")))?;
        let samples = samples(self.store.as_ref(), self.segments.as_deref(), &record)
            .map_err(|error| SourceError::broken("the samples", &error))?
            .unwrap_or_default();
        Ok(StoredRun { run: Arc::new(run), samples: Arc::new(samples) })
    }

    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError> {
        let points = self.points(pair)?;
        let latest = points.iter().skip(points.len().saturating_sub(MOST_RESULTS));
        let mut found = Vec::new();
        for point in latest {
            let Some(record) = self.store.record(point.record).map_err(|error| broken(&error))? else { continue };
            let Some(run) = run_of(&record) else { continue };
            let of_run = results::of_run(&run).into_iter().map(|one| one.result);
            #[expect(clippy::cast_precision_loss, reason = "the point was made so of the same rate")]
            let is_it = |result: &PairResult| result.goodput.is_some_and(|rate| rate.bps() as f64 == point.value);
            found.extend(of_run.into_iter().find(is_it));
        }
        Ok(found)
    }

    fn hosts(&self) -> Result<Vec<String>, SourceError> {
        let agents = self.store.agents().map_err(|error| broken(&error))?.into_iter().map(|agent| agent.name);
        let planned = self.planned()?;
        let of_plan = planned.iter().flat_map(|planned| &planned.plan().hosts).map(|host| host.name.clone());
        Ok(of_plan.chain(agents).collect::<BTreeSet<String>>().into_iter().collect())
    }

    fn snapshot(&self, host: &str) -> Result<Option<Arc<Snapshot>>, SourceError> {
        let facts = newest_facts(self.store.as_ref(), host).map_err(|error| broken(&error))?;
        Ok(facts.map(|facts| Arc::new(*facts)))
    }

    fn changes(&self, host: &str, limit: u32) -> Result<Vec<LoggedChange>, SourceError> {
        let query = RecordQuery { kind: "change", agent: Some(host), since: WallTime::default(), most: limit as usize };
        let records = self.store.newest(query).map_err(|error| broken(&error))?;
        let entry = |record: &StoredRecord| content::<ChangeEntry>(&record.content).ok();
        let logged =
            records.iter().filter_map(|record| Some(LoggedChange { number: record.key, entry: entry(record)? }));
        let mut changes: Vec<LoggedChange> = logged.collect();
        changes.sort_by_key(|change| (change.entry.time, change.number));
        Ok(changes)
    }

    fn incidents(&self) -> Result<Option<Vec<Incident>>, SourceError> {
        Ok(Some(self.store.mesh().map_err(|error| broken(&error))?.incidents))
    }

    fn incident(&self, id: &IncidentId) -> Result<IncidentRecord, SourceError> {
        let incidents = self.store.mesh().map_err(|error| broken(&error))?.incidents;
        let incident = incidents.into_iter().find(|incident| incident.id == *id);
        let incident = incident.ok_or_else(|| SourceError::unknown(&format!("incident {id}")))?;
        let diagnosis =
            self.store.diagnosis(id).map_err(|error| broken(&error))?.and_then(|text| serde_json::from_str(&text).ok());
        Ok(IncidentRecord { incident, diagnosis })
    }

    fn report(&self, id: &IncidentId) -> Result<IncidentReport, SourceError> {
        let found = postmortem(self.store.as_ref(), id, linux::clock::wall_now()).map_err(|error| broken(&error))?;
        let Postmortem { title, document, figures, .. } =
            found.ok_or_else(|| SourceError::unknown(&format!("incident {id}")))?;
        Ok(IncidentReport { title, document, figures })
    }
}

fn run_of(record: &StoredRecord) -> Option<Run> {
    match content::<RunResult>(&record.content).ok()?.finding {
        Finding::Run(run) => Some(*run),
        _ => None,
    }
}

fn broken(error: &StoreError) -> SourceError {
    SourceError::broken("the hub's database", error)
}

/// Rounds of latest results in memory.
const MOST_ROUNDS: usize = 8;
/// Runs that are listed, and among which one is looked for by its name.
const MOST_RUNS: usize = 2_000;
/// Results of a pair that are shown.
const MOST_RESULTS: usize = 500;
const HISTORY: Duration = Duration::from_secs(400 * 86_400);
