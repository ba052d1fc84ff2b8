//! An archive as the source of pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use archive::changes::ChangeFilter;
use archive::rounds::RoundError;
use archive::running::{Journals, RunningRound};
use archive::snapshots::SnapshotFilter;
use archive::snapshots::find::Wanted;
use archive::store::ReadError;
use archive::{Archive, Filter};
use model::archived::ListedRun;
use model::host::change::LoggedChange;
use model::host::snapshot::Snapshot;
use model::round::{Round, RoundSummary};
use model::run::RunId;

use super::results::{self, PairResult};
use super::{Pair, Source, SourceError, StoredRun, files};

/// An archive that is read while others may write to it.
#[derive(Debug)]
pub struct Kept {
    name: String,
    archive: Mutex<Archive>,
    journals: Mutex<Journals>,
    index: Mutex<Index>,
}

/// Who sent to whom in which run: an archive has rows by target, not by the names of both hosts.
#[derive(Debug, Default)]
struct Index {
    rounds: BTreeSet<RunId>,
    runs: BTreeSet<RunId>,
    results: BTreeMap<Pair, Vec<PairResult>>,
    hosts: BTreeSet<String>,
}

impl Kept {
    /// Pages over an open archive.
    #[must_use]
    pub fn new(archive: Archive) -> Self {
        let name = archive.path().display().to_string();
        let journals = Mutex::new(Journals::beside(archive.path()));
        Self { name, archive: Mutex::new(archive), journals, index: Mutex::default() }
    }

    fn archive(&self) -> MutexGuard<'_, Archive> {
        self.archive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index with what was stored since it was asked for last.
    fn index(&self) -> Result<MutexGuard<'_, Index>, SourceError> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let archive = self.archive();
        let rounds = archive.rounds(MOST_ROUNDS).map_err(|error| SourceError::broken("the list of rounds", &error))?;
        for summary in rounds {
            if index.rounds.insert(summary.id) {
                let round = archive.bare_round(&summary.id).map_err(|error| SourceError::broken("a round", &error))?;
                index.hosts.extend(round.members.iter().map(|member| member.name.clone()));
                index.add(results::of_round(&round));
            }
        }
        let filter = Filter { limit: Some(MOST_RUNS), ..Filter::default() };
        let runs = archive.list(&filter).map_err(|error| SourceError::broken("the list of runs", &error))?;
        for summary in runs {
            if !index.runs.contains(&summary.id) {
                let run = archive.run(&summary.id).map_err(|error| SourceError::broken("a run", &error))?;
                index.add(results::of_run(&run));
            }
        }
        drop(archive);
        Ok(index)
    }
}

impl Index {
    fn add(&mut self, found: Vec<results::OfPair>) {
        let known: BTreeSet<RunId> =
            found.iter().filter_map(|found| found.result.run).filter(|run| self.runs.contains(run)).collect();
        for results::OfPair { pair, result } in found {
            if result.run.is_none_or(|run| !known.contains(&run)) {
                self.runs.extend(result.run);
                self.results.entry(pair).or_default().push(result);
            }
        }
    }
}

impl Source for Kept {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn rounds(&self, limit: u32) -> Result<Vec<RoundSummary>, SourceError> {
        self.archive().rounds(limit).map_err(|error| SourceError::broken("the list of rounds", &error))
    }

    fn running(&self) -> Result<Vec<Arc<RunningRound>>, SourceError> {
        let rounds = self.journals.lock().unwrap_or_else(PoisonError::into_inner).rounds();
        let mut rounds = rounds.map_err(|error| SourceError::broken("the rounds that run", &error))?;
        // One that is kept already is shown as it is kept.
        let archive = self.archive();
        rounds.retain(|running| archive.resolve_round(&running.round.id.to_string()).is_err());
        Ok(rounds)
    }

    fn round(&self, id: RunId) -> Result<Arc<Round>, SourceError> {
        if let Some(running) = self.running()?.iter().find(|running| running.round.id == id) {
            return Ok(Arc::clone(&running.round));
        }
        let round = self.archive().round(&id).map_err(|error| match error {
            RoundError::Unknown { .. } => SourceError::unknown(&format!("round {id}")),
            error => SourceError::broken(&format!("round {id}"), &error),
        })?;
        Ok(Arc::new(round))
    }

    fn runs(&self, limit: u32) -> Result<Vec<ListedRun>, SourceError> {
        let filter = Filter { limit: Some(limit), ..Filter::default() };
        self.archive().list(&filter).map_err(|error| SourceError::broken("the list of runs", &error))
    }

    fn run(&self, id: RunId) -> Result<StoredRun, SourceError> {
        let archive = self.archive();
        let failed = |error: ReadError| match error {
            ReadError::Unknown { .. } => SourceError::unknown(&format!("run {id}")),
            error => SourceError::broken(&format!("run {id}"), &error),
        };
        let run = Arc::new(archive.run(&id).map_err(failed)?);
        let samples = match archive.samples(&id) {
            Ok(samples) => samples,
            Err(ReadError::Unknown { .. }) => model::series::RunSamples::default(),
            Err(error) => return Err(failed(error)),
        };
        Ok(StoredRun { run, samples: Arc::new(samples) })
    }

    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError> {
        let mut found = self.index()?.results.get(pair).cloned().unwrap_or_default();
        found.sort_by_key(|result| (result.started, result.run));
        Ok(found)
    }

    fn hosts(&self) -> Result<Vec<String>, SourceError> {
        let mut hosts = self.index()?.hosts.clone();
        let snapshots =
            self.archive().snapshots(&SnapshotFilter { limit: Some(MOST_RUNS), ..SnapshotFilter::default() });
        let snapshots = snapshots.map_err(|error| SourceError::broken("the list of snapshots", &error))?;
        hosts.extend(snapshots.into_iter().map(|snapshot| snapshot.host));
        Ok(hosts.into_iter().collect())
    }

    fn snapshot(&self, host: &str) -> Result<Option<Arc<Snapshot>>, SourceError> {
        let broken = |error: &dyn std::error::Error| SourceError::broken(&format!("the facts of {host}"), error);
        let archive = self.archive();
        if let Ok(found) = archive.find_snapshot(&Wanted::Latest { host: host.to_owned() }) {
            return archive.snapshot(found.id).map(|snapshot| Some(Arc::new(snapshot))).map_err(|error| broken(&error));
        }
        for summary in archive.rounds(LATEST_ROUNDS).map_err(|error| broken(&error))? {
            let round = archive.bare_round(&summary.id).map_err(|error| broken(&error))?;
            if let Some(snapshot) = files::of_rounds(&[Arc::new(round)], host) {
                return Ok(Some(snapshot));
            }
        }
        Ok(None)
    }

    fn changes(&self, host: &str, limit: u32) -> Result<Vec<LoggedChange>, SourceError> {
        let filter = ChangeFilter { host: Some(host.to_owned()), limit: Some(limit), ..ChangeFilter::default() };
        self.archive().changes(&filter).map_err(|error| SourceError::broken("the change log", &error))
    }
}

/// Rounds in an index: a year of one each hour.
const MOST_ROUNDS: u32 = 8_800;
/// Runs in an index: about 200 bytes each.
const MOST_RUNS: u32 = 200_000;
/// Rounds in which facts of a host are looked for.
const LATEST_ROUNDS: u32 = 8;
