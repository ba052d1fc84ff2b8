//! A mesh as its rounds come in: incidents, each of one element or one series, from opening to recovery.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::expectation::{Expectation, MANY as MANY_SHORT, OpenIncident, SEVERAL as SEVERAL_SHORT, Yardstick};
use crate::pool::{self, Blamed, FEW, Pooled, Pooling};
use crate::ranked::Rank;
use crate::recent::{self, DEPTHS, Recent};
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
    /// What it is worse than: results before it, or what the series should have.
    pub against: Yardstick,
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
    settings: Arc<WatchSettings>,
    pooling: Pooling,
    series: BTreeMap<K, Tracked<E>>,
    incidents: Vec<Incident<K, E>>,
    screen: Screen,
    /// The latest results of series are pooled if they are not older; those of a round alone where it is [`None`].
    window_s: Option<i64>,
}

#[derive(Debug)]
struct Tracked<E> {
    elements: Arc<[E]>,
    watch: Watch,
    /// The baseline while an incident of one of its elements is open. Of a million series hardly any has one.
    frozen: Option<Box<Frozen>>,
    /// Its latest good results, the newest last: at most as many as are looked at together.
    latest: VecDeque<Ranked>,
}

/// A baseline from before an incident.
#[derive(Debug)]
struct Frozen {
    /// Number of the incident.
    by: usize,
    baseline: Vec<f64>,
}

/// A result and where it lay when it came.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    at_s: i64,
    level: f64,
    rank: Rank,
}

impl<E> Tracked<E> {
    /// The results that one at a moment is ranked in.
    fn history(&self, before_s: i64) -> Vec<f64> {
        match &self.frozen {
            Some(frozen) => frozen.baseline.clone(),
            None => self.watch.baseline_before(before_s),
        }
    }

    /// Its last results together, where they are not older than this many windows.
    fn recent(&self, worse: Worse, window: Option<Window>) -> Recent {
        DEPTHS.map(|depth| {
            let last: Vec<&Ranked> = self.latest.iter().skip(self.latest.len().checked_sub(depth)?).collect();
            let first_s = last.first()?.at_s;
            let windows = i64::try_from(depth).unwrap_or(i64::MAX);
            if window.is_some_and(|window| first_s <= window.newest_s - window.length_s.saturating_mul(windows)) {
                return None;
            }
            let levels: Vec<f64> = last.iter().map(|result| result.level).collect();
            recent::rank(&self.history(first_s), &levels).map(|rank| worse.as_lower(rank))
        })
    }
}

/// Over which time results are pooled.
#[derive(Debug, Clone, Copy)]
struct Window {
    newest_s: i64,
    length_s: i64,
}

impl Worse {
    /// Pooling looks for what is lower: where higher is worse, it looks from the other side.
    fn as_lower(self, rank: Rank) -> Rank {
        match self {
            Self::Lower => rank,
            Self::Higher => Rank { z: -rank.z, shift: -rank.shift },
        }
    }
}

impl<K: Ord + Clone, E: Ord + Clone> Monitor<K, E> {
    /// A mesh without series.
    #[must_use]
    pub fn new(settings: WatchSettings, pooling: Pooling) -> Self {
        Self {
            settings: Arc::new(settings),
            pooling,
            series: BTreeMap::new(),
            incidents: Vec::new(),
            screen: Screen::default(),
            window_s: None,
        }
    }

    /// The same, of results that come one by one: with each, the latest of all series that are not older than this are pooled.
    #[must_use]
    pub fn pooled_over(mut self, window_s: i64) -> Self {
        self.window_s = Some(window_s);
        self
    }

    /// Adds a series and the elements that its results depend on.
    pub fn add(&mut self, series: K, elements: impl Into<Arc<[E]>>) {
        let (elements, watch) = (elements.into(), Watch::sharing(Arc::clone(&self.settings)));
        self.series.insert(series, Tracked { elements, watch, frozen: None, latest: VecDeque::new() });
    }

    /// Takes results of before, which are not judged again.
    pub fn restore<Q: Ord + ?Sized>(&mut self, series: &Q, samples: &[Sample])
    where
        K: Borrow<Q>,
    {
        if let Some(tracked) = self.series.get_mut(series) {
            tracked.watch.restore(samples);
        }
    }

    /// Says what a series should have, whatever it usually has. Unknown series are left out.
    pub fn expect<Q: Ord + ?Sized>(&mut self, series: &Q, expectation: Expectation)
    where
        K: Borrow<Q>,
    {
        if let Some(tracked) = self.series.get_mut(series) {
            tracked.watch.expect(expectation);
        }
    }

    /// Says what the next result of a series had once it had started, where that is another value than the result's own.
    pub fn settle<Q: Ord + ?Sized>(&mut self, series: &Q, value: f64)
    where
        K: Borrow<Q>,
    {
        if let Some(tracked) = self.series.get_mut(series) {
            tracked.watch.settle(value);
        }
    }

    /// Expects nothing of a series: what it has was accepted before.
    pub fn expect_nothing<Q: Ord + ?Sized>(&mut self, series: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(tracked) = self.series.get_mut(series) {
            tracked.watch.expectation = None;
        }
    }

    /// Takes an incident of before, after the results: the baselines of its series are those before its first bad result.
    pub fn reopen(&mut self, subject: &Subject<K, E>, known: OpenIncident) {
        let OpenIncident { since_s, shift, against } = known;
        let number = self.open(subject.clone(), Opening { opened_s: since_s, since_s, shift, against });
        match subject {
            Subject::Element(element) => self.freeze(element, Freeze { number, since_s }),
            Subject::Series(series) => {
                if let Some(tracked) = self.series.get_mut(series) {
                    tracked.watch.reopen(known);
                }
            }
        }
    }

    /// Takes the present level of an element or a series as the new normal, and ends what is open of it.
    pub fn accept(&mut self, subject: &Subject<K, E>, now_s: i64) {
        let open = self.incidents.iter_mut().find(|one| one.recovered_s.is_none() && one.subject == *subject);
        let Some(incident) = open else { return };
        incident.recovered_s = Some(now_s);
        let (number, since_s) = (incident.number, incident.since_s);
        for (key, tracked) in &mut self.series {
            let is_frozen = tracked.frozen.take_if(|frozen| frozen.by == number).is_some();
            if is_frozen || *subject == Subject::Series(key.clone()) {
                tracked.watch.accept_since(since_s);
                tracked.latest.clear();
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
    pub fn watch<Q: Ord + ?Sized>(&self, series: &Q) -> Option<&Watch>
    where
        K: Borrow<Q>,
    {
        self.series.get(series).map(|tracked| &tracked.watch)
    }

    /// The median of the baseline of a series, which is that of before while something of it is open: where it has never been otherwise,
    /// that of all results; [`None`] without results.
    #[must_use]
    pub fn usual<Q: Ord + ?Sized>(&self, series: &Q) -> Option<f64>
    where
        K: Borrow<Q>,
    {
        let tracked = self.series.get(series)?;
        let levels = tracked.watch.usual().unwrap_or_else(|| tracked.history(i64::MAX));
        (!levels.is_empty()).then(|| self.settings.scale.value(median(&levels)))
    }

    /// Takes the results of a round; the numbers of the incidents that it opened. Results of unknown series are left out.
    pub fn round(&mut self, results: &[RoundResult<K>], now_s: i64) -> Vec<usize> {
        let first = self.incidents.len();
        self.rank(results);
        let newest_s = results.iter().map(|result| result.sample.at_s).max().unwrap_or(now_s);
        let window = self.window_s.map(|length_s| Window { newest_s, length_s });
        let good = results.iter().filter(|result| result.quality == Quality::Good);
        let of_round: BTreeSet<&K> = good.map(|result| &result.series).collect();
        let pooled = self.pooled(window, |series, ranked| match window {
            Some(window) => ranked.at_s > window.newest_s.saturating_sub(window.length_s),
            None => of_round.contains(series),
        });
        let recovered = self.recover(&pooled, now_s);
        let open = self.open_elements();
        let is_explained =
            |result: &Pooled<E>| result.elements.iter().any(|one| open.contains(one) || recovered.contains(one));
        let rest: Vec<Pooled<E>> = pooled.into_iter().filter(|result| !is_explained(result)).collect();
        for blamed in pool::blame(&rest, &self.pooling).blamed {
            let since_s = self.first_bad(&blamed).unwrap_or(now_s);
            let against = Yardstick::History;
            let opening = Opening { opened_s: now_s, since_s, shift: blamed.shift, against };
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
        let Self { settings, series, pooling, .. } = self;
        for result in results {
            let Some(tracked) = series.get_mut(&result.series) else { continue };
            let RoundResult { sample: Sample { at_s, value }, .. } = *result;
            let level = settings.scale.level(value);
            let is_late = tracked.latest.back().is_some_and(|latest| latest.at_s >= at_s);
            let history = tracked.history(i64::MAX);
            let Some(rank) = pool::rank(&history, level).filter(|_| !is_late) else { continue };
            let rank = settings.worse.as_lower(rank);
            // What disturbs a measurement makes it worse. One that is as good as before all the same says that the fault is over; all
            // others of poor quality say nothing.
            let shows_the_end = tracked.frozen.is_some() && rank.shift >= -pooling.least_shift;
            if result.quality == Quality::Poor && !shows_the_end {
                continue;
            }
            let excess = (tracked.latest.len() + 1).saturating_sub(DEPTHS[DEPTHS.len() - 1]);
            tracked.latest.drain(..excess);
            tracked.latest.push_back(Ranked { at_s, level, rank });
        }
    }

    fn pooled(&self, window: Option<Window>, counts: impl Fn(&K, &Ranked) -> bool) -> Vec<Pooled<E>> {
        let latest = |(key, tracked): (&K, &Tracked<E>)| {
            let latest = tracked.latest.back().filter(|latest| counts(key, latest))?;
            let pooled = Pooled { rank: latest.rank, recent: Recent::default(), elements: tracked.elements.to_vec() };
            Some((key.clone(), pooled))
        };
        let mut pooled: Vec<(K, Pooled<E>)> = self.series.iter().filter_map(latest).collect();
        let suspects = self.suspects(&pooled);
        let is_small = pooled.len() < FEW * FEW;
        for (key, result) in &mut pooled {
            let is_looked_at = is_small || result.elements.iter().any(|element| suspects.contains(element));
            if !suspects.is_empty() && is_looked_at {
                result.recent = self.series[key].recent(self.settings.worse, window);
            }
        }
        pooled.into_iter().map(|(_, result)| result).collect()
    }

    /// Elements of few series that are lower than usual: several results of each are worth a look.
    fn suspects(&self, pooled: &[(K, Pooled<E>)]) -> BTreeSet<E> {
        let mut crossing: BTreeMap<&E, Vec<f64>> = BTreeMap::new();
        for (_, result) in pooled {
            result.elements.iter().for_each(|element| crossing.entry(element).or_default().push(result.rank.z));
        }
        let is_suspect = |ranks: &Vec<f64>| {
            let sum = ranks.iter().sum::<f64>() / (ranks.len() as f64).sqrt();
            (2..FEW).contains(&ranks.len()) && sum <= SUSPECT
        };
        crossing.into_iter().filter(|(_, ranks)| is_suspect(ranks)).map(|(element, _)| element.clone()).collect()
    }

    /// The first result of those that show that an element is worse.
    fn first_bad(&self, blamed: &Blamed<E>) -> Option<i64> {
        let of_element = self.series.values().filter(|tracked| tracked.elements.contains(&blamed.element));
        let first = of_element.filter_map(|tracked| {
            let last = tracked.latest.iter().rev().take(blamed.depth);
            last.take_while(|latest| latest.rank.shift <= blamed.shift * STILL_OPEN).last()
        });
        first.map(|latest| latest.at_s).min()
    }

    /// Keeps the results from before the first bad one as baselines of all series of an element.
    fn freeze(&mut self, element: &E, freeze: Freeze) {
        for tracked in self.series.values_mut().filter(|tracked| tracked.elements.contains(element)) {
            if tracked.frozen.is_none() {
                tracked.watch.forget_since(freeze.since_s);
                let baseline = tracked.watch.baseline();
                tracked.frozen = Some(Box::new(Frozen { by: freeze.number, baseline }));
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
        let mut back = Vec::new();
        let Self { incidents, series, pooling, .. } = self;
        for incident in incidents.iter_mut().filter(|incident| incident.recovered_s.is_none()) {
            let Subject::Element(element) = &incident.subject else { continue };
            let crossing = pooled.iter().filter(|result| result.elements.contains(element)).count();
            // Few series have to show it several times.
            let depth = pooling.least_results.div_ceil(crossing.max(1));
            let of_element = series.values().filter(|tracked| tracked.elements.contains(element));
            let shifts: Vec<f64> = if depth == 1 {
                pooled.iter().filter(|result| result.elements.contains(element)).map(|one| one.rank.shift).collect()
            } else {
                // What was measured before the first bad result is good, and says nothing of what came after it: an incident that
                // two results of each series have opened would be over at once by the third, which is older.
                let is_after = |latest: &&Ranked| latest.at_s >= incident.since_s;
                let last = of_element.flat_map(|tracked| tracked.latest.iter().rev().take(depth).filter(is_after));
                last.map(|latest| latest.rank.shift).collect()
            };
            let is_back = shifts.len() >= pooling.least_results && median(&shifts) > -incident.shift.abs() * STILL_OPEN;
            if is_back {
                incident.recovered_s = Some(now_s);
                back.push(element.clone());
                for tracked in series.values_mut() {
                    if tracked.frozen.take_if(|frozen| frozen.by == incident.number).is_some() {
                        // What was measured before the fix says nothing of what comes after it.
                        tracked.latest.clear();
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
        let mut turn = tracked.watch.record(result.sample, result.quality, &mut self.screen);
        if turn == Turn::None {
            turn = self.without_statistics(&result.series);
        }
        let Some(tracked) = self.series.get(&result.series) else { return };
        match turn {
            Turn::None => {}
            Turn::Opened => {
                let State::Changed(open) = tracked.watch.state() else { return };
                let OpenChange { change, against, .. } = open.as_ref();
                let shift = self.settings.scale.level(change.after) - self.settings.scale.level(change.before);
                let opening = Opening { opened_s: now_s, since_s: change.at_s, shift, against: *against };
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

    /// What shows of a series without any statistic: it has dropped to half, or falls short of what it should have.
    fn without_statistics(&mut self, series: &K) -> Turn {
        let Some(watch) = self.watch(series) else { return Turn::None };
        let (has_dropped, short) = (watch.has_dropped(), watch.short());
        let opens = (has_dropped || short >= SEVERAL_SHORT) && (short >= MANY_SHORT || self.is_alone(series));
        let Some(tracked) = self.series.get_mut(series).filter(|_| opens) else { return Turn::None };
        if has_dropped { tracked.watch.open_drop() } else { tracked.watch.open_short() }
    }

    /// Whether no element explains that a series has dropped: none of those that several others cross has half of them low as well. What an
    /// element may explain waits for the others.
    fn is_alone(&self, series: &K) -> bool {
        let Some(tracked) = self.series.get(series) else { return false };
        tracked.elements.iter().all(|element| {
            let others = self.series.iter().filter(|(key, other)| *key != series && other.elements.contains(element));
            let latest: Vec<f64> =
                others.filter_map(|(_, other)| other.latest.back()).map(|latest| latest.rank.shift).collect();
            let low = latest.iter().filter(|shift| **shift <= LOW_AS_WELL).count();
            latest.len() < SEVERAL || low * 2 < latest.len()
        })
    }

    fn open(&mut self, subject: Subject<K, E>, opening: Opening) -> usize {
        let number = self.incidents.len();
        let Opening { opened_s, since_s, shift, against } = opening;
        // Pooled shifts of what is worse are negative; on the scale of the series, higher may be worse.
        let shift = match self.settings.worse {
            Worse::Lower => -shift.abs(),
            Worse::Higher => shift.abs(),
        };
        self.incidents.push(Incident { number, subject, opened_s, since_s, shift, against, recovered_s: None });
        number
    }
}

#[derive(Clone, Copy)]
struct Opening {
    opened_s: i64,
    since_s: i64,
    shift: f64,
    against: Yardstick,
}

#[derive(Clone, Copy)]
struct Freeze {
    number: usize,
    since_s: i64,
}

/// Standard deviations of the sum of the latest results of few series from which on more of them are looked at.
const SUSPECT: f64 = -1.5;
/// Other series that show together whether an element is worse.
const SEVERAL: usize = 2;
/// The shift from which on a result of another series counts as low as well: a quarter less.
const LOW_AS_WELL: f64 = -0.29;
/// An incident stays open while results are below this share of the shift that opened it.
const STILL_OPEN: f64 = 0.4;
