//! Hosts side by side: which of their counters rise and fall together. Drops that come at the same moments have one
//! cause, such as frames that a switch sends to all.

use std::ops::Range;

use model::host::drops::{Counter, DropInterval};
use stats::correlation::{Correlation, among, correlate};

use super::series::Series;

/// Two counters of two hosts that rise and fall together.
#[derive(Debug, Clone, PartialEq)]
pub struct Tie {
    /// One host and its counter.
    pub one: (String, Counter),
    /// A counter of the second host of the pair, with the place of that host.
    pub other: (String, Counter),
    /// How closely.
    pub correlation: Correlation,
    /// Probability that one of as many pairs as were looked at goes together so closely by chance.
    pub p: f64,
}

/// What comparing hosts gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ties {
    /// Pairs that go together beyond chance, the closest first.
    pub found: Vec<Tie>,
    /// Pairs of counters that were looked at.
    pub tried: usize,
    /// Intervals that two hosts have in common: the fewest of all pairs of hosts. The clocks of hosts are taken as they
    /// are.
    pub common: usize,
}

/// Compares each pair of hosts, by the counters that grew most on each.
#[must_use]
pub fn ties(hosts: &[Series]) -> Ties {
    let busy: Vec<Vec<Counter>> = hosts.iter().map(busiest).collect();
    let mut ties = Ties { common: usize::MAX, ..Ties::default() };
    let mut all = Vec::new();
    for (one, other) in pairs(hosts.len()) {
        let aligned = align(&hosts[one].intervals, &hosts[other].intervals);
        ties.common = ties.common.min(aligned.len());
        for a in &busy[one] {
            for b in &busy[other] {
                let (left, right) = rates(&aligned, a, b);
                ties.tried += 1;
                if let Some(correlation) = correlate(&left, &right) {
                    let named = |at: usize, counter: &Counter| (hosts[at].place.clone(), counter.clone());
                    all.push(Tie { one: named(one, a), other: named(other, b), correlation, p: 1.0 });
                }
            }
        }
    }
    if hosts.len() < 2 {
        ties.common = 0;
    }
    for tie in &mut all {
        tie.p = among(tie.correlation.p_two_sided, ties.tried);
    }
    all.retain(|tie| tie.p < SURE && tie.correlation.spearman > 0.0);
    all.sort_by(|a, b| b.correlation.spearman.total_cmp(&a.correlation.spearman).then(a.p.total_cmp(&b.p)));
    ties.found = all;
    ties
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

/// Counters that grew in several intervals: what grows once goes together with anything that grows once.
fn busiest(host: &Series) -> Vec<Counter> {
    let grown = host.grown().into_iter().filter(|grown| grown.active >= LEAST_ACTIVE);
    grown.take(MOST_COUNTERS).map(|grown| grown.counter).collect()
}

/// For each interval of one host the one of the other that lies over most of it.
#[must_use]
pub fn align<'a>(one: &'a [DropInterval], other: &'a [DropInterval]) -> Vec<(&'a DropInterval, &'a DropInterval)> {
    let mut aligned = Vec::new();
    let mut from = 0;
    for interval in one {
        let own = span(interval);
        while other.get(from).is_some_and(|each| span(each).end <= own.start) {
            from += 1;
        }
        let near = other[from..].iter().take_while(|each| span(each).start < own.end);
        let best = near.max_by_key(|each| overlap(&span(each), &own));
        if let Some(best) = best.filter(|each| 2 * overlap(&span(each), &own) > own.end - own.start) {
            aligned.push((interval, best));
        }
    }
    aligned
}

fn span(interval: &DropInterval) -> Range<u64> {
    let start = interval.start.unix_nanos();
    start..start.saturating_add(units::duration::nanos(interval.length))
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> u64 {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

/// Increases a second; no number where one is not known.
fn rates(aligned: &[(&DropInterval, &DropInterval)], a: &Counter, b: &Counter) -> (Vec<f64>, Vec<f64>) {
    aligned.iter().map(|(one, other)| (rate(one, a), rate(other, b))).unzip()
}

/// Increases of a counter a second in one interval; no number where it is not known.
#[expect(clippy::cast_precision_loss, reason = "no interval has 2^53 packets")]
#[must_use]
pub fn rate(interval: &DropInterval, counter: &Counter) -> f64 {
    let seconds = interval.length.as_secs_f64();
    interval.increase(counter).map_or(f64::NAN, |increase| increase as f64 / seconds)
}

/// Counters of each host that are compared with those of others.
const MOST_COUNTERS: usize = 6;

/// Intervals in which a counter has to grow before it is compared.
const LEAST_ACTIVE: usize = 3;

/// A pair is told where chance would bring such a one among all that were looked at in one watch of a hundred.
pub(super) const SURE: f64 = 0.01;
