//! Rounds and runs from files, all in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use archive::rounds::has_result;
use model::archived::ListedRun;
use model::host::change::LoggedChange;
use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Round, RoundSummary};
use model::run::{Run, RunId};
use model::series::RunSamples;

use super::results::{self, PairResult};
use super::{Pair, Source, SourceError, StoredRun};

/// What files held.
#[derive(Debug, Default)]
pub struct Files {
    name: String,
    rounds: Vec<Arc<Round>>,
    runs: Vec<StoredRun>,
    snapshots: Vec<Arc<Snapshot>>,
}

impl Files {
    /// Nothing yet, from a place of this name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a round.
    pub fn add_round(&mut self, round: Round) {
        self.rounds.push(Arc::new(round));
        self.rounds.sort_by_key(|round| std::cmp::Reverse((round.started, round.id)));
    }

    /// Adds a run that is part of no round.
    pub fn add_run(&mut self, run: Run, samples: RunSamples) {
        self.runs.push(StoredRun { run: Arc::new(run), samples: Arc::new(samples) });
        self.runs.sort_by_key(|stored| std::cmp::Reverse(stored.run.id));
    }

    /// Adds facts of a host.
    pub fn add_snapshot(&mut self, snapshot: Snapshot) {
        self.snapshots.push(Arc::new(snapshot));
    }

    /// Whether no file held anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.runs.is_empty() && self.snapshots.is_empty()
    }
}

impl Source for Files {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn rounds(&self, limit: u32) -> Result<Vec<RoundSummary>, SourceError> {
        Ok(self.rounds.iter().take(limit as usize).map(|round| round_summary(round)).collect())
    }

    fn round(&self, id: RunId) -> Result<Arc<Round>, SourceError> {
        let round = self.rounds.iter().find(|round| round.id == id);
        round.cloned().ok_or_else(|| SourceError::unknown(&format!("round {id}")))
    }

    fn runs(&self, limit: u32) -> Result<Vec<ListedRun>, SourceError> {
        let of_rounds = self.rounds.iter().flat_map(|round| &round.tests).filter_map(|tested| match &tested.finding {
            Finding::Run(run) => Some(run_summary(run)),
            _ => None,
        });
        let mut runs: Vec<ListedRun> =
            self.runs.iter().map(|stored| run_summary(&stored.run)).chain(of_rounds).collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.id));
        runs.truncate(limit as usize);
        Ok(runs)
    }

    fn run(&self, id: RunId) -> Result<StoredRun, SourceError> {
        if let Some(stored) = self.runs.iter().find(|stored| stored.run.id == id) {
            return Ok(stored.clone());
        }
        let tests = self.rounds.iter().flat_map(|round| &round.tests);
        let found = tests.filter_map(|tested| match &tested.finding {
            Finding::Run(run) if run.id == id => Some((run, tested.samples.as_deref())),
            _ => None,
        });
        let stored = found.map(|(run, samples)| StoredRun {
            run: Arc::new(run.as_ref().clone()),
            samples: Arc::new(samples.cloned().unwrap_or_default()),
        });
        stored.into_iter().next().ok_or_else(|| SourceError::unknown(&format!("run {id}")))
    }

    fn results(&self, pair: &Pair) -> Result<Vec<PairResult>, SourceError> {
        let of_rounds = self.rounds.iter().flat_map(|round| results::of_round(round));
        let of_runs = self.runs.iter().flat_map(|stored| results::of_run(&stored.run));
        let mut found: Vec<PairResult> =
            of_rounds.chain(of_runs).filter(|found| found.pair == *pair).map(|found| found.result).collect();
        found.sort_by_key(|result| (result.started, result.run));
        Ok(found)
    }

    fn hosts(&self) -> Result<Vec<String>, SourceError> {
        let of_rounds = self.rounds.iter().flat_map(|round| &round.members).map(|member| member.name.clone());
        let of_snapshots = self.snapshots.iter().filter_map(|snapshot| snapshot.machine.name.value().cloned());
        Ok(of_rounds.chain(of_snapshots).collect::<BTreeSet<String>>().into_iter().collect())
    }

    fn snapshot(&self, host: &str) -> Result<Option<Arc<Snapshot>>, SourceError> {
        let is_of = |snapshot: &&Arc<Snapshot>| snapshot.machine.name.value().is_some_and(|name| name == host);
        if let Some(snapshot) = self.snapshots.iter().filter(is_of).max_by_key(|snapshot| snapshot.taken) {
            return Ok(Some(Arc::clone(snapshot)));
        }
        Ok(of_rounds(&self.rounds, host))
    }

    fn changes(&self, _host: &str, _limit: u32) -> Result<Vec<LoggedChange>, SourceError> {
        Ok(Vec::new())
    }
}

/// The facts of a host in the newest round that has them.
pub(super) fn of_rounds(rounds: &[Arc<Round>], host: &str) -> Option<Arc<Snapshot>> {
    let members = rounds.iter().flat_map(|round| &round.members).filter(|member| member.name == host);
    let mut known = members.filter_map(|member| member.after.as_deref().or(member.before.as_deref()));
    known.next().map(|snapshot| Arc::new(snapshot.clone()))
}

/// A round in a line.
#[must_use]
pub fn round_summary(round: &Round) -> RoundSummary {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    RoundSummary {
        id: round.id,
        started: round.started,
        elapsed: round.elapsed,
        title: round.title.clone(),
        hosts: count(round.members.len()),
        hosts_failed: count(round.members.iter().filter(|member| member.failure.is_some()).count()),
        tests: count(round.tests.len()),
        tests_failed: count(round.tests.iter().filter(|tested| !has_result(&tested.finding)).count()),
    }
}

/// A run in a line.
#[must_use]
pub fn run_summary(run: &Run) -> ListedRun {
    let totals = run.measurement.as_ref().map(|found| found.totals.as_slice()).unwrap_or_default();
    let goodput = totals.iter().map(|total| total.goodput.bps()).sum();
    let retransmits = totals.iter().filter_map(|total| total.retransmits).map(|count| count.get()).sum();
    ListedRun {
        id: run.id,
        started: run.started,
        role: run.role,
        peer: run.peer_name(),
        hosts: None,
        protocol: run.spec.protocol,
        direction: run.spec.direction,
        outcome: run.outcome.clone(),
        goodput: (!totals.is_empty()).then(|| units::DataRate::from_bps(goodput)),
        retransmits: (!totals.is_empty()).then(|| units::PacketCount::new(retransmits)),
    }
}
