//! Records as they come, into series and incidents.

use std::sync::Arc;

use baseline::watch::Quality;
use mesh::incident::{EventKind, Measured};
use units::WallTime;

use super::points::{Source, points};
use super::waiting::Waiting;
use super::{PairTest, State, Watching, changes};
use crate::api::record::{BROWSER, RunResult, content};
use crate::schedule::planned::Planned;
use crate::store::rows::{Judgement, Point, PointQuality, SeriesResult, StoredRecord};
use crate::store::{Store, StoreError};

/// What came of a look at new records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether there are more.
    pub more: More,
    /// Records that are of no form that this hub knows, by their names.
    pub unreadable: Vec<String>,
}

/// Whether there is more to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// There is.
    Waits,
    /// There is not.
    Nothing,
}

impl Watching {
    /// Judges records that have come, some hundred at most.
    ///
    /// # Errors
    /// Where the database refuses: the same are judged again.
    pub fn judge(
        &self,
        store: &dyn Store,
        planned: Option<&Arc<Planned>>,
        now: WallTime,
    ) -> Result<Judged, StoreError> {
        let after = self.state().judged;
        let records = store.unjudged(after, MOST_TOGETHER)?;
        let Some(last) = records.last().map(|record| record.key) else {
            return Ok(Judged { more: More::Nothing, unreadable: Vec::new() });
        };
        let more = if records.len() == MOST_TOGETHER { More::Waits } else { More::Nothing };
        let mut guard = self.state();
        let state = &mut *guard;
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for record in &records {
            match record.kind.as_str() {
                // Its path is none of the plan: nothing says what is usual for it.
                "result" if is_from_browser(record) => {}
                "result" => match state.result(record, planned) {
                    Some(points) => {
                        state.separate(record, &points, now);
                        found.extend(points);
                    }
                    None => unreadable.extend(record.run.clone()),
                },
                "change" => state.change(record, now),
                "snapshot" => state.addresses.learn(record),
                "transfers" => match state.transfers(store, record, planned)? {
                    Some(points) => found.extend(points),
                    None => unreadable.push(format!("transfers of {}", record.agent)),
                },
                _ => {}
            }
        }
        state.measured(&found, now);
        state.judged = last;
        state.save(store, Judgement { upto: Some(last), points: found, ..Judgement::default() })?;
        Ok(Judged { more, unreadable })
    }

    /// What time alone brings: silent hosts, incidents that stayed verified.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn tick(&self, store: &dyn Store, now: WallTime) -> Result<(), StoreError> {
        let mut state = self.state();
        let events = state.incidents.tick(now);
        state.follow(&events, now);
        state.save(store, Judgement::default())
    }
}

impl State {
    /// What a result says; [`None`] where nobody can read it.
    fn result(&mut self, record: &StoredRecord, planned: Option<&Arc<Planned>>) -> Option<Vec<Point>> {
        let pair = record.run.as_deref().and_then(PairTest::of)?;
        let result: RunResult = content(&record.content).ok()?;
        let found = points(&result, Source { record: record.key, agent: &record.agent, pair: &pair });
        self.keep(&found, planned);
        Some(found)
    }

    pub(super) fn keep(&mut self, found: &[Point], planned: Option<&Arc<Planned>>) {
        for point in found {
            self.know(&point.series, planned);
            if let Some(recent) = self.series.get_mut(&point.series) {
                recent.add(SeriesResult::of(point));
            }
        }
    }

    fn measured(&mut self, found: &[Point], now: WallTime) {
        let measured = |point: &Point| Measured {
            series: point.series.clone(),
            at: point.at,
            value: point.value,
            settled: point.settled,
            quality: if point.good == PointQuality::Good { Quality::Good } else { Quality::Poor },
        };
        let mut measured: Vec<Measured> = found.iter().map(measured).collect();
        measured.sort_by_key(|one| one.at);
        // Results of one pair are one moment: those of the next are held against them.
        for one in measured.chunk_by(|one, next| one.at == next.at) {
            let events = self.incidents.results(one, now);
            self.follow(&events, now);
        }
    }

    fn change(&mut self, record: &StoredRecord, now: WallTime) {
        let Some(entry) = changes::entry(record) else { return };
        let change = changes::configuration(&record.agent, &entry);
        let mended = changes::fixes(&self.incidents, &change, &entry);
        let events = self.incidents.configuration(change.clone());
        self.changed(&events);
        for id in mended {
            let action = changes::fix(&change);
            // It was found among those that are bad.
            if let Ok(event) = self.incidents.act(&id, action, now) {
                self.changed(&[event]);
            }
        }
    }

    /// What follows from what happened to incidents: they are stored, and those that are new are explained.
    pub(super) fn follow(&mut self, events: &[mesh::incident::Event], now: WallTime) {
        self.changed(events);
        for event in events {
            let is_new = matches!(event.kind, EventKind::Opened | EventKind::Grown | EventKind::Reopened);
            if !is_new || self.waiting.iter().any(|waiting| waiting.id == event.incident) {
                continue;
            }
            let hosts = self.incidents.get(&event.incident).map(|incident| incident.hosts.clone()).unwrap_or_default();
            for host in &hosts {
                self.wanted.insert(host.clone(), now);
            }
            self.waiting.push(Waiting::new(event.incident.clone(), hosts, now));
        }
    }
}

fn is_from_browser(record: &StoredRecord) -> bool {
    let of_browser = |run: &str| run.starts_with(BROWSER) && PairTest::of(run).is_none();
    record.run.as_deref().is_some_and(of_browser)
}

/// Records that are judged in one transaction.
const MOST_TOGETHER: usize = 256;
