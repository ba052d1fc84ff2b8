//! A mesh as its rounds come in: incidents, each of one element or one series, from opening to recovery.

use std::collections::{BTreeMap, BTreeSet};

use crate::pool::{self, Pooled, Pooling, Rank};
use crate::screen::Screen;
use crate::series::{Sample, median};
use crate::watch::{OpenChange, Quality, State, Turn, Watch, WatchSettings, Worse};

/// What an incident is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject<K, E> {
    /// A host, direction, site or segment: all series that cross it.
    Element(E),
    /// One series, whose change no element explains.
    Series(K),
}

/// Something that is worse, from the first sign until it is over. It keeps its number for life.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident<K, E> {
    /// Counted from 0 in the order of opening.
    pub number: usize,
    /// What it is about.
    pub subject: Subject<K, E>,
    /// When it was opened.
    pub opened_s: i64,
    /// When the first bad result was measured: of a series, since its change; of an element, the first of those that are pooled and worse.
    pub since_s: i64,
    /// The shift on the scale of the series when it was opened: the logarithm of the ratio for rates.
    pub shift: f64,
    /// When the old level was back.
    pub recovered_s: Option<i64>,
}

/// A result of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundResult<K> {
    /// The key of its series; results of unknown keys are left out.
    pub series: K,
    /// Moment and value; later than all before it, or it is left out.
    pub sample: Sample,
    /// Whether it can be trusted.
    pub quality: Quality,
}

/// A mesh that is watched.
#[derive(Debug)]
pub struct Monitor<K, E> {
    settings: WatchSettings,
    pooling: Pooling,
    series: BTreeMap<K, Tracked<E>>,
    incidents: Vec<Incident<K, E>>,
    screen: Screen,
    /// The latest results of series are pooled if they are not older; those of a round alone where it is [`None`].
    window_s: Option<i64>,
}

#[derive(Debug)]
struct Tracked<E> {
    elements: Vec<E>,
    watch: Watch,
    /// The baseline while an incident of one of its elements is open, by the number of the incident.
    frozen: Option<(usize, Vec<f64>)>,
    /// Its latest good result.
    latest: Option<Ranked>,
}

/// A result and where it lay when it came.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    at_s: i64,
    rank: Rank,
}

impl<K: Ord + Clone, E: Ord + Clone> Monitor<K, E> {
    /// A mesh without series.
    #[must_use]
    pub fn new(settings: WatchSettings, pooling: Pooling) -> Self {
        Self {
            settings,
            pooling,
            series: BTreeMap::new(),
            incidents: Vec::new(),
            screen: Screen::default(),
            window_s: None,
        }
    }

    /// The same, of results that come one by one: with each, the latest of all series that are not older than this are pooled.
    #[must_use]
    pub const fn pooled_over(mut self, window_s: i64) -> Self {
        self.window_s = Some(window_s);
        self
    }

    /// Adds a series and the elements that its results depend on.
    pub fn add(&mut self, series: K, elements: Vec<E>) {
        let watch = Watch::new(self.settings);
        self.series.insert(series, Tracked { elements, watch, frozen: None, latest: None });
    }

    /// Takes results of before, which are not judged again.
    pub fn restore(&mut self, series: &K, samples: &[Sample]) {
        if let Some(tracked) = self.series.get_mut(series) {
            tracked.watch.restore(samples);
        }
    }

    /// Takes an incident of before, after the results: the baselines of its series are those before its first bad result.
    pub fn reopen(&mut self, subject: &Subject<K, E>, since_s: i64, shift: f64) {
        let number = self.open(subject.clone(), Opening { opened_s: since_s, since_s, shift });
        if let Subject::Element(element) = subject {
            self.freeze(element, Freeze { number, since_s });
        }
    }

    /// Takes the present level of an element or a series as the new normal, and ends what is open of it.
    pub fn accept(&mut self, subject: &Subject<K, E>, now_s: i64) {
        let open = self.incidents.iter_mut().find(|one| one.recovered_s.is_none() && one.subject == *subject);
        let Some(incident) = open else { return };
        incident.recovered_s = Some(now_s);
        let (number, since_s) = (incident.number, incident.since_s);
        for (key, tracked) in &mut self.series {
            let is_frozen = tracked.frozen.take_if(|(by, _)| *by == number).is_some();
            if is_frozen || *subject == Subject::Series(key.clone()) {
                tracked.watch.accept_since(since_s);
                tracked.latest = None;
            }
        }
    }

    /// All incidents, in the order of opening.
    #[must_use]
    pub fn incidents(&self) -> &[Incident<K, E>] {
        &self.incidents
    }

    /// What is known of a series.
    #[must_use]
    pub fn watch(&self, series: &K) -> Option<&Watch> {
        self.series.get(series).map(|tracked| &tracked.watch)
    }

    /// Takes the results of a round; the numbers of the incidents that it opened. Results of unknown series are left out.
    pub fn round(&mut self, results: &[RoundResult<K>], now_s: i64) -> Vec<usize> {
        let first = self.incidents.len();
        self.rank(results);
        let newest = results.iter().map(|result| result.sample.at_s).max().unwrap_or(now_s);
        let pooled = match self.window_s {
            Some(window_s) => self.pooled(|_, ranked| ranked.at_s > newest.saturating_sub(window_s)),
            None => {
                let of_round: BTreeSet<&K> = results.iter().map(|result| &result.series).collect();
                self.pooled(|series, _| of_round.contains(series))
            }
        };
        let recovered = self.recover(&pooled, now_s);
        let open = self.open_elements();
        let is_explained =
            |result: &Pooled<E>| result.elements.iter().any(|one| open.contains(one) || recovered.contains(one));
        let rest: Vec<Pooled<E>> = pooled.into_iter().filter(|result| !is_explained(result)).collect();
        for blamed in pool::blame(&rest, &self.pooling).blamed {
            let since_s = self.first_bad(&blamed.element).unwrap_or(now_s);
            let opening = Opening { opened_s: now_s, since_s, shift: blamed.shift };
            let number = self.open(Subject::Element(blamed.element.clone()), opening);
            self.freeze(&blamed.element, Freeze { number, since_s });
        }
        for result in results {
            self.record(result, now_s);
        }
        (first..self.incidents.len()).collect()
    }

    /// Ranks each result in the history of its own series.
    fn rank(&mut self, results: &[RoundResult<K>]) {
        let Self { settings, series, .. } = self;
        for result in results {
            let Some(tracked) = series.get_mut(&result.series) else { continue };
            let level = settings.scale.level(result.sample.value);
            let rank = match &tracked.frozen {
                Some((_, frozen)) => pool::rank(frozen, level),
                None => pool::rank(&tracked.watch.baseline(), level),
            };
            let rank = rank.filter(|_| result.quality == Quality::Good);
            // Pooling looks for what is lower: where higher is worse, it looks from the other side.
            let rank = rank.map(|rank| match settings.worse {
                Worse::Lower => rank,
                Worse::Higher => Rank { z: -rank.z, shift: -rank.shift },
            });
            tracked.latest = rank.map(|rank| Ranked { at_s: result.sample.at_s, rank });
        }
    }

    fn pooled(&self, counts: impl Fn(&K, &Ranked) -> bool) -> Vec<Pooled<E>> {
        let pooled = |(key, tracked): (&K, &Tracked<E>)| {
            let latest = tracked.latest.filter(|latest| counts(key, latest))?;
            Some(Pooled { rank: latest.rank, elements: tracked.elements.clone() })
        };
        self.series.iter().filter_map(pooled).collect()
    }

    /// The first of the latest results of an element that are worse than usual.
    fn first_bad(&self, element: &E) -> Option<i64> {
        let of_element = self.series.values().filter(|tracked| tracked.elements.contains(element));
        let bad = of_element.filter_map(|tracked| tracked.latest).filter(|latest| latest.rank.z < 0.0);
        bad.map(|latest| latest.at_s).min()
    }

    /// Keeps the results from before the first bad one as baselines of all series of an element.
    fn freeze(&mut self, element: &E, freeze: Freeze) {
        for tracked in self.series.values_mut().filter(|tracked| tracked.elements.contains(element)) {
            if tracked.frozen.is_none() {
                tracked.watch.forget_since(freeze.since_s);
                tracked.frozen = Some((freeze.number, tracked.watch.baseline()));
            }
        }
    }

    fn open_elements(&self) -> Vec<E> {
        let open = self.incidents.iter().filter(|incident| incident.recovered_s.is_none());
        open.filter_map(|incident| match &incident.subject {
            Subject::Element(element) => Some(element.clone()),
            Subject::Series(_) => None,
        })
        .collect()
    }

    /// Closes incidents of elements whose results are back, against the baselines from before; these elements.
    fn recover(&mut self, pooled: &[Pooled<E>], now_s: i64) -> Vec<E> {
        let worse = match self.settings.worse {
            Worse::Lower => 1.0,
            Worse::Higher => -1.0,
        };
        let mut back = Vec::new();
        for incident in self.incidents.iter_mut().filter(|incident| incident.recovered_s.is_none()) {
            let Subject::Element(element) = &incident.subject else { continue };
            let of_element = pooled.iter().filter(|result| result.elements.contains(element));
            let shifts: Vec<f64> = of_element.map(|result| result.rank.shift).collect();
            let is_back =
                shifts.len() >= self.pooling.least_results && median(&shifts) > worse * incident.shift * STILL_OPEN;
            if is_back {
                incident.recovered_s = Some(now_s);
                back.push(element.clone());
                for tracked in self.series.values_mut() {
                    if tracked.frozen.take_if(|(number, _)| *number == incident.number).is_some() {
                        // What was measured before the fix says nothing of what comes after it.
                        tracked.latest = None;
                    }
                }
            }
        }
        back
    }

    fn record(&mut self, result: &RoundResult<K>, now_s: i64) {
        let Some(tracked) = self.series.get_mut(&result.series) else { return };
        // An open incident explains its series: their results are no part of any baseline until it is over.
        if tracked.frozen.is_some() {
            return;
        }
        match tracked.watch.record(result.sample, result.quality, &mut self.screen) {
            Turn::None => {}
            Turn::Opened => {
                let State::Changed(OpenChange { change, .. }) = tracked.watch.state() else { return };
                let shift = self.settings.scale.level(change.after) - self.settings.scale.level(change.before);
                let opening = Opening { opened_s: now_s, since_s: change.at_s, shift };
                self.open(Subject::Series(result.series.clone()), opening);
            }
            Turn::Recovered => {
                let subject = Subject::Series(result.series.clone());
                let mut open = self.incidents.iter_mut().rev();
                if let Some(incident) = open.find(|incident| incident.subject == subject) {
                    incident.recovered_s = Some(now_s);
                }
            }
        }
    }

    fn open(&mut self, subject: Subject<K, E>, opening: Opening) -> usize {
        let number = self.incidents.len();
        let Opening { opened_s, since_s, shift } = opening;
        // Pooled shifts of what is worse are negative; on the scale of the series, higher may be worse.
        let shift = match self.settings.worse {
            Worse::Lower => -shift.abs(),
            Worse::Higher => shift.abs(),
        };
        self.incidents.push(Incident { number, subject, opened_s, since_s, shift, recovered_s: None });
        number
    }
}

#[derive(Clone, Copy)]
struct Opening {
    opened_s: i64,
    since_s: i64,
    shift: f64,
}

#[derive(Clone, Copy)]
struct Freeze {
    number: usize,
    since_s: i64,
}

/// An incident stays open while results are below this share of the shift that opened it.
const STILL_OPEN: f64 = 0.4;
