//! The latest results of all series: read once, and kept up to date by what is stored since. A mesh of a thousand hosts has a million
//! series, which no page can wait for.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mesh::clock;
use mesh::incident::{Metric, Series};
use units::WallTime;

use crate::schedule::planned::Planned;
use crate::store::rows::{SeriesHistory, SeriesResult};
use crate::store::{Store, StoreError};
use crate::watching::{Latest, LatestRun, PairTest, oldest_latest};

/// What is kept of a database while it grows.
#[derive(Debug, Default)]
pub(super) struct LatestPoints(Mutex<Known>);

/// Series with their latest results.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The period of the plan that results are kept for.
    period: Option<Duration>,
    /// The last record that was read.
    pub(super) upto: u64,
    /// When the newest result was measured.
    pub(super) newest: Option<WallTime>,
    pub(super) hosts: Names,
    pub(super) tests: Names,
    /// By metric, since a page shows one and most meshes measure few.
    series: BTreeMap<Metric, HashMap<SeriesKey, Recent>>,
}

/// A series by numbers of names: a million of them have few names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SeriesKey {
    pub(super) test: Name,
    pub(super) metric: Metric,
    pub(super) from: Name,
    pub(super) to: Name,
}

/// The number of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

/// Names in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: Vec<String>,
    numbers: BTreeMap<String, Name>,
}

/// The latest results of a series.
#[derive(Debug)]
pub(super) struct Recent {
    pub(super) record: u64,
    pub(super) at: WallTime,
    /// In the unit of the metric.
    value: f64,
    /// Those before it, of goodput as many as say what is usual, of all else none. A million series have none at first.
    earlier: Box<[f64]>,
}

/// How many results the latest of all series are from, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    /// When the oldest was measured.
    pub(super) started: Option<WallTime>,
    /// Different records.
    pub(super) tests: usize,
}

/// How many heavy tests of pairs have a result of the last period.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) measured: usize,
    pub(super) known: usize,
    /// When they were counted.
    pub(super) at: WallTime,
}

impl LatestPoints {
    /// All series as they stand in the database now.
    pub(super) fn read(
        &self,
        store: &dyn Store,
        planned: &Planned,
        now: WallTime,
    ) -> Result<MutexGuard<'_, Known>, StoreError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let period = Some(planned.period());
        if known.period == period {
            store.points_behind(known.upto)?.iter().for_each(|point| known.add(&point.series, SeriesResult::of(point)));
            return Ok(known);
        }
        let since = clock::earlier(now, planned.period().saturating_mul(USUAL_PERIODS));
        let mut read = Known { period, ..Known::default() };
        store.histories(since, &mut |SeriesHistory { series, results }| {
            // Of a history no more is kept than says what is usual.
            let kept = results.len().saturating_sub(USUAL_RESULTS);
            results[kept..].iter().for_each(|result| read.add(&series, *result));
        })?;
        *known = read;
        Ok(known)
    }
}

impl Known {
    fn add(&mut self, series: &Series, point: SeriesResult) {
        let Series { from, to, test, metric, .. } = series;
        let key = SeriesKey {
            test: self.tests.number(test),
            metric: *metric,
            from: self.hosts.number(from),
            to: self.hosts.number(to),
        };
        self.upto = self.upto.max(point.record);
        self.newest = self.newest.max(Some(point.at));
        match self.series.entry(*metric).or_default().entry(key) {
            Entry::Vacant(entry) => {
                let SeriesResult { record, at, value, .. } = point;
                entry.insert(Recent { record, at, value, earlier: Box::default() });
            }
            Entry::Occupied(entry) => entry.into_mut().add(&point, *metric),
        }
    }

    /// Series whose latest result is no older.
    pub(super) fn since(&self, oldest: WallTime) -> impl Iterator<Item = (&SeriesKey, &Recent)> {
        self.series.values().flatten().filter(move |(_, recent)| recent.at >= oldest)
    }

    /// Those of them that are of one metric.
    pub(super) fn of_metric(&self, metric: Metric, oldest: WallTime) -> impl Iterator<Item = (&SeriesKey, &Recent)> {
        self.series.get(&metric).into_iter().flatten().filter(move |(_, recent)| recent.at >= oldest)
    }

    /// What the latest results are from.
    pub(super) fn count(&self, oldest: WallTime) -> Count {
        // A million series fill 120 MB: they are gone through once.
        let mut records = Vec::with_capacity(self.series.values().map(HashMap::len).sum());
        let mut started: Option<WallTime> = None;
        for (_, recent) in self.since(oldest) {
            started = Some(started.map_or(recent.at, |started| started.min(recent.at)));
            records.push(recent.record);
        }
        Count { started, tests: distinct(records) }
    }

    /// Records that the latest results are from, each once, in order.
    pub(super) fn records(&self, oldest: WallTime) -> Vec<u64> {
        let mut records: Vec<u64> = self.since(oldest).map(|(_, recent)| recent.record).collect();
        records.sort_unstable();
        records.dedup();
        records
    }

    /// What a round is made of: the newest `most` results.
    pub(super) fn latest(&self, planned: &Planned, now: WallTime, most: usize) -> Latest {
        let oldest = oldest_latest(planned, now);
        let records = self.records(oldest);
        let taken: BTreeSet<u64> = records[records.len().saturating_sub(most)..].iter().copied().collect();
        let mut latest = Latest { runs: BTreeMap::new(), usual: BTreeMap::new() };
        for (key, recent) in self.since(oldest).filter(|(_, recent)| taken.contains(&recent.record)) {
            let series = self.series(*key);
            let Series { from, to, test, .. } = series.clone();
            let run = LatestRun { record: recent.record, began: recent.at };
            let known = latest.runs.entry(PairTest { test, group: String::new(), from, to }).or_insert(run);
            // A run measures several metrics; of the latest a series may have nothing.
            if known.began < recent.at {
                *known = LatestRun { record: recent.record, began: recent.at };
            }
            latest.usual.insert(series, recent.usual());
        }
        latest
    }

    fn series(&self, key: SeriesKey) -> Series {
        let SeriesKey { test, metric, from, to } = key;
        let [from, to] = [from, to].map(|host| self.hosts.name(host).to_owned());
        Series { from, to, test: self.tests.name(test).to_owned(), family: None, metric }
    }
}

impl Recent {
    fn add(&mut self, point: &SeriesResult, metric: Metric) {
        // What was measured before the latest and came later says what is usual.
        let is_latest = point.at >= self.at;
        let earlier = if is_latest { self.value } else { point.value };
        if is_latest {
            (self.record, self.at, self.value) = (point.record, point.at, point.value);
        }
        let most = if metric == Metric::Goodput { USUAL_RESULTS - 1 } else { 0 };
        let kept = (self.earlier.len() + 1).saturating_sub(most);
        self.earlier = self.earlier.iter().copied().chain([earlier]).skip(kept).collect();
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The median of what is kept.
    pub(super) fn usual(&self) -> f64 {
        if self.earlier.is_empty() {
            return self.value;
        }
        let mut values: Vec<f64> = self.earlier.iter().copied().chain([self.value]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }
}

/// How many different numbers these are.
fn distinct(mut numbers: Vec<u64>) -> usize {
    let least = numbers.iter().copied().min().unwrap_or(0);
    let greatest = numbers.iter().copied().max().unwrap_or(0);
    let Some(words) = usize::try_from((greatest - least) / 64).ok().filter(|words| *words <= numbers.len()) else {
        numbers.sort_unstable();
        numbers.dedup();
        return numbers.len();
    };
    // Records are numbered as they come, so that those of one period lie close together: a bit for each instead of sorting a million.
    let mut seen = vec![0_u64; words + 1];
    for place in numbers.into_iter().map(|number| number - least) {
        let word = usize::try_from(place / 64).ok().and_then(|word| seen.get_mut(word));
        word.into_iter().for_each(|word| *word |= 1 << (place % 64));
    }
    seen.iter().map(|word| word.count_ones() as usize).sum()
}

impl Names {
    fn number(&mut self, name: &str) -> Name {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = Name(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(name.to_owned());
        *self.numbers.entry(name.to_owned()).or_insert(number)
    }

    pub(super) fn name(&self, name: Name) -> &str {
        &self.all[name.0 as usize]
    }

    /// All names, in the order of their numbers.
    pub(super) fn all(&self) -> &[String] {
        &self.all
    }
}

impl Name {
    pub(super) const fn place(self) -> usize {
        self.0 as usize
    }
}

/// Results of so many periods say what is usual on pages.
const USUAL_PERIODS: u32 = 40;
/// One in each of them.
const USUAL_RESULTS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::rows::PointQuality;

    /// Numbers without an order that a test could lean on.
    fn scattered(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    #[test]
    fn different_numbers_are_counted_whether_they_lie_close_or_far_apart() {
        let close: Vec<u64> = (0..1_000).map(|number| 7_000_000 + scattered(number) % 900).collect();
        let far: Vec<u64> = (0..1_000).map(|number| scattered(number % 700)).collect();
        let one = vec![u64::MAX; 3];
        for numbers in [close, far, one, Vec::new()] {
            let expected = numbers.iter().collect::<BTreeSet<_>>().len();
            assert_eq!(distinct(numbers), expected);
        }
    }

    /// All values of a series as they came, the latest last.
    #[derive(Default)]
    struct Whole {
        values: Vec<f64>,
        latest: Option<SeriesResult>,
    }

    impl Whole {
        fn add(&mut self, point: SeriesResult) {
            let is_latest = self.latest.is_none_or(|latest| point.at >= latest.at);
            let place = if is_latest { self.values.len() } else { self.values.len() - 1 };
            self.values.insert(place, point.value);
            self.latest = if is_latest { Some(point) } else { self.latest };
        }

        fn usual(&self, most: usize) -> f64 {
            let mut kept = self.values[self.values.len().saturating_sub(most)..].to_vec();
            kept.sort_by(f64::total_cmp);
            kept[kept.len() / 2]
        }
    }

    #[test]
    fn what_is_kept_of_results_says_what_all_of_them_say() {
        let series = |metric: Metric, pair: u64| Series {
            from: format!("host-{}", pair / 3),
            to: format!("host-{}", pair % 3),
            test: "nightly".to_owned(),
            family: None,
            metric,
        };
        let (mut known, mut all) = (Known::default(), BTreeMap::<Series, Whole>::new());
        for number in 0..2_000_u64 {
            let drawn = scattered(number);
            let metric = if drawn.is_multiple_of(3) { Metric::Loss } else { Metric::Goodput };
            // One in five comes later than the one behind it.
            let late = if drawn.is_multiple_of(5) { 40 } else { 0 };
            let point = SeriesResult {
                at: WallTime::from_unix_nanos(1_000_000 + number.saturating_sub(late)),
                value: f64::from(u16::try_from(drawn % 1_000).unwrap()),
                good: PointQuality::Good,
                record: number / 2,
            };
            let series = series(metric, drawn / 7 % 9);
            known.add(&series, point);
            all.entry(series).or_default().add(point);
        }
        let oldest = WallTime::from_unix_nanos(1_000_000 + 1_990);
        let latest = || all.values().filter_map(|whole| whole.latest).filter(|latest| latest.at >= oldest);
        let expected = Count {
            started: latest().map(|latest| latest.at).min(),
            tests: latest().map(|latest| latest.record).collect::<BTreeSet<_>>().len(),
        };
        assert_eq!(known.count(oldest), expected);
        assert!(known.since(oldest).count() < all.len(), "some series have nothing as new");
        assert_eq!(known.since(WallTime::default()).count(), all.len());
        for metric in [Metric::Goodput, Metric::Loss] {
            let most = if metric == Metric::Goodput { USUAL_RESULTS } else { 1 };
            for (key, recent) in known.of_metric(metric, WallTime::default()) {
                let whole = &all[&known.series(*key)];
                let latest = whole.latest.unwrap();
                assert_eq!((recent.record, recent.at, recent.value()), (latest.record, latest.at, latest.value));
                assert_eq!(recent.usual(), whole.usual(most), "{metric:?}");
            }
        }
    }
}
