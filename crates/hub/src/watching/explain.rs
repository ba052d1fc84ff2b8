//! The diagnosis of the latest results, by itself: once the facts of the hosts concerned are newer than the incident.

use std::sync::Arc;
use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Diagnosis, FaultLocation, diagnose};
use mesh::clock;
use mesh::incident::{Action, Explanation, Incident, Status};
use units::WallTime;

use super::Watching;
use super::waiting::Waiting;
use crate::schedule::planned::Planned;
use crate::store::rows::Judgement;
use crate::store::{Store, StoreError};

impl Watching {
    /// Explains the incidents whose time has come. The diagnosis itself holds up nobody.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn explain(&self, store: &dyn Store, planned: &Arc<Planned>, now: WallTime) -> Result<(), StoreError> {
        let Some(waiting) = self.due(store, planned, now)? else { return Ok(()) };
        let latest = self.latest();
        let round = super::round::of(store, planned, &latest, now)?;
        let diagnosis = diagnose(&round, Catalogue::built_in(), &Rules::built_in());
        let mut state = self.state();
        state.waiting.retain(|one| one.id != waiting.id);
        let Some(incident) = state.incidents.get(&waiting.id).cloned() else { return Ok(()) };
        let explanation = explanation(&incident, &diagnosis);
        if let Some(explanation) = explanation.filter(|one| incident.status.is_bad() && is_better(one, &incident))
            && let Ok(event) =
                state.incidents.act(&waiting.id, Action::Explain { explanation: explanation.clone() }, now)
        {
            state.changed(&[event]);
            let same = state.incidents.list().iter().find(|other| is_same(other, &incident, &explanation));
            if let Some(into) = same.map(|other| other.id.clone()) {
                let events = state.incidents.fold(&incident.id, &into, now);
                state.changed(&events);
            }
        } else if incident.status < Status::Explained && waiting.attempts < MOST_ATTEMPTS {
            // More results may say what these do not.
            let again =
                Waiting { attempts: waiting.attempts + 1, since: now, until: clock::later(now, AGAIN), ..waiting };
            state.waiting.push(again);
        }
        let content = serde_json::to_string(&diagnosis)?;
        let diagnoses = vec![(incident.id.clone(), content)];
        state.save(store, Judgement { diagnoses, ..Judgement::default() })
    }

    /// An incident whose hosts have delivered their facts since it was opened, or that has waited for long enough.
    fn due(&self, store: &dyn Store, planned: &Planned, now: WallTime) -> Result<Option<Waiting>, StoreError> {
        let waiting = self.state().waiting.clone();
        for one in waiting {
            let mut is_ready = one.until <= now;
            if !is_ready && one.attempts == 0 {
                is_ready = true;
                for host in one.hosts.iter().filter(|host| planned.agents().contains(*host)) {
                    is_ready &= store.newest_snapshot(host)?.is_some_and(|newest| newest >= one.since);
                }
            }
            if is_ready {
                return Ok(Some(one));
            }
        }
        Ok(None)
    }

    fn latest(&self) -> super::round::Latest {
        let state = self.state();
        let usual =
            state.series.keys().filter_map(|series| Some((series.as_ref().clone(), state.incidents.usual(series)?)));
        super::round::Latest { runs: state.latest(), usual: usual.collect() }
    }
}

/// The likeliest cause of the problem that is about the incident's hosts; of the first problem where none is.
fn explanation(incident: &Incident, diagnosis: &Diagnosis) -> Option<Explanation> {
    let concerns = |place: &FaultLocation| match place {
        FaultLocation::Host { name } => incident.hosts.contains(name),
        FaultLocation::Path { from, to } => incident.hosts.contains(from) || incident.hosts.contains(to),
        FaultLocation::Segment { .. } | FaultLocation::Balancer => false,
    };
    let is_about = |problem: &&diagnose::diagnosis::Problem| {
        problem.ranking.first().and_then(|ranked| ranked.places.first()).is_some_and(|place| concerns(&place.place))
    };
    let problem = diagnosis.problems.iter().find(is_about).or(diagnosis.problems.first())?;
    let ranked = problem.ranking.first().filter(|ranked| ranked.probability > problem.unknown)?;
    let place = ranked.places.first()?;
    Some(Explanation {
        cause: ranked.cause.clone(),
        place: place.place.to_string(),
        probability: ranked.probability,
        by: DIAGNOSIS.to_owned(),
    })
}

/// Whether an explanation says more than the one that the incident has. What a person has said stands; what the diagnosis has said
/// with less evidence does not.
fn is_better(explanation: &Explanation, incident: &Incident) -> bool {
    incident.explanation.as_ref().is_none_or(|before| {
        let is_other = (&before.cause, &before.place) != (&explanation.cause, &explanation.place);
        before.by == DIAGNOSIS && is_other && explanation.probability > before.probability
    })
}

/// Whether another incident is one with this: of earlier ones, one that is bad for the same cause at the same place.
fn is_same(other: &Incident, incident: &Incident, explanation: &Explanation) -> bool {
    let cause = |one: &Explanation| (one.cause.clone(), one.place.clone());
    other.id != incident.id
        && other.opened <= incident.opened
        && other.status.is_bad()
        && other.explanation.as_ref().is_some_and(|one| one.by == DIAGNOSIS && cause(one) == cause(explanation))
}

/// Who explains where nobody else does.
const DIAGNOSIS: &str = "diagnosis";
/// From one look at what could not be explained to the next.
const AGAIN: Duration = Duration::from_secs(30);
const MOST_ATTEMPTS: u32 = 10;
