//! What was measured, what of it is worse, and why.
//!
//! * [`points`]: what a result says of which series
//! * `judge`: records as they come, into series and incidents
//! * `changes`: change logs of hosts, on the time line of incidents
//! * `transfers`, `ends`: rates of transfers, and which hosts they are between
//! * [`next_test`]: the test that separates causes of a drop that nobody has tested
//! * `waiting`, `explain`: the diagnosis of the latest results, by itself
//! * `round`: those results as a round
//! * [`notify`]: who is told
//! * [`mail`]: e-mail, by a relay
//!
//! Records are judged in the order in which they came, once each: how far that is, what was measured and what became of
//! incidents are one transaction. After a start, histories and incidents are read again, and judging goes on behind the last.
//! Of hubs that share a database one judges at a time. The others read what it has stored, and one of them goes on when it is
//! silent, or when a person does something about an incident there.

mod changes;
mod ends;
mod explain;
mod judge;
pub mod mail;
pub mod next_test;
pub mod notify;
pub mod points;
mod round;
mod transfers;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use baseline::series::Sample;
use mesh::clock;
use mesh::incident::{Action, Event, Incident, IncidentId, Incidents, Metric, Refused, Series, Settings, Status};
use mesh::rules::Rules;
use units::WallTime;

use crate::schedule::planned::Planned;
use crate::server::directory;
use crate::store::rows::{Judgement, Judging, JudgingClaim, PointQuality, Revision, SeriesHistory, SeriesResult};
use crate::store::{Store, StoreError};

pub use changes::line;
pub use judge::{Judged, More};
pub use round::{Latest, MOST_TESTS, of as latest_round, oldest as oldest_latest, snapshot as newest_facts};
pub use waiting::Waiting;

/// Series, incidents, and what is to be made of them.
#[derive(Debug)]
pub struct Watching {
    state: Arc<Mutex<State>>,
    planned: Mutex<Option<Arc<Planned>>>,
    judges: Mutex<Judges>,
    bell: Condvar,
    settings: directory::IncidentSettings,
}

/// Where records are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// By this hub.
    Here,
    /// By another hub of the database.
    Elsewhere,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) incidents: Incidents,
    pub(crate) series: BTreeMap<Arc<Series>, Recent>,
    judged: u64,
    /// What is stored as far as this is like it; nothing where a change was refused.
    revision: Revision,
    read: Instant,
    /// Of which hosts facts are wanted that were read since then.
    wanted: BTreeMap<String, WallTime>,
    waiting: Vec<Waiting>,
    /// Which host has which addresses.
    addresses: ends::Addresses,
    /// Incidents that are not stored as they are.
    changed: BTreeSet<IncidentId>,
}

/// A test of two hosts, whatever it measures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairTest {
    /// The label of the test.
    pub test: String,
    /// The group of the test.
    pub group: String,
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
}

/// The latest run of a pair.
#[derive(Debug, Clone)]
pub struct LatestRun {
    /// Its record in the hub's store.
    pub record: u64,
    /// When it began.
    pub began: WallTime,
}

/// The latest result of a series.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recent {
    pub(crate) last: Option<SeriesResult>,
    pub(crate) results: u64,
}

impl Recent {
    fn add(&mut self, result: SeriesResult) {
        self.results += 1;
        self.last = Some(result);
    }
}

impl Watching {
    /// What a database has.
    ///
    /// # Errors
    /// Where it refuses.
    pub fn load(store: &dyn Store, settings: &directory::Settings) -> Result<Self, StoreError> {
        let watching = Self::unread(store, settings)?;
        watching.read(store, &mut watching.state())?;
        Ok(watching)
    }

    /// The same while others go on: whoever wants to know what was measured waits until it is read, which takes seconds of a million
    /// series. `complain` hears why a database does not give it yet.
    ///
    /// # Errors
    /// Where it refuses what does not take long.
    pub fn load_meanwhile(
        store: &Arc<dyn Store>,
        settings: &directory::Settings,
        complain: impl Fn(&StoreError) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let watching = Self::unread(store.as_ref(), settings)?;
        let (state, planned) = (Arc::clone(&watching.state), watching.planned().clone());
        let settings = mesh_settings(&watching.settings, planned.as_ref().map(|planned| planned.period()));
        let (store, (holds, is_held)) = (Arc::clone(store), channel());
        thread::Builder::new().name("histories".to_owned()).spawn(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = holds.send(());
            loop {
                match State::load(store.as_ref(), settings, planned.as_deref()) {
                    Ok(read) => break *state = read,
                    Err(error) => complain(&error),
                }
                thread::sleep(READ_EVERY);
            }
        })?;
        // From then on nobody sees that nothing is there.
        let _ = is_held.recv();
        Ok(watching)
    }

    /// Nothing but the plan.
    fn unread(store: &dyn Store, settings: &directory::Settings) -> Result<Self, StoreError> {
        let joined: BTreeSet<String> = store.agents()?.into_iter().map(|agent| agent.name).collect();
        // A plan that is refused by now is followed by nobody.
        let planned = store.mesh()?.plan.and_then(|text| Planned::new(text, &joined).ok()).map(Arc::new);
        let settings = settings.incidents;
        Ok(Self {
            state: Arc::new(Mutex::new(State::empty(mesh_settings(&settings, None)))),
            planned: Mutex::new(planned),
            judges: Mutex::new(Judges::Elsewhere),
            bell: Condvar::new(),
            settings,
        })
    }

    /// Takes a plan: its period, its maintenance, the segments of its pairs.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn set_plan(&self, store: &dyn Store, planned: &Arc<Planned>) -> Result<(), StoreError> {
        let known = self.planned().replace(Arc::clone(planned));
        // What was read for the same plan stands.
        if known.is_some_and(|known| known.text() == planned.text()) {
            return Ok(());
        }
        self.read(store, &mut self.state())
    }

    /// Takes the plan that runs now, where it is another one.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn follow_plan(&self, store: &dyn Store, planned: &Arc<Planned>) -> Result<(), StoreError> {
        let is_known = self.planned().as_ref().is_some_and(|known| known.text() == planned.text());
        if is_known { Ok(()) } else { self.set_plan(store, planned) }
    }

    /// Says where records are judged, and reads what another hub has made of them: at once where this one goes on.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn claim(&self, store: &dyn Store, claim: JudgingClaim) -> Result<Judges, StoreError> {
        let (judges, revision) = match store.judging(claim)? {
            Judging::Own(revision) => (Judges::Here, revision),
            Judging::Others(revision) => (Judges::Elsewhere, revision),
        };
        *self.judges.lock().unwrap_or_else(PoisonError::into_inner) = judges;
        let mut state = self.state();
        if state.revision != revision && (judges == Judges::Here || state.read.elapsed() >= READ_EVERY) {
            self.read(store, &mut state)?;
        }
        Ok(judges)
    }

    /// Where records were judged when it was asked last.
    pub(crate) fn judges(&self) -> Judges {
        *self.judges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, store: &dyn Store, state: &mut State) -> Result<(), StoreError> {
        let planned = self.planned().clone();
        let settings = mesh_settings(&self.settings, planned.as_ref().map(|planned| planned.period()));
        let fresh = State::load(store, settings, planned.as_deref())?;
        let (mut wanted, mut waiting) = (std::mem::take(&mut state.wanted), std::mem::take(&mut state.waiting));
        for (host, since) in &fresh.wanted {
            wanted.entry(host.clone()).or_insert(*since);
        }
        let new = fresh.waiting.iter().filter(|one| waiting.iter().all(|known| known.id != one.id)).cloned();
        let new: Vec<Waiting> = new.collect();
        waiting.extend(new);
        waiting.retain(|one| fresh.incidents.get(&one.id).is_some_and(|incident| incident.status.is_bad()));
        let addresses = std::mem::take(&mut state.addresses);
        *state = State { wanted, waiting, addresses, ..fresh };
        Ok(())
    }

    fn planned(&self) -> MutexGuard<'_, Option<Arc<Planned>>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There may be something to judge.
    pub fn ring(&self) {
        self.bell.notify_all();
    }

    /// Waits for that, for some time at most.
    pub fn wait(&self, most: Duration) {
        drop(self.bell.wait_timeout(self.state(), most));
    }

    /// Whether facts of a host are wanted that are newer than those that came at a moment.
    #[must_use]
    pub fn wants_facts(&self, host: &str, newest: WallTime) -> bool {
        self.state().wanted.get(host).is_some_and(|since| newest < *since)
    }

    /// A person, or a program for them, does something about an incident. It is on disk when this returns.
    ///
    /// # Errors
    /// Where there is no such incident, the step is not one from where it stands, or the database refuses.
    pub fn act(&self, store: &dyn Store, id: &IncidentId, action: Action, now: WallTime) -> Result<Incident, ActError> {
        self.claim(store, JudgingClaim::TakeOver)?;
        let mut state = self.state();
        let event = state.incidents.act(id, action, now)?;
        state.changed(&[event]);
        state.save(store, Judgement::default())?;
        state.incidents.get(id).cloned().ok_or(ActError::Refused(Refused::Unknown))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why nothing was done about an incident.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// It cannot be.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl State {
    fn empty(settings: Settings) -> Self {
        Self {
            incidents: Incidents::new(settings, Rules::default()),
            series: BTreeMap::new(),
            judged: 0,
            revision: Revision::default(),
            read: Instant::now(),
            wanted: BTreeMap::new(),
            waiting: Vec::new(),
            addresses: ends::Addresses::default(),
            changed: BTreeSet::new(),
        }
    }

    fn load(store: &dyn Store, settings: Settings, planned: Option<&Planned>) -> Result<Self, StoreError> {
        let rows = store.mesh()?;
        let rules = planned.map(Planned::rules).unwrap_or_default();
        let mut state = Self {
            incidents: Incidents::new(settings, rules),
            judged: rows.judged,
            revision: rows.revision,
            ..Self::empty(settings)
        };
        let now = linux::clock::wall_now();
        store.histories(clock::earlier(now, KEPT), &mut |SeriesHistory { series, results }| {
            let good = results.iter().filter(|result| result.good == PointQuality::Good);
            let samples = good.map(|result| Sample { at_s: seconds(result.at), value: result.value });
            state.watch(&series, planned);
            state.incidents.restore_history(&series, &samples.collect::<Vec<Sample>>());
            let recent = Recent { last: results.last().copied(), results: results.len() as u64 };
            state.series.insert(series, recent);
        })?;
        // Those of before, or of another hub, are explained still.
        let unexplained = |incident: &&Incident| incident.status.is_bad() && incident.status < Status::Explained;
        for incident in rows.incidents.iter().filter(unexplained) {
            state.wanted.extend(incident.hosts.iter().map(|host| (host.clone(), incident.opened)));
            state.waiting.push(Waiting::new(incident.id.clone(), incident.hosts.clone(), incident.opened));
        }
        state.incidents.restore(rows.incidents);
        Ok(state)
    }

    /// The latest record of each test and pair. The group is looked up when it is needed.
    pub(crate) fn latest(&self) -> BTreeMap<PairTest, LatestRun> {
        let mut latest: BTreeMap<PairTest, LatestRun> = BTreeMap::new();
        for (series, recent) in &self.series {
            // A transfer is no test, so it is no part of a round.
            let is_test = series.metric != Metric::TransferRate;
            let Some(SeriesResult { at, record, .. }) = recent.last.filter(|_| is_test) else { continue };
            let Series { from, to, test, .. } = series.as_ref().clone();
            let run = latest.entry(PairTest { test, group: String::new(), from, to });
            let run = run.or_insert(LatestRun { record, began: at });
            // A run measures several metrics, and of the latest a series may have nothing.
            if run.began < at {
                *run = LatestRun { record, began: at };
            }
        }
        latest
    }

    /// Adds a series that is new, with the segments and sites that it crosses and what is expected of it.
    fn know(&mut self, series: &Series, planned: Option<&Arc<Planned>>) {
        if self.series.contains_key(series) {
            return;
        }
        let series = Arc::new(series.clone());
        self.watch(&series, planned.map(Arc::as_ref));
        self.series.insert(series, Recent::default());
    }

    fn watch(&mut self, series: &Arc<Series>, planned: Option<&Planned>) {
        let beyond = planned.map(|planned| planned.crossed_by(series)).unwrap_or_default();
        self.incidents.add_series(Arc::clone(series), beyond);
        if let Some(expected) = planned.and_then(|planned| planned.expected_of(series)) {
            self.incidents.expect(series, expected);
        }
    }

    pub(crate) fn changed(&mut self, events: &[Event]) {
        self.changed.extend(events.iter().map(|event| event.incident.clone()));
    }

    /// Stores what has changed.
    fn save(&mut self, store: &dyn Store, judgement: Judgement) -> Result<(), StoreError> {
        let incidents: Vec<Incident> = self.changed.iter().filter_map(|id| self.incidents.get(id)).cloned().collect();
        if incidents.is_empty() && judgement.upto.is_none() && judgement.diagnoses.is_empty() {
            return Ok(());
        }
        // What was refused is read again.
        self.revision =
            store.judged(Judgement { incidents, ..judgement }).inspect_err(|_| self.revision = Revision::default())?;
        self.changed.clear();
        Ok(())
    }
}

/// How a mesh is watched: as the hub's settings say, else by the period of its plan.
fn mesh_settings(settings: &directory::IncidentSettings, period: Option<Duration>) -> Settings {
    let usual = Settings::default();
    let pooled_over = period.map_or(usual.pooled_over, |period| period.saturating_mul(2));
    Settings {
        pooled_over,
        stale_after: settings.stale_after.unwrap_or(pooled_over.saturating_mul(3).max(SOONEST_STALE)),
        watched_for: settings.watched_for.unwrap_or(usual.watched_for),
        ..usual
    }
}

pub(crate) fn seconds(at: WallTime) -> i64 {
    i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX)
}

/// A hub that was restarted and an agent that reboots are back before this; six periods of shorter plans are over sooner.
const SOONEST_STALE: Duration = Duration::from_secs(30 * 60);
/// Results that are read again after a start.
const KEPT: Duration = Duration::from_secs(180 * 86_400);
/// How often a hub reads what another has made of records.
const READ_EVERY: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_stale_after_six_periods_of_its_plan() {
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        let stale =
            |period: Option<Duration>| mesh_settings(&directory::IncidentSettings::default(), period).stale_after;
        assert_eq!(stale(Some(minutes(1))), minutes(30), "no sooner, however short the period is");
        assert_eq!(stale(Some(minutes(60))), minutes(360));
        assert_eq!(stale(Some(minutes(360))), minutes(36 * 60));
        assert_eq!(stale(None), minutes(36 * 60), "of a plan that says nothing");
        let said = directory::IncidentSettings { stale_after: Some(minutes(5)), ..Default::default() };
        assert_eq!(mesh_settings(&said, Some(minutes(60))).stale_after, minutes(5));
    }
}
