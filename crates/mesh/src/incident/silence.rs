//! Series without results: neither good nor bad, and somebody has to know.

use std::collections::{BTreeMap, BTreeSet};

use baseline::watch::Status as WatchStatus;
use units::WallTime;

use super::record::{Event, Sign, Symptom};
use super::subject::{Element, Metric, Subject};
use super::{Incidents, SeriesStatus, moment, seconds};

impl Incidents {
    /// Hosts of which no series has results any more, and those that have again. Where it is all of them, it is the mesh.
    pub(super) fn silent(&mut self, now: WallTime) -> Vec<Event> {
        let mut hosts: BTreeMap<&str, HostSeries> = BTreeMap::new();
        // Whoever transfers nothing is not silent.
        for series in self.elements.keys().filter(|series| series.metric != Metric::TransferRate) {
            let status = self.status(series, now);
            let last = self.last_result(series, now);
            for host in [&series.from, &series.to] {
                let of = hosts.entry(host).or_default();
                match status {
                    SeriesStatus::Stale => of.stale += 1,
                    SeriesStatus::NoData => {}
                    _ => of.fresh += 1,
                }
                of.last = of.last.max(last);
            }
        }
        let known = hosts.len();
        let silent: BTreeMap<String, WallTime> = hosts
            .into_iter()
            .filter(|(_, of)| of.stale > 0 && of.fresh == 0)
            .filter_map(|(host, of)| Some((host.to_owned(), of.last?)))
            .collect();
        if known > 2 && silent.len() == known {
            let last = silent.values().copied().max().unwrap_or(now);
            return self.is_silent(Subject::Mesh, last, now);
        }
        let mut events = self.speak_again(&silent, now);
        for (host, last) in silent {
            events.extend(self.is_silent(Subject::Element(Element::Host(host)), last, now));
        }
        events
    }

    fn last_result(&self, series: &super::Series, now: WallTime) -> Option<WallTime> {
        match self.monitors.get(&series.metric)?.watch(series)?.status(seconds(now)) {
            WatchStatus::Stale { last_s, .. } => Some(moment(last_s)),
            WatchStatus::NoData | WatchStatus::Fresh(_) => None,
        }
    }

    fn is_silent(&mut self, subject: Subject, last: WallTime, now: WallTime) -> Vec<Event> {
        let is_known = self.incidents.iter().filter(|incident| incident.status.is_active()).any(|incident| {
            incident.symptoms.iter().any(|symptom| {
                let covers = symptom.subject == subject || symptom.subject == Subject::Mesh;
                symptom.sign == Sign::Silent && covers && symptom.recovered.is_none()
            })
        });
        if is_known {
            return Vec::new();
        }
        let symptom =
            Symptom { metric: Metric::Goodput, subject, since: last, shift: 0.0, sign: Sign::Silent, recovered: None };
        self.enter(symptom, now)
    }

    fn speak_again(&mut self, silent: &BTreeMap<String, WallTime>, now: WallTime) -> Vec<Event> {
        let silent: BTreeSet<&str> = silent.keys().map(String::as_str).collect();
        let mut events = Vec::new();
        for incident in self.incidents.iter_mut().filter(|incident| incident.status.is_bad()) {
            let mut any = false;
            for symptom in incident.symptoms.iter_mut().filter(|symptom| symptom.recovered.is_none()) {
                let still = symptom.subject.host().is_some_and(|host| silent.contains(host));
                if symptom.sign == Sign::Silent && !still {
                    symptom.recovered = Some(now);
                    any = true;
                }
            }
            if any && incident.symptoms.iter().all(|symptom| symptom.recovered.is_some()) {
                events.push(incident.verify(now));
            }
        }
        events
    }
}

#[derive(Default)]
struct HostSeries {
    stale: usize,
    fresh: usize,
    last: Option<WallTime>,
}
