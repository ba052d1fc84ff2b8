//! Which findings belong together.

use std::collections::BTreeSet;

use units::WallTime;

use super::record::{Event, EventKind, Incident, IncidentId, Occurrence, Status, Symptom};
use super::subject::{Metric, Subject};
use super::{Found, Incidents, moment};
use crate::clock;

impl Incidents {
    /// A monitor has found that something is worse.
    pub(super) fn found(&mut self, metric: Metric, found: &Found, now: WallTime) -> Vec<Event> {
        let symptom = Symptom {
            metric,
            subject: found.subject.clone().into(),
            since: moment(found.since_s),
            shift: found.shift,
            sign: found.against.into(),
            recovered: None,
        };
        self.enter(symptom, now)
    }

    /// Adds a symptom to the incident that it belongs to, or opens one.
    pub(super) fn enter(&mut self, symptom: Symptom, now: WallTime) -> Vec<Event> {
        let hosts = self.hosts(&symptom.subject);
        let related = self.incidents.iter().position(|incident| {
            let is_of_it = self.is_related(&incident.subject, &symptom.subject)
                || self.is_both_directions(incident, &symptom)
                || is_explained(incident, &hosts);
            incident.status.is_active() && is_of_it
        });
        let Some(number) = related else { return self.open(symptom, hosts, now) };
        let is_wider = self.series_of(&symptom.subject).len() > self.series_of(&self.incidents[number].subject).len();
        let incident = &mut self.incidents[number];
        let mut events = Vec::new();
        if is_wider {
            incident.subject = symptom.subject.clone();
            incident.hosts = hosts;
            incident.enter(now, Occurrence::Moved { to: symptom.subject.clone() });
            events.push(incident.event(EventKind::Grown));
        }
        incident.since = incident.since.min(symptom.since);
        events.push(incident.add(symptom, now));
        if is_wider {
            events.extend(self.fold_covered(number, now));
        }
        events
    }

    /// Series that stood out one after the other were an incident each; once what they have in common is found, it is one.
    fn fold_covered(&mut self, number: usize, now: WallTime) -> Vec<Event> {
        let whole = &self.incidents[number];
        let is_covered = |other: &&Incident| {
            other.id != whole.id
                && other.status.is_bad()
                && self.is_related(&other.subject, &whole.subject)
                && self.is_at_once(other.since, whole.since)
        };
        let covered: Vec<IncidentId> =
            self.incidents.iter().filter(is_covered).map(|incident| incident.id.clone()).collect();
        let into = whole.id.clone();
        covered.iter().flat_map(|id| self.fold(id, &into, now)).collect()
    }

    /// Makes one incident of two that have one cause at one place: `into` has the symptoms and hosts of `id` from now on, which is closed.
    /// It is about what is worse: a host that was found first and lost little is not what all is about. Nothing happens where one of them is over, or they are the same.
    pub fn fold(&mut self, id: &IncidentId, into: &IncidentId, now: WallTime) -> Vec<Event> {
        let place = |wanted: &IncidentId| {
            self.incidents.iter().position(|incident| incident.id == *wanted && incident.status.is_active())
        };
        let (Some(from), Some(to)) = (place(id), place(into)) else { return Vec::new() };
        if from == to {
            return Vec::new();
        }
        let is_worse = self.incidents[from].severity() > self.incidents[to].severity();
        let (symptoms, hosts, since, subject) = {
            let folded = &mut self.incidents[from];
            (std::mem::take(&mut folded.symptoms), folded.hosts.clone(), folded.since, folded.subject.clone())
        };
        let kept = &mut self.incidents[to];
        if is_worse {
            kept.subject = subject.clone();
            kept.enter(now, Occurrence::Moved { to: subject });
        }
        kept.hosts.extend(hosts);
        kept.since = kept.since.min(since);
        let (over, worse): (Vec<Symptom>, Vec<Symptom>) =
            symptoms.into_iter().partition(|symptom| symptom.recovered.is_some());
        kept.symptoms.extend(over);
        let mut events: Vec<Event> = worse.into_iter().map(|symptom| kept.add(symptom, now)).collect();
        events.push(self.incidents[from].fold(into, now));
        events
    }

    fn open(&mut self, symptom: Symptom, hosts: BTreeSet<String>, now: WallTime) -> Vec<Event> {
        let mut incident = Incident {
            id: self.name(&symptom.subject, now),
            status: Status::Open,
            subject: symptom.subject.clone(),
            hosts,
            since: symptom.since,
            opened: now,
            verified: None,
            closed: None,
            silent_until: None,
            symptoms: vec![symptom],
            explanation: None,
            timeline: Vec::new(),
            sent: std::collections::BTreeMap::new(),
        };
        incident.enter(now, Occurrence::Opened);
        let oldest = clock::earlier(incident.since, self.settings.changes_before);
        let of_its_hosts = self.changes.iter().filter(|change| incident.hosts.contains(&change.host));
        for change in of_its_hosts.filter(|change| change.at >= oldest).cloned().collect::<Vec<_>>() {
            incident.saw_change(&change);
        }
        let event = incident.event(EventKind::Opened);
        self.incidents.push(incident);
        vec![event]
    }

    /// The second at which it was opened and what it is about: the same on every hub that sees the same results.
    fn name(&self, subject: &Subject, now: WallTime) -> IncidentId {
        let about: String = subject.to_string().bytes().fold(0xcbf2_9ce4_u32, fnv).to_string();
        let base = format!("I{}-{}", now.unix_seconds(), &about[..about.len().min(4)]);
        let mut name = IncidentId(base.clone());
        let mut next = 2;
        while self.incidents.iter().any(|incident| incident.id == name) {
            name = IncidentId(format!("{base}-{next}"));
            next += 1;
        }
        name
    }

    /// A monitor has found that something is as before. The incident is verified once all of it is.
    pub(super) fn recovered(&mut self, metric: Metric, subject: &Subject, now: WallTime) -> Vec<Event> {
        let mut events = Vec::new();
        for incident in self.incidents.iter_mut().filter(|incident| incident.status.is_bad()) {
            let of_it = incident.symptoms.iter_mut().filter(|symptom| {
                symptom.metric == metric && symptom.subject == *subject && symptom.recovered.is_none()
            });
            let mut any = false;
            for symptom in of_it {
                symptom.recovered = Some(now);
                any = true;
            }
            if any && incident.symptoms.iter().all(|symptom| symptom.recovered.is_some()) {
                events.push(incident.verify(now));
            }
        }
        events
    }

    /// Whether two subjects are one fault: the same, or most series of the smaller one are those of the other.
    fn is_related(&self, one: &Subject, other: &Subject) -> bool {
        if one == other || (one.host().is_some() && one.host() == other.host()) {
            return true;
        }
        let (one, other) = (self.series_of(one), self.series_of(other));
        let common = one.intersection(&other).count();
        let smaller = one.len().min(other.len());
        smaller > 0 && common * 5 >= smaller * 4
    }

    /// Whether a symptom is what two hosts have in the other direction at the same time: a link or a host of both is one cause, where two
    /// independent ones would have to begin together.
    fn is_both_directions(&self, incident: &Incident, symptom: &Symptom) -> bool {
        let ends = |subject: &Subject| {
            let mut pairs = self.series_of(subject);
            let first = pairs.pop_first()?;
            let is_one = pairs.iter().all(|[from, to]| [*to, *from] == first);
            is_one.then(|| BTreeSet::from(first))
        };
        let hosts = ends(&incident.subject);
        hosts.is_some() && hosts == ends(&symptom.subject) && self.is_at_once(incident.since, symptom.since)
    }

    /// Whether two moments are as near as results of different pairs of one round.
    fn is_at_once(&self, one: WallTime, other: WallTime) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        clock::later(first, self.settings.pooled_over) >= second
    }

    /// The directed pairs whose series cross a subject, whatever their metric.
    fn series_of(&self, subject: &Subject) -> BTreeSet<[&str; 2]> {
        let of = self.elements.keys().filter(|series| match subject {
            Subject::Series(own) => own.from == series.from && own.to == series.to,
            _ => self.concerns(subject, series),
        });
        of.map(|series| [series.from.as_str(), series.to.as_str()]).collect()
    }
}

/// Whether an incident has its cause at one of these hosts: what is worse there is one more symptom.
fn is_explained(incident: &Incident, hosts: &BTreeSet<String>) -> bool {
    incident.explanation.as_ref().is_some_and(|explanation| hosts.contains(&explanation.place))
}

/// A step of FNV-1a (Fowler, Noll, Vo).
fn fnv(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}
