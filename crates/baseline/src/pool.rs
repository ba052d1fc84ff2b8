//! Results of many series together: which host, direction, site or segment is worse.
//!
//! A host fault moves 2(N - 1) series of a mesh of N hosts at once. One series alone needs 5 to 20 results until its drop stands
//! out; ranked in its own history and combined with the others of its host, the first one is enough.

use std::collections::BTreeMap;

use stats::normal;

use crate::ranked::Rank;
use crate::recent::{DEPTHS, Recent};
use crate::series::median;

/// Ranks a result; [`None`] where the history is too short.
#[must_use]
pub fn rank(history: &[f64], level: f64) -> Option<Rank> {
    if history.len() < LEAST_HISTORY || !level.is_finite() {
        return None;
    }
    let below = history.iter().filter(|past| **past < level).count() as f64;
    let equal = history.iter().filter(|past| **past == level).count() as f64;
    let share = (below + equal / 2.0 + 0.5) / (history.len() + 1) as f64;
    Some(Rank { z: normal::quantile(share), shift: level - median(history) })
}

/// The latest result of a series, and the elements that it depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Pooled<E> {
    /// Where it lies.
    pub rank: Rank,
    /// Where it lies together with those before it: needed where few series cross an element.
    pub recent: Recent,
    /// Hosts, directions of hosts, sites, segments.
    pub elements: Vec<E>,
}

/// What makes an element worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooling {
    /// Standard deviations of the sum.
    pub least_z: f64,
    /// The median shift, on the scale of the series.
    pub least_shift: f64,
    /// Results that cross the element.
    pub least_results: usize,
    /// The share of them that are below their medians.
    pub least_share: f64,
}

impl Default for Pooling {
    fn default() -> Self {
        // One test of a round: a mesh of 20 hosts has some 10,000 a quarter, each with a chance of 3 in 10^7.
        Self { least_z: 5.0, least_shift: 0.05, least_results: 6, least_share: 0.7 }
    }
}

/// An element whose results are lower than usual.
#[derive(Debug, Clone, PartialEq)]
pub struct Blamed<E> {
    /// Which.
    pub element: E,
    /// Standard deviations of the sum of its results (Stouffer 1949); negative.
    pub z: f64,
    /// The median of their shifts.
    pub shift: f64,
    /// Results that cross it, less those that elements before it explain.
    pub results: usize,
    /// How many results of each series show it.
    pub depth: usize,
}

/// What a round shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Round<E> {
    /// The median rank of all results: what moves the whole mesh, such as the time of day. It is taken off before elements are
    /// blamed.
    pub common: f64,
    /// The worst first.
    pub blamed: Vec<Blamed<E>>,
}

/// Blames elements for the results of a round: the one with the strongest sum first, then, without the results that cross it,
/// the next.
#[must_use]
pub fn blame<E: Ord + Clone>(results: &[Pooled<E>], pooling: &Pooling) -> Round<E> {
    let ranks: Vec<Rank> = results.iter().map(|result| result.rank).collect();
    // A common shift needs most of a mesh; of a few results it cannot be told from a fault.
    let common = if results.len() >= LEAST_COMMON { middle(&ranks) } else { NOTHING };
    let mut left: Vec<&Pooled<E>> = results.iter().collect();
    let mut blamed = Vec::new();
    while let Some(worst) = worst(&left, common, pooling) {
        left.retain(|result| !result.elements.contains(&worst.element));
        blamed.push(worst);
    }
    Round { common: common.z, blamed }
}

/// The median of ranks, and that of their shifts.
fn middle(ranks: &[Rank]) -> Rank {
    let of = |part: fn(&Rank) -> f64| median(&ranks.iter().map(part).collect::<Vec<f64>>());
    Rank { z: of(|rank| rank.z), shift: of(|rank| rank.shift) }
}

fn worst<E: Ord + Clone>(results: &[&Pooled<E>], common: Rank, pooling: &Pooling) -> Option<Blamed<E>> {
    let mut by_element: BTreeMap<&E, Vec<&Pooled<E>>> = BTreeMap::new();
    for result in results {
        for element in &result.elements {
            by_element.entry(element).or_default().push(result);
        }
    }
    let looks = by_element.into_iter().flat_map(|(element, crossing)| {
        let mut looks = vec![Look { element, depth: 1, common, ranks: crossing.iter().map(|one| one.rank).collect() }];
        if (2..FEW).contains(&crossing.len()) {
            let deep = (0..DEPTHS.len()).filter_map(|place| {
                let ranks = crossing.iter().map(|one| one.recent[place]).collect::<Option<Vec<Rank>>>()?;
                Some(Look { element, depth: DEPTHS[place], common: of_others(results, element, place), ranks })
            });
            looks.extend(deep);
        }
        looks
    });
    looks.filter_map(|look| look.judge(pooling)).min_by(|a, b| a.z.total_cmp(&b.z))
}

/// What the results that do not cross an element have in common, as far as it is lower: in a small mesh, a host is worse only where
/// it is worse than the rest.
fn of_others<E: Ord>(results: &[&Pooled<E>], element: &E, place: usize) -> Rank {
    let others = results.iter().filter(|result| !result.elements.contains(element));
    let ranks: Vec<Rank> = others.filter_map(|other| other.recent[place]).collect();
    if ranks.len() < LEAST_OTHERS {
        return NOTHING;
    }
    let Rank { z, shift } = middle(&ranks);
    Rank { z: z.min(0.0), shift: shift.min(0.0) }
}

/// The series that cross an element, by so many results of each.
struct Look<'a, E> {
    element: &'a E,
    depth: usize,
    common: Rank,
    ranks: Vec<Rank>,
}

impl<E: Clone> Look<'_, E> {
    fn judge(&self, pooling: &Pooling) -> Option<Blamed<E>> {
        let Self { element, depth, common, ranks } = self;
        let count = ranks.len() as f64;
        let own: Vec<f64> = ranks.iter().map(|rank| rank.z - common.z * explained(*rank, *common)).collect();
        let z = own.iter().sum::<f64>() / count.sqrt();
        let low = own.iter().filter(|z| **z < 0.0).count() as f64;
        let shift = median(&ranks.iter().map(|rank| rank.shift).collect::<Vec<_>>());
        let is_worse = z <= -pooling.least_z
            && shift <= -pooling.least_shift
            && ranks.len() * depth >= pooling.least_results
            && low >= pooling.least_share * count;
        is_worse.then(|| Blamed { element: (*element).clone(), z, shift, results: ranks.len() * depth, depth: *depth })
    }
}

/// The part of a result that something common explains. Ranks end at the lowest of a history, however low: where all are 7 % lower and
/// one host four fifths, all have the same rank.
fn explained(result: Rank, common: Rank) -> f64 {
    let is_lower = common.shift < 0.0 && result.shift < common.shift;
    if is_lower { common.shift / result.shift } else { 1.0 }
}

/// What results without anything in common have in common.
const NOTHING: Rank = Rank { z: 0.0, shift: 0.0 };
/// Elements with so many series show in one result of each what is worse.
pub(crate) const FEW: usize = 12;
/// Fewer results have no median that could be told from chance.
const LEAST_OTHERS: usize = 3;
/// Ranks in shorter histories say little.
const LEAST_HISTORY: usize = 10;
/// Fewer results have no common shift.
const LEAST_COMMON: usize = 30;
