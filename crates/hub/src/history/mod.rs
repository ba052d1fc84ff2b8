//! Rounds of the past as a hub's history: stored, judged and explained as if agents had delivered them when they were measured.
//!
//! * [`plan`]: the plan that rounds follow

pub mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Action, Incident, IncidentId};
use model::round::{Round, Tested};
use model::series::packed;
use units::WallTime;

use crate::api::order::LeaseName;
use crate::api::record::{Record, RecordKind, RunResult, Verdict};
use crate::api::work::AgentHealth;
use crate::schedule::planned::{PlanRefusal, Planned};
use crate::server::directory::Settings;
use crate::store::rows::{AgentRow, Arrival, Delivered, Revision};
use crate::store::turn::{Changes, Committed, TurnRequest};
use crate::store::{Store, StoreError};
use crate::trust::digest::Fingerprint;
use crate::watching::{ActError, More, Watching};
use plan::TestNames;

/// A hub's history while it is written.
#[derive(Debug)]
pub struct History {
    store: Arc<dyn Store>,
    watching: Watching,
    planned: Arc<Planned>,
    names: TestNames,
    /// Records so far: each has a name of its own.
    records: u64,
    revision: Revision,
}

/// Why rounds do not become a history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Their plan is none that a hub carries out.
    #[error("these rounds follow no plan of a hub")]
    Plan(#[from] PlanRefusal),
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A result cannot be packed.
    #[error("a result cannot be packed")]
    Pack(#[from] std::io::Error),
    /// Something that somebody did is not one from where the incident stands.
    #[error(transparent)]
    Act(#[from] ActError),
}

impl History {
    /// Begins a history of rounds like this one, each `period` after the one before. Every host of it counts as an agent.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn begin(
        store: Arc<dyn Store>,
        settings: &Settings,
        round: &Round,
        period: Duration,
    ) -> Result<Self, HistoryError> {
        let names = TestNames::of(round);
        let hosts: BTreeSet<String> = round.members.iter().map(|member| member.name.clone()).collect();
        let planned = Arc::new(Planned::new(plan::text(round, &names, period), &hosts)?);
        for host in hosts {
            store.add_agent(AgentRow {
                key: Fingerprint::of(host.as_bytes()),
                certificate: Fingerprint::of(host.as_bytes()),
                name: host,
                address: None,
                joined: round.started,
                heard: None,
                version: None,
                health: AgentHealth::default(),
            })?;
        }
        let changes = Changes { plan: Some(planned.text().to_owned()), ..Changes::default() };
        let revision = store.turn(TurnRequest::default())?.1.commit(changes)?.revision;
        let watching = Watching::load(store.as_ref(), settings)?;
        watching.set_plan(store.as_ref(), &planned)?;
        Ok(Self { store, watching, planned, names, records: 0, revision })
    }

    /// Adds a round, and does what a hub does with it: results are judged, then the facts of hosts come, then what is worse is
    /// explained.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn add(&mut self, round: &Round) -> Result<(), HistoryError> {
        let ended = clock::later(round.started, round.elapsed);
        let mut arrivals: BTreeMap<&String, Vec<Arrival>> = BTreeMap::new();
        for (tested, name) in round.tests.iter().zip(self.names.runs(round)) {
            let arrival = self.result(round, tested, name)?;
            arrivals.entry(&tested.from.host).or_default().push(arrival);
        }
        for (agent, arrivals) in arrivals {
            self.deliver(agent, arrivals, ended)?;
        }
        self.settle(ended)?;
        let read = clock::later(ended, FACTS_AFTER);
        for member in &round.members {
            let Some(facts) = member.after.as_ref().or(member.before.as_ref()) else { continue };
            let content = serde_json::to_vec(facts).map_err(StoreError::from)?;
            let arrival = self.record(RecordKind::Snapshot, &content, None)?;
            self.deliver(&member.name, vec![arrival], read)?;
        }
        self.settle(read)?;
        // What could not be explained at once is looked at again, as long as nothing new comes.
        for again in 1..=EXPLAINED_AGAIN {
            self.settle(clock::later(read, EXPLAINED_EVERY * again))?;
        }
        Ok(())
    }

    /// All incidents, in the order of opening.
    #[must_use]
    pub fn incidents(&self) -> Vec<Incident> {
        self.watching.state().incidents.list().to_vec()
    }

    /// Somebody does something about an incident.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn act(&self, id: &IncidentId, action: Action, at: WallTime) -> Result<(), HistoryError> {
        self.watching.act(self.store.as_ref(), id, action, at)?;
        Ok(())
    }

    fn settle(&self, now: WallTime) -> Result<(), StoreError> {
        let store = self.store.as_ref();
        while self.watching.judge(store, Some(&self.planned), now)?.more == More::Waits {}
        self.watching.tick(store, now)?;
        self.watching.explain(store, &self.planned, now)
    }

    fn result(&mut self, round: &Round, tested: &Tested, run: String) -> Result<Arrival, HistoryError> {
        let began = clock::later(round.started, tested.began);
        let content = serde_json::to_vec(&RunResult { began, finding: tested.finding.clone() });
        let samples = tested.samples.as_ref().map(|samples| packed::pack(samples));
        let kind = RecordKind::Result { lease: LeaseName { run, attempt: 1 } };
        self.record(kind, &content.map_err(StoreError::from)?, samples.as_deref())
    }

    fn record(&mut self, kind: RecordKind, content: &[u8], samples: Option<&[u8]>) -> Result<Arrival, HistoryError> {
        self.records += 1;
        let record = Record::pack(format!("replayed-{}", self.records), kind, content, samples)?;
        let unpacked = record.unpack().map_err(std::io::Error::other)?;
        Ok(Arrival { record, unpacked })
    }

    fn deliver(&mut self, agent: &str, arrivals: Vec<Arrival>, at: WallTime) -> Result<(), StoreError> {
        let delivered = vec![Delivered { agent: agent.to_owned(), arrivals, at }];
        let (_, turn) = self.store.turn(TurnRequest { known: self.revision, ..TurnRequest::default() })?;
        let Committed { revision, verdicts } = turn.commit(Changes { delivered, ..Changes::default() })?;
        let verdicts = verdicts.concat();
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Stored), "each record has a name of its own");
        self.revision = revision;
        Ok(())
    }
}

/// How long after a round the facts of its hosts are read.
const FACTS_AFTER: Duration = Duration::from_secs(60);
const EXPLAINED_EVERY: Duration = Duration::from_secs(60);
const EXPLAINED_AGAIN: u32 = 3;
