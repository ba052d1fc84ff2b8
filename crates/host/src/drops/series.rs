//! Intervals of one host, one after the other, as numbers to be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::host::drops::{Counter, DropInterval, DropKind};

/// The intervals of one host or namespace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Series {
    /// Whose they are.
    pub place: String,
    /// Its intervals, by time.
    pub intervals: Vec<DropInterval>,
}

/// How one counter grew over all intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grown {
    /// Which counter, with its device or CPU where it has one.
    pub counter: Counter,
    /// What it means.
    pub kind: DropKind,
    /// How much it grew.
    pub total: u64,
    /// Intervals in which it grew.
    pub active: usize,
    /// Intervals in which it is known.
    pub known: usize,
}

impl Series {
    /// Puts intervals in order, by host and namespace.
    #[must_use]
    pub fn of(intervals: Vec<DropInterval>) -> Vec<Self> {
        let mut places: BTreeMap<String, Vec<DropInterval>> = BTreeMap::new();
        for interval in intervals {
            places.entry(interval.place()).or_default().push(interval);
        }
        let sorted = places.into_iter().map(|(place, mut intervals)| {
            intervals.sort_by_key(|interval| interval.start);
            Self { place, intervals }
        });
        sorted.collect()
    }

    /// How long all intervals are together.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.intervals.iter().map(|interval| interval.length).sum()
    }

    /// Each counter that is known in any interval, the one that grew most first.
    #[must_use]
    pub fn grown(&self) -> Vec<Grown> {
        let mut sums: BTreeMap<&Counter, Grown> = BTreeMap::new();
        for each in self.intervals.iter().flat_map(|interval| &interval.counters) {
            let sum = sums.entry(&each.counter).or_insert_with(|| Grown {
                counter: each.counter.clone(),
                kind: each.kind,
                total: 0,
                active: 0,
                known: 0,
            });
            sum.total = sum.total.saturating_add(each.increase);
            sum.active += usize::from(each.increase > 0);
            sum.known += 1;
        }
        let mut grown: Vec<Grown> = sums.into_values().collect();
        grown.sort_by(|one, other| other.total.cmp(&one.total).then_with(|| one.counter.cmp(&other.counter)));
        grown
    }

    /// What is not known in one interval or more, with the reason: each once.
    #[must_use]
    pub fn unknown(&self) -> BTreeSet<(String, String)> {
        let parts = self.intervals.iter().flat_map(|interval| &interval.unknown);
        parts.map(|part| (part.what.clone(), part.why.clone())).collect()
    }
}
