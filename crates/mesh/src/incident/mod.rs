//! What is worse than it was, from the first sign until it is fixed and verified.
//!
//! Results are ranked in their own histories and pooled per host, direction, site and segment ([`baseline::monitor`]), for each
//! metric. What stands out opens an incident, or is one more symptom of one that is open: a host that loses packets is slow,
//! retransmits, and is one incident. It has one identity for its whole life:
//!
//! ```text
//! open ─► acknowledged ─► explained ─► fixed ─► verified ─► closed
//!  ▲                                              │
//!  └──────────────── it is back ◄─────────────────┘
//! ```
//!
//! Only measurements verify. A person may skip any step, and close what is no fault. While an incident is open, the baselines of its series
//! are frozen: a drop that has lasted a month is still a drop.
//!
//! | file | what it has |
//! |---|---|
//! | `mod` | results in, events out |
//! | `subject` | metrics, series, elements |
//! | `record` | an incident as it is stored |
//! | `life` | its steps |
//! | `group` | which findings belong together |
//! | `silence` | series without results |

mod group;
mod life;
mod record;
mod silence;
mod subject;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use baseline::expectation::{Expectation, OpenIncident};
use baseline::monitor::{self, Monitor, RoundResult};
use baseline::pool::Pooling;
use baseline::series::{Sample, Scale};
use baseline::watch::{Quality, State, Status as WatchStatus, WatchSettings, Worse};
use units::WallTime;

use crate::rules::Rules;
use crate::run::Resource;

pub use life::{Action, Refused};
pub use record::{
    ConfigurationChange, Event, EventKind, Explanation, Incident, IncidentId, Occurrence, Sign, Status, Symptom,
    TimelineEntry,
};
pub use subject::{Element, Metric, Series, Subject};

/// A result that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Results of unknown series are left out.
    pub series: Series,
    /// When.
    pub at: WallTime,
    /// In the unit of its metric.
    pub value: f64,
    /// What it was once a transfer had started, which is held against what the plan expects; nothing where it is the same.
    pub settled: Option<f64>,
    /// Whether it can be trusted: what an overloaded host measured is counted, and never judged.
    pub quality: Quality,
}

/// What a monitor finds.
type Found = monitor::Incident<Arc<Series>, Arc<Element>>;

/// What a cell of a grid shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesStatus {
    /// As usual.
    Good,
    /// Worse than usual.
    Worse,
    /// The evidence is not enough.
    Suspect,
    /// Too few results.
    Learning,
    /// No good result for too long: neither good nor bad.
    Stale,
    /// Never a result.
    NoData,
}

/// How a mesh is watched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Over how long the latest results of series are pooled: the period of the tests.
    pub pooled_over: Duration,
    /// Without a good result for so long a series is stale.
    pub stale_after: Duration,
    /// How long a verified incident is watched before it is closed.
    pub watched_for: Duration,
    /// How long before the first bad result changes of configuration are of interest.
    pub changes_before: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        Self { pooled_over: hours(12), stale_after: hours(36), watched_for: hours(24), changes_before: hours(48) }
    }
}

/// A mesh's series, and its incidents.
#[derive(Debug)]
pub struct Incidents {
    settings: Settings,
    rules: Rules,
    monitors: BTreeMap<Metric, Monitor<Arc<Series>, Arc<Element>>>,
    /// What the results of each series depend on.
    elements: BTreeMap<Arc<Series>, Arc<[Arc<Element>]>>,
    /// Those elements, each once: a mesh of a thousand hosts has a million series, and four thousand of them.
    known: BTreeSet<Arc<Element>>,
    incidents: Vec<Incident>,
    changes: Vec<ConfigurationChange>,
}

impl Incidents {
    /// A mesh without series.
    #[must_use]
    pub const fn new(settings: Settings, rules: Rules) -> Self {
        Self {
            settings,
            rules,
            monitors: BTreeMap::new(),
            elements: BTreeMap::new(),
            known: BTreeSet::new(),
            incidents: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Adds a series and the elements that it crosses beyond its hosts: sites, segments.
    pub fn add_series(&mut self, series: impl Into<Arc<Series>>, beyond: Vec<Element>) {
        let series = series.into();
        let of_hosts = [
            Element::Host(series.from.clone()),
            Element::Host(series.to.clone()),
            Element::From(series.from.clone()),
            Element::To(series.to.clone()),
        ];
        let elements: Arc<[Arc<Element>]> =
            of_hosts.into_iter().chain(beyond).map(|element| self.known(element)).collect();
        let settings = watch_settings(series.metric, &self.settings);
        let pooling = pooling(series.metric);
        let window = i64::try_from(self.settings.pooled_over.as_secs()).unwrap_or(i64::MAX);
        let new = || Monitor::new(settings, pooling).pooled_over(window);
        let monitor = self.monitors.entry(series.metric).or_insert_with(new);
        monitor.add(Arc::clone(&series), Arc::clone(&elements));
        self.elements.insert(series, elements);
    }

    fn known(&mut self, element: Element) -> Arc<Element> {
        if let Some(known) = self.known.get(&element) {
            return Arc::clone(known);
        }
        let element = Arc::new(element);
        self.known.insert(Arc::clone(&element));
        element
    }

    /// Says what a series should have, whatever it usually has.
    pub fn expect(&mut self, series: &Series, expectation: Expectation) {
        if let Some(monitor) = self.monitors.get_mut(&series.metric) {
            monitor.expect(series, expectation);
        }
    }

    /// Takes results of before, which are not judged again: after a start, in order of time.
    pub fn restore_history(&mut self, series: &Series, samples: &[Sample]) {
        if let Some(monitor) = self.monitors.get_mut(&series.metric) {
            monitor.restore(series, samples);
        }
    }

    /// Takes incidents as they were stored, after the histories: the baselines of those that are open are frozen again, and of series
    /// whose level was accepted nothing is expected.
    pub fn restore(&mut self, incidents: Vec<Incident>) {
        for incident in incidents.iter().filter(|incident| incident.is_accepted()) {
            for symptom in &incident.symptoms {
                self.expect_nothing(symptom);
            }
        }
        for incident in &incidents {
            for symptom in incident.symptoms.iter().filter(|symptom| symptom.recovered.is_none()) {
                if let (Some(monitor), Some(subject)) =
                    (self.monitors.get_mut(&symptom.metric), symptom.subject.monitored())
                {
                    let known = OpenIncident {
                        since_s: seconds(symptom.since),
                        shift: symptom.shift,
                        against: symptom.sign.against(),
                    };
                    monitor.reopen(&subject, known);
                }
            }
        }
        self.incidents = incidents;
    }

    /// The level of what a symptom is about is what somebody wants.
    fn expect_nothing(&mut self, symptom: &Symptom) {
        let concerned =
            |series: &&Arc<Series>| series.metric == symptom.metric && self.concerns(&symptom.subject, series);
        let concerned: Vec<Arc<Series>> = self.elements.keys().filter(concerned).cloned().collect();
        let Some(monitor) = self.monitors.get_mut(&symptom.metric) else { return };
        concerned.iter().for_each(|series| monitor.expect_nothing(series));
    }

    /// All incidents, in the order of opening.
    #[must_use]
    pub fn list(&self) -> &[Incident] {
        &self.incidents
    }

    /// What the plan allows.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: &IncidentId) -> Option<&Incident> {
        self.incidents.iter().find(|incident| incident.id == *id)
    }

    /// The same, to keep what was sent about it.
    pub(crate) fn all_mut(&mut self) -> &mut [Incident] {
        &mut self.incidents
    }

    /// What is known of a series.
    #[must_use]
    pub fn status(&self, series: &Series, now: WallTime) -> SeriesStatus {
        let Some(watch) = self.monitors.get(&series.metric).and_then(|monitor| monitor.watch(series)) else {
            return SeriesStatus::NoData;
        };
        let is_explained = |incident: &Incident| {
            incident.symptoms.iter().any(|symptom| {
                symptom.metric == series.metric
                    && symptom.recovered.is_none()
                    && self.concerns(&symptom.subject, series)
            })
        };
        match watch.status(seconds(now)) {
            WatchStatus::NoData => SeriesStatus::NoData,
            WatchStatus::Stale { .. } => SeriesStatus::Stale,
            WatchStatus::Fresh(State::Changed(_)) => SeriesStatus::Worse,
            WatchStatus::Fresh(_) if self.incidents.iter().any(is_explained) => SeriesStatus::Worse,
            WatchStatus::Fresh(State::Suspect) => SeriesStatus::Suspect,
            WatchStatus::Fresh(State::Learning) => SeriesStatus::Learning,
            WatchStatus::Fresh(State::Steady) => SeriesStatus::Good,
        }
    }

    /// What a series usually has: the median of its baseline, from before an incident that is open.
    #[must_use]
    pub fn usual(&self, series: &Series) -> Option<f64> {
        self.monitors.get(&series.metric)?.usual(series)
    }

    /// Takes results, in order of time. What is measured where maintenance is counts as poor.
    pub fn results(&mut self, results: &[Measured], now: WallTime) -> Vec<Event> {
        let mut by_metric: BTreeMap<Metric, Vec<RoundResult<Arc<Series>>>> = BTreeMap::new();
        for result in results {
            let Some((series, _)) = self.elements.get_key_value(&result.series) else { continue };
            let hosts = [&result.series.from, &result.series.to];
            let is_maintained =
                hosts.iter().any(|host| self.rules.is_maintained(&Resource::Host((*host).clone()), result.at));
            let quality = if is_maintained { Quality::Poor } else { result.quality };
            let sample = Sample { at_s: seconds(result.at), value: result.value };
            by_metric.entry(result.series.metric).or_default().push(RoundResult {
                series: Arc::clone(series),
                sample,
                quality,
            });
        }
        let settled: Vec<(&Series, f64)> =
            results.iter().filter_map(|result| Some((&result.series, result.settled?))).collect();
        let mut events = Vec::new();
        for (metric, results) in by_metric {
            let Some(monitor) = self.monitors.get_mut(&metric) else { continue };
            for (series, settled) in settled.iter().copied() {
                monitor.settle(series, settled);
            }
            let before: Vec<Option<i64>> = monitor.incidents().iter().map(|one| one.recovered_s).collect();
            let opened = monitor.round(&results, seconds(now));
            let opened: Vec<_> = opened.into_iter().map(|number| monitor.incidents()[number].clone()).collect();
            let back = |(one, before): (&Found, &Option<i64>)| {
                (before.is_none() && one.recovered_s.is_some()).then(|| one.subject.clone())
            };
            let recovered: Vec<_> = monitor.incidents().iter().zip(&before).filter_map(back).collect();
            for subject in recovered {
                events.extend(self.recovered(metric, &subject.into(), now));
            }
            for found in opened {
                events.extend(self.found(metric, &found, now));
            }
        }
        events
    }

    /// Takes a line of a host's change log: it is shown with the incidents of the host, before and after.
    pub fn configuration(&mut self, change: ConfigurationChange) -> Vec<Event> {
        let mut events = Vec::new();
        for incident in self.incidents.iter_mut().filter(|incident| incident.status.is_active()) {
            if incident.hosts.contains(&change.host) {
                events.extend(incident.saw_change(&change));
            }
        }
        let oldest = crate::clock::earlier(change.at, self.settings.changes_before * 2);
        self.changes.retain(|kept| kept.at >= oldest);
        self.changes.push(change);
        events
    }

    /// A person, or a program for them, does something about an incident.
    ///
    /// # Errors
    /// [`Refused`] where there is no such incident, or the step is not one from where it stands.
    pub fn act(&mut self, id: &IncidentId, action: Action, now: WallTime) -> Result<Event, Refused> {
        let incident = self.incidents.iter_mut().find(|incident| incident.id == *id).ok_or(Refused::Unknown)?;
        if let Action::Accept { .. } = &action {
            for symptom in &incident.symptoms {
                if let (Some(monitor), Some(subject)) =
                    (self.monitors.get_mut(&symptom.metric), symptom.subject.monitored())
                {
                    monitor.accept(&subject, seconds(now));
                }
            }
        }
        incident.act(action, now)
    }

    /// What time alone brings: series without results, verified incidents that stayed so.
    pub fn tick(&mut self, now: WallTime) -> Vec<Event> {
        let mut events = self.silent(now);
        for incident in &mut self.incidents {
            events.extend(incident.tick(now, self.settings.watched_for));
        }
        events
    }

    /// The series whose change an incident is about, of one metric.
    #[must_use]
    pub fn series_of_incident(&self, incident: &Incident, metric: Metric) -> Vec<Series> {
        let worse = || incident.symptoms.iter().filter(|symptom| symptom.recovered.is_none());
        let is_of_it = |series: &&Arc<Series>| {
            series.metric == metric
                && worse().any(|symptom| symptom.metric == metric && self.concerns(&symptom.subject, series))
        };
        self.elements.keys().filter(is_of_it).map(|series| series.as_ref().clone()).collect()
    }

    fn concerns(&self, subject: &Subject, series: &Series) -> bool {
        match subject {
            Subject::Element(element) => {
                let crosses = |elements: &Arc<[Arc<Element>]>| elements.iter().any(|one| **one == *element);
                self.elements.get(series).is_some_and(crosses)
            }
            Subject::Series(own) => own == series,
            Subject::Mesh => true,
        }
    }

    /// The hosts of a subject: a host's own, or the ends of its series.
    fn hosts(&self, subject: &Subject) -> BTreeSet<String> {
        match subject {
            Subject::Element(Element::Host(host) | Element::From(host) | Element::To(host)) => {
                BTreeSet::from([host.clone()])
            }
            Subject::Series(series) => BTreeSet::from([series.from.clone(), series.to.clone()]),
            Subject::Element(_) | Subject::Mesh => {
                let of = self.elements.keys().filter(|series| self.concerns(subject, series));
                of.flat_map(|series| [series.from.clone(), series.to.clone()]).collect()
            }
        }
    }
}

pub(crate) fn seconds(at: WallTime) -> i64 {
    i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX)
}

pub(crate) fn moment(seconds: i64) -> WallTime {
    WallTime::from_unix_nanos(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000))
}

fn watch_settings(metric: Metric, settings: &Settings) -> WatchSettings {
    let stale_after_s = i64::try_from(settings.stale_after.as_secs()).unwrap_or(i64::MAX);
    let (scale, worse) = match metric {
        Metric::Goodput | Metric::DownloadRate | Metric::TransferRate | Metric::Mtu => (Scale::Ratio, Worse::Lower),
        Metric::RttMin | Metric::RttLoaded => (Scale::Ratio, Worse::Higher),
        Metric::Loss | Metric::RetransmitShare => (Scale::Difference, Worse::Higher),
    };
    WatchSettings { scale, worse, stale_after_s, ..WatchSettings::default() }
}

fn pooling(metric: Metric) -> Pooling {
    match metric {
        // Shares: a thousandth of all packets.
        Metric::Loss | Metric::RetransmitShare => Pooling { least_shift: 0.001, ..Pooling::default() },
        _ => Pooling::default(),
    }
}
