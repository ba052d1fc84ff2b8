//! What a hub has, as the pages of `web` show it: read from its database, so that pages are the same in the hub and beside it.
//!
//! * `latest`: the latest results of all series
//! * `activity`: runs under way
//! * `downloads`: files that were fetched
//! * `fixes`: commands that fix what an incident is of
//! * `outline`: the grids of a mesh that has too many pairs to read the result of each

mod activity;
mod downloads;
mod fixes;
mod latest;
mod outline;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Incident, IncidentId, Metric, Series};
use model::archived::{ListedHosts, ListedRun};
use model::host::change::{ChangeEntry, LoggedChange};
use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Round, RoundSummary};
use model::run::{Run, RunId};
use model::spec::Protocol;
use plan::task::TestKind;
use units::{DataRate, WallTime};
use web::source::activity::Activity;
use web::source::downloads::DownloadSeries;
use web::source::files::run_summary;
use web::source::results::{self, PairResult};
use web::source::{IncidentRecord, IncidentReport, Pair, Source, SourceError, StoredRun};
use web::view::round::RoundOutline;

use crate::api::record::{RunResult, content};
use crate::reports::{Postmortem, postmortem};
use crate::schedule::planned::Planned;
use crate::segments::samples;
use crate::segments::target::SegmentTarget;
use crate::store::rows::{Point, RecordQuery, StoredRecord};
use crate::store::{Store, StoreError};
use crate::watching::{MOST_TESTS, PairTest, latest_round, newest_facts, oldest_latest};
use latest::{Count, Known, LatestPoints, Progress};
use outline::Counted;

/// A hub's database, as pages read it.
#[derive(Debug)]
pub struct HubSource(Arc<Inner>);

/// What whoever reads ahead shares with whoever answers.
#[derive(Debug)]
pub struct Inner {
    name: String,
    store: Arc<dyn Store>,
    /// Where samples are that have left the database.
    segments: Option<Arc<SegmentTarget>>,
    planned: Mutex<Option<Arc<Planned>>>,
    latest: LatestPoints,
    /// Whether those are being read for the first time.
    is_reading: AtomicBool,
    /// How they stood when they were counted last, and with which record: of a million series that takes half of a second.
    counted: Mutex<Option<(u64, Standing)>>,
    /// How much of the present period was measured when it was counted last.
    progress: Mutex<Option<Progress>>,
    /// Rounds of latest results that somebody looks at.
    rounds: Mutex<Vec<Arc<Round>>>,
    /// The same without their tests, where they are too many.
    outlines: Mutex<Vec<Arc<RoundOutline>>>,
}

impl Deref for HubSource {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// Where the latest results of a mesh stand.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// The round of them, which has the time of the newest in its name.
    id: RunId,
    started: WallTime,
    newest: WallTime,
    tests: usize,
    /// When they were counted.
    at: WallTime,
}

impl HubSource {
    /// Of a database and where its segments are, with a name for people.
    #[must_use]
    pub fn new(name: String, store: Arc<dyn Store>, segments: Option<Arc<SegmentTarget>>) -> Self {
        Self(Arc::new(Inner {
            name,
            store,
            segments,
            planned: Mutex::default(),
            latest: LatestPoints::default(),
            is_reading: AtomicBool::new(false),
            counted: Mutex::default(),
            progress: Mutex::default(),
            rounds: Mutex::default(),
            outlines: Mutex::default(),
        }))
    }

    /// Reads what pages show first while others are answered already: of a million series that takes seconds. What is read soon is
    /// there when this returns.
    #[must_use]
    pub fn read_ahead(self) -> Self {
        let source = Self(Arc::clone(&self.0));
        self.is_reading.store(true, Ordering::Release);
        let (has_read, is_read) = channel();
        let reads = thread::Builder::new().name("latest results".to_owned()).spawn(move || {
            // Where the database refuses, pages say so.
            if let Ok(Some(planned)) = source.planned() {
                drop(source.latest.read(source.store.as_ref(), &planned, linux::clock::wall_now()));
            }
            source.is_reading.store(false, Ordering::Release);
            if let Ok(Some(standing)) = source.standing() {
                let _ = source.outline(standing.id);
            }
            let _ = source.now_measured();
            let _ = has_read.send(());
        });
        match reads {
            Ok(_) => drop(is_read.recv_timeout(READ_AT_ONCE)),
            // Whoever asks first reads it.
            Err(_) => self.is_reading.store(false, Ordering::Release),
        }
        self
    }

    /// All series as they stand now.
    fn known(&self, planned: &Planned, now: WallTime) -> Result<MutexGuard<'_, Known>, SourceError> {
        if self.is_reading.load(Ordering::Acquire) {
            return Err(SourceError::Reading);
        }
        self.latest.read(self.store.as_ref(), planned, now).map_err(|error| broken(&error))
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

    /// How the latest results stand; [`None`] before the first.
    fn standing(&self) -> Result<Option<Standing>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(None) };
        let now = linux::clock::wall_now();
        let known = self.known(&planned, now)?;
        let Some(newest) = known.newest else { return Ok(None) };
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |standing: &Standing| standing.newest == newest && clock::between(standing.at, now) < COUNTED_FOR;
        if let Some((_, standing)) = counted.filter(|(upto, standing)| *upto == known.upto && is_same(standing)) {
            return Ok(Some(standing));
        }
        let oldest = oldest_latest(&planned, now);
        let Count { started, tests } = known.count(oldest);
        let started = started.unwrap_or(newest);
        let standing = Standing { id: RunId::new(newest, 0), started, newest, tests, at: now };
        *counted = Some((known.upto, standing));
        Ok(Some(standing))
    }

    /// The latest result of each test and pair as a round of this name.
    fn latest_as(&self, id: RunId) -> Result<Option<Arc<Round>>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(None) };
        let now = linux::clock::wall_now();
        let store = self.store.as_ref();
        let known = self.known(&planned, now)?;
        let latest = known.latest(&planned, now, MOST_TESTS);
        drop(known);
        let round = latest_round(store, &planned, &latest, now).map_err(|error| broken(&error))?;
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let round = Arc::new(Round { id, ..round });
        keep(&mut rounds, Arc::clone(&round));
        Ok(Some(round))
    }

    fn newest_runs(&self, most: u32) -> Result<Vec<(StoredRecord, Run)>, SourceError> {
        let most = (most as usize).min(MOST_RUNS);
        let query = RecordQuery { kind: "result", agent: None, since: WallTime::default(), most };
        let records = self.store.newest(query).map_err(|error| broken(&error))?;
        Ok(records.into_iter().filter_map(with_run).collect())
    }

    /// The rates of a pair by all tests, in order of time.
    fn points(&self, pair: &Pair) -> Result<Vec<Point>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(Vec::new()) };
        let since = clock::earlier(linux::clock::wall_now(), HISTORY);
        let mut points = Vec::new();
        let tests = planned.plan().tests.iter();
        let rated = tests.map(|test| (test.label.clone(), rate_of(test.task.kind())));
        for (test, metric) in rated.collect::<BTreeSet<(String, Metric)>>() {
            let series = Series { from: pair.from.clone(), to: pair.to.clone(), test, family: None, metric };
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
        let Some(standing) = self.standing()?.filter(|_| limit > 0) else { return Ok(Vec::new()) };
        let Some(planned) = self.planned()? else { return Ok(Vec::new()) };
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(vec![RoundSummary {
            id: standing.id,
            started: standing.started,
            elapsed: clock::between(standing.started, standing.newest),
            title: planned.plan().title.clone(),
            hosts: count(planned.plan().hosts.len()),
            hosts_failed: 0,
            tests: count(standing.tests),
            // What has failed has no value and is not among the latest.
            tests_failed: 0,
        }])
    }

    fn round(&self, id: RunId) -> Result<Arc<Round>, SourceError> {
        let unknown = || SourceError::unknown(&format!("round {id}"));
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(round) = rounds.iter().find(|round| round.id == id) {
            return Ok(Arc::clone(round));
        }
        drop(rounds);
        // Of a round whose grids somebody looks at, tests are those of now.
        let outlines = self.outlines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_shown = outlines.iter().any(|outline| outline.id == id);
        drop(outlines);
        if !is_shown && self.standing()?.is_none_or(|standing| standing.id != id) {
            return Err(unknown());
        }
        self.latest_as(id)?.ok_or_else(unknown)
    }

    fn outline(&self, id: RunId) -> Result<Option<Arc<RoundOutline>>, SourceError> {
        let shown = |source: &Self| {
            let outlines = source.outlines.lock().unwrap_or_else(PoisonError::into_inner);
            outlines.iter().find(|outline| outline.id == id).cloned()
        };
        if let Some(outline) = shown(self) {
            return Ok(Some(outline));
        }
        let Some(standing) = self.standing()?.filter(|standing| standing.id == id && standing.tests > MOST_TESTS)
        else {
            return Ok(None);
        };
        let Some(planned) = self.planned()? else { return Ok(None) };
        let now = linux::clock::wall_now();
        let known = self.known(&planned, now)?;
        let Standing { id, started, tests, .. } = standing;
        let counted = Counted { id, started, tests };
        let outline = Arc::new(outline::outline(&known, &planned, counted, now));
        drop(known);
        keep(&mut self.outlines.lock().unwrap_or_else(PoisonError::into_inner), Arc::clone(&outline));
        Ok(Some(outline))
    }

    fn runs(&self, limit: u32) -> Result<Vec<ListedRun>, SourceError> {
        Ok(self.newest_runs(limit)?.iter().map(|(record, run)| listed(record, run)).collect())
    }

    fn run(&self, id: RunId) -> Result<StoredRun, SourceError> {
        let of_then = |source: &Self| {
            // Its name has the moment at which it began, and its result came after that.
            let records = source.store.results_since(clock::earlier(id.time(), CLOCKS_APART), MOST_RUNS);
            Ok(records.map_err(|error| broken(&error))?.into_iter().filter_map(with_run).find(|(_, run)| run.id == id))
        };
        let found = match of_then(self)? {
            Some(found) => Some(found),
            // One that came long after it ran: its agent could not reach the hub.
            None => self.newest_runs(u32::MAX)?.into_iter().find(|(_, run)| run.id == id),
        };
        let unknown = || {
            SourceError::unknown(&format!(
                "run {id} among the {MOST_RUNS} results that came after it began, nor among the newest {MOST_RUNS}"
            ))
        };
        let (record, run) = found.ok_or_else(unknown)?;
        let samples = samples(self.store.as_ref(), self.segments.as_deref(), &record)
            .map_err(|error| SourceError::broken("the samples", &error))?
            .unwrap_or_default();
        Ok(StoredRun { run: Arc::new(run), samples: Arc::new(samples) })
    }

    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError> {
        let points = self.points(pair)?;
        let excess = points.len().saturating_sub(MOST_RESULTS);
        let (_, points) = points.split_at(excess);
        let (earlier, latest) = points.split_at(points.len().saturating_sub(MOST_READ));
        let planned = self.planned()?;
        let protocol = |label: &str| {
            let of_label = |planned: &Arc<Planned>| {
                let test = planned.plan().tests.iter().find(|test| test.label == label)?;
                Some(if test.task.kind() == TestKind::Udp { Protocol::Udp } else { Protocol::Tcp })
            };
            planned.as_ref().and_then(of_label).unwrap_or(Protocol::Tcp)
        };
        let of_point = |point: &Point| PairResult {
            started: point.at,
            run: None,
            round: None,
            test: Some(point.series.test.clone()),
            protocol: protocol(&point.series.test),
            goodput: Some(rate(point.value)),
            retransmits: None,
            loaded_rtt_us: None,
            failure: None,
        };
        // A year of results is drawn from its points; the runs behind the latest are listed.
        let mut found: Vec<PairResult> = earlier.iter().map(of_point).collect();
        for point in latest {
            let record = self.store.record(point.record).map_err(|error| broken(&error))?;
            let of_run = record.as_ref().and_then(run_of).map(|run| results::of_run(&run)).unwrap_or_default();
            #[expect(clippy::cast_precision_loss, reason = "the point was made so of the same rate")]
            let is_it = |result: &PairResult| result.goodput.is_some_and(|rate| rate.bps() as f64 == point.value);
            let with_run = of_run.into_iter().map(|one| one.result).find(is_it);
            // Files that were fetched are no run.
            let test = Some(point.series.test.clone());
            found.push(with_run.map_or_else(|| of_point(point), |result| PairResult { test, ..result }));
        }
        Ok(found)
    }

    fn downloads(&self) -> Result<Vec<DownloadSeries>, SourceError> {
        self.fetched()
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

    fn activity(&self) -> Result<Option<Activity>, SourceError> {
        self.now_measured()
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
        let fixes = match (&diagnosis, self.planned()?) {
            (Some(diagnosis), Some(planned)) if incident.status.is_bad() => {
                match self.fixes(&incident, diagnosis, &planned) {
                    // All else of the incident is there.
                    Err(SourceError::Reading) => Vec::new(),
                    fixes => fixes?,
                }
            }
            _ => Vec::new(),
        };
        Ok(IncidentRecord { incident, diagnosis, fixes })
    }

    fn report(&self, id: &IncidentId) -> Result<IncidentReport, SourceError> {
        let found = postmortem(self.store.as_ref(), id, linux::clock::wall_now()).map_err(|error| broken(&error))?;
        let Postmortem { title, document, figures, .. } =
            found.ok_or_else(|| SourceError::unknown(&format!("incident {id}")))?;
        Ok(IncidentReport { title, document, figures })
    }
}

/// What a test of this kind measures rates of.
const fn rate_of(kind: TestKind) -> Metric {
    match kind {
        TestKind::Http => Metric::DownloadRate,
        _ => Metric::Goodput,
    }
}

fn with_run(record: StoredRecord) -> Option<(StoredRecord, Run)> {
    run_of(&record).map(|run| (record, run))
}

/// A run in a line, with the hosts by the names of the plan: what hosts call themselves may be one name for all of them.
fn listed(record: &StoredRecord, run: &Run) -> ListedRun {
    let pair = record.run.as_deref().and_then(PairTest::of);
    let hosts = pair.map(|pair| ListedHosts { from: pair.from, to: pair.to });
    ListedRun { hosts, ..run_summary(run) }
}

fn run_of(record: &StoredRecord) -> Option<Run> {
    match content::<RunResult>(&record.content).ok()?.finding {
        Finding::Run(run) => Some(*run),
        _ => None,
    }
}

/// Keeps what was made last, and as much of before as may be.
fn keep<T>(kept: &mut Vec<T>, made: T) {
    let excess = (kept.len() + 1).saturating_sub(MOST_ROUNDS);
    kept.drain(..excess);
    kept.push(made);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "goodput is whole bits a second")]
fn rate(bps: f64) -> DataRate {
    DataRate::from_bps(bps.max(0.0) as u64)
}

fn broken(error: &StoreError) -> SourceError {
    SourceError::broken("the hub's database", error)
}

/// A mesh of some hundred hosts is read within this.
const READ_AT_ONCE: Duration = Duration::from_secs(1);
/// Results become old by the minute.
const COUNTED_FOR: Duration = Duration::from_secs(60);
/// Rounds of latest results in memory.
const MOST_ROUNDS: usize = 8;
/// Runs that are listed, and among which one is looked for by its name.
const MOST_RUNS: usize = 2_000;
/// How far the clock of an agent may be behind that of the hub.
const CLOCKS_APART: Duration = Duration::from_secs(600);
/// Results of a pair that are shown: a year of one each hour.
const MOST_RESULTS: usize = 8_800;
/// Those of them whose runs are read, which a page lists.
const MOST_READ: usize = 50;
const HISTORY: Duration = Duration::from_secs(400 * 86_400);
