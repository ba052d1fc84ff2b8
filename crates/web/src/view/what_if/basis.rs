//! The run that is varied, with what is known of its hosts and its path.

use std::sync::Arc;

use model::host::snapshot::Snapshot;
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::{Run, RunId};
use model::series::RunSamples;
use model::spec::Protocol;
use predict::case::{Case, Unpredictable};
use predict::of_round::Expectations;

use crate::query::Query;
use crate::source::{Pair, Source, SourceError, StoredRun};

/// A run, and what others know of it.
pub(super) struct Basis {
    stored: StoredRun,
    /// The round that has it as a test, with the facts that its hosts had then.
    round: Option<Arc<Round>>,
    sender: Option<Arc<Snapshot>>,
    receiver: Option<Arc<Snapshot>>,
    /// The host that sends, where the direction is chosen by its name.
    from: Option<String>,
    is_inbound: bool,
}

/// A direction of a run, between hosts by their names in the plan.
pub(super) struct VariedCase<'a> {
    pub(super) case: Case<'a>,
    pub(super) from: String,
    pub(super) to: String,
}

impl Basis {
    /// The run or the pair that an address names; [`None`] where it names none, or a pair without a transfer over TCP.
    pub(super) fn of(source: &dyn Source, query: &Query) -> Result<Option<Self>, SourceError> {
        let name = |key| query.text(key).map(str::to_owned);
        let (id, round, from) = if let Some(text) = query.text("run") {
            let id: RunId = text.parse().map_err(|_| SourceError::unknown("such name of a run"))?;
            (id, None, None)
        } else if let Some((from, to)) = name("from").zip(name("to")) {
            let pair = Pair { from: from.clone(), to, network: name("network") };
            let results = source.results(&pair)?;
            let is_transfer = |result: &&crate::source::results::PairResult| {
                result.protocol == Protocol::Tcp
                    && result.failure.is_none()
                    && result.goodput.is_some_and(|rate| !rate.is_zero())
            };
            let newest = results.iter().rev().find(is_transfer);
            let Some((run, result)) = newest.and_then(|result| Some((result.run?, result))) else { return Ok(None) };
            (run, result.round, Some(from))
        } else {
            return Ok(None);
        };
        let stored = source.run(id)?;
        let round = round_of(source, id, round)?;
        let hosts = [stored.run.local.name.as_deref(), stored.run.peer.host.name.as_deref()];
        let facts = |host: Option<&str>| match host.filter(|_| round.is_none()) {
            Some(host) => source.snapshot(host),
            None => Ok(None),
        };
        let (sender, receiver) = (facts(hosts[0])?, facts(hosts[1])?);
        let is_inbound = query.text("heading") == Some("inbound");
        Ok(Some(Self { stored, round, sender, receiver, from, is_inbound }))
    }

    pub(super) fn samples(&self) -> &RunSamples {
        &self.stored.samples
    }

    /// Does something with the direction that was asked for.
    pub(super) fn with_case<T>(
        &self,
        act: impl FnOnce(&VariedCase<'_>) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let expectations = self.round.as_deref().map(Expectations::of);
        let tested = self.round.as_deref().and_then(|round| tested(round, self.stored.run.id));
        let cases = match expectations.as_ref().zip(tested) {
            Some((expectations, tested)) => expectations.cases_of(tested),
            None => self.alone(&self.stored.run),
        };
        let is_it = |case: &&Case<'_>| match &self.from {
            Some(from) => case.sender.name == *from || case.sender.name.starts_with(&format!("{from}.")),
            None => (case.total.heading == model::measurement::Heading::Inbound) == self.is_inbound,
        };
        let case = cases.iter().find(is_it).or_else(|| cases.first());
        let refused = || SourceError::Wrong {
            what: format!("run {} measured no transfer over TCP", self.stored.run.id),
            hint: "vary a run over TCP, or a path without a run at /what-if".to_owned(),
        };
        let case = case.cloned().ok_or_else(refused)?;
        let host = |name: &str| {
            let ends = tested.into_iter().flat_map(|tested| [&tested.from, &tested.to]);
            ends.into_iter().find(|end| end.to_string() == name).map_or_else(|| name.to_owned(), |end| end.host.clone())
        };
        let (from, to) = (host(&case.sender.name), host(&case.receiver.name));
        act(&VariedCase { case, from, to })
    }

    fn alone<'a>(&'a self, run: &'a Run) -> Vec<Case<'a>> {
        let (local, peer) = (self.sender.as_deref(), self.receiver.as_deref());
        let cases = Case::all(run).into_iter();
        cases
            .map(|case| match case.total.heading {
                model::measurement::Heading::Outbound => case.between(local, peer),
                model::measurement::Heading::Inbound => case.between(peer, local),
            })
            .collect()
    }
}

/// The round that has a run: the one that is known, or one of the newest.
fn round_of(source: &dyn Source, run: RunId, known: Option<RunId>) -> Result<Option<Arc<Round>>, SourceError> {
    if let Some(id) = known {
        return source.round(id).map(Some);
    }
    for summary in source.rounds(NEWEST)? {
        let round = source.round(summary.id)?;
        if tested(&round, run).is_some() {
            return Ok(Some(round));
        }
    }
    Ok(None)
}

fn tested(round: &Round, id: RunId) -> Option<&Tested> {
    round.tests.iter().find(|tested| matches!(&tested.finding, Finding::Run(run) if run.id == id))
}

/// Why a run cannot be simulated, with the way out.
pub(super) fn unpredictable(error: &Unpredictable) -> SourceError {
    let hint = match error {
        Unpredictable::Algorithm(_) => "choose a congestion control that there is a model of",
        _ => "change the value that it names",
    };
    SourceError::Wrong { what: format!("it cannot be simulated: {error}"), hint: hint.to_owned() }
}

/// Rounds in which a run is looked for.
const NEWEST: u32 = 4;
