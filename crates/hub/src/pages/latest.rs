//! The latest results of all series: read once, and kept up to date by what is stored since. A mesh of a thousand hosts has a million
//! series, which no page can wait for.

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
    series: HashMap<SeriesKey, Recent>,
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
    /// In the unit of the metric, the latest last; of goodput as many as say what is usual, of all else one.
    values: Vec<f64>,
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
        let recent = self.series.entry(key).or_insert_with(|| Recent {
            record: point.record,
            at: point.at,
            values: Vec::with_capacity(1),
        });
        // What was measured before the latest and came later says what is usual.
        let place = if point.at >= recent.at { recent.values.len() } else { recent.values.len().saturating_sub(1) };
        recent.values.insert(place, point.value);
        if point.at >= recent.at {
            (recent.record, recent.at) = (point.record, point.at);
        }
        let most = if *metric == Metric::Goodput { USUAL_RESULTS } else { 1 };
        let excess = recent.values.len().saturating_sub(most);
        recent.values.drain(..excess);
    }

    /// Series whose latest result is no older.
    pub(super) fn since(&self, oldest: WallTime) -> impl Iterator<Item = (&SeriesKey, &Recent)> {
        self.series.iter().filter(move |(_, recent)| recent.at >= oldest)
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
    pub(super) fn value(&self) -> f64 {
        self.values.last().copied().unwrap_or(f64::NAN)
    }

    /// The median of what is kept.
    pub(super) fn usual(&self) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
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
