//! Which gateway gets the requests between two reports.

use super::history::{Between, History};
use super::sign::{AFTER_PAUSE, Observed, REQUESTS, SHARE};
use crate::cluster::bounds::small;

pub(super) fn observed(histories: &[History]) -> Vec<Observed> {
    // Of two gateways one always gets most.
    if histories.len() < FEWEST_GATEWAYS {
        return Vec::new();
    }
    let intervals = intervals(histories);
    let mut observed: Vec<Observed> = herd(histories, &intervals).into_iter().collect();
    observed.extend(after_pause(histories, &intervals));
    observed.extend(shares(histories, &intervals));
    observed
}

/// Requests of all gateways in an interval.
struct Interval {
    begun: Vec<f64>,
    for_s: f64,
}

impl Interval {
    fn total(&self) -> f64 {
        self.begun.iter().sum()
    }
}

/// Intervals that all gateways have: those of the one with the most readings, with the interval of each other gateway that ends
/// nearest. Where one has a hole, or reports at another pace, the interval is left out rather than laid beside another time.
fn intervals(histories: &[History]) -> Vec<Interval> {
    let of: Vec<Vec<Between>> = histories.iter().map(History::between).collect();
    let Some(reference) = of.iter().max_by_key(|intervals| intervals.len()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut begins = vec![0; of.len()];
    for one in reference {
        let mut begun = Vec::with_capacity(of.len());
        for (intervals, begin) in of.iter().zip(&mut begins) {
            // Both lists go forward in time.
            while *begin + 1 < intervals.len() && is_nearer(&intervals[*begin + 1], &intervals[*begin], one.at_s) {
                *begin += 1;
            }
            let beside = intervals.get(*begin).filter(|other| is_beside(other, one));
            begun.extend(beside.and_then(|other| Some(other.begun? * one.for_s / other.for_s)));
        }
        if begun.len() == of.len() {
            found.push(Interval { begun, for_s: one.for_s });
        }
    }
    found
}

fn is_nearer(later: &Between, earlier: &Between, at_s: f64) -> bool {
    (later.at_s - at_s).abs() <= (earlier.at_s - at_s).abs()
}

/// Whether two intervals are of the same time: as long, to a factor of two, and with ends no farther apart than half of that.
fn is_beside(one: &Between, other: &Between) -> bool {
    let (shorter, longer) = (one.for_s.min(other.for_s), one.for_s.max(other.for_s));
    longer <= 2.0 * shorter && (one.at_s - other.at_s).abs() <= 0.5 * longer
}

/// Whole intervals of requests went to one gateway, and to another one in other intervals.
fn herd(histories: &[History], intervals: &[Interval]) -> Option<Observed> {
    let counted: Vec<&Interval> = intervals.iter().filter(|one| one.total() >= FEWEST_REQUESTS).collect();
    if counted.len() < FEWEST_INTERVALS {
        return None;
    }
    let usual = usual(intervals, histories.len());
    let led: Vec<usize> = counted.iter().filter_map(|one| leader(one, &usual)).collect();
    let changes = led.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_herd = led.len() >= FEWEST_LED && small(led.len()) >= LED * small(counted.len()) && changes > 0;
    let says = format!(
        "in {} of {} intervals one gateway of {} got more than {:.0} % of the requests, a different one {} times",
        led.len(),
        counted.len(),
        histories.len(),
        100.0 * HERD,
        changes
    );
    Some(REQUESTS.is(if is_herd { "one-at-a-time" } else { "spread" }, None, says))
}

/// The part of all requests that each gateway got.
fn usual(intervals: &[Interval], gateways: usize) -> Vec<f64> {
    let all = intervals.iter().map(Interval::total).sum::<f64>().max(f64::MIN_POSITIVE);
    (0..gateways).map(|at| intervals.iter().map(|one| one.begun[at]).sum::<f64>() / all).collect()
}

/// The gateway that got most requests of an interval, and far more than it usually gets: three standard deviations more than
/// chance gives (binomial).
fn leader(interval: &Interval, usual: &[f64]) -> Option<usize> {
    let total = interval.total();
    let is_leader = |(at, begun): &(usize, f64)| {
        let share = usual[*at];
        *begun > HERD * total && *begun > share * total + 3.0 * (total * share * (1.0 - share)).sqrt()
    };
    interval.begun.iter().copied().enumerate().find(is_leader).map(|(at, _)| at)
}

/// The largest share of each gateway just after a time without requests: it comes back within an interval, so that the next ones
/// show what it gets.
fn after_pause(histories: &[History], intervals: &[Interval]) -> Vec<Observed> {
    let usual = usual(intervals, histories.len());
    let of = |(gateway, history): (usize, &History)| {
        let (mut without_s, mut missed) = (0.0, 0.0);
        let mut back: Option<(f64, f64)> = None;
        for (at, one) in intervals.iter().enumerate() {
            if one.begun[gateway] == 0.0 {
                without_s += one.for_s;
                missed += one.total();
                continue;
            }
            let next = intervals[at..].iter().take(JUST_AFTER).filter(|one| one.total() >= FEWEST_REQUESTS / 2.0);
            let share = next.map(|one| one.begun[gateway] / one.total()).fold(0.0, f64::max);
            if missed * usual[gateway] >= MISSED && share > back.map_or(0.0, |(_, before)| before) {
                back = Some((without_s, share));
            }
            (without_s, missed) = (0.0, 0.0);
        }
        let (without_s, share) = back?;
        let says = format!("nothing for {without_s:.0} s, then {:.0} % of all requests", 100.0 * share);
        let state = if share >= CATCH_UP { "nearly-all" } else { "its-share" };
        Some(AFTER_PAUSE.is(state, Some(&history.gateway), says))
    };
    histories.iter().enumerate().filter_map(of).collect()
}

/// Requests of each gateway per capacity, where all capacities are known.
fn shares(histories: &[History], intervals: &[Interval]) -> Vec<Observed> {
    let Some(capacities) = histories.iter().map(|history| history.capacity).collect::<Option<Vec<f64>>>() else {
        return Vec::new();
    };
    let of = |gateway: usize| intervals.iter().map(|one| one.begun[gateway]).sum::<f64>();
    let begun: Vec<f64> = (0..histories.len()).map(of).collect();
    let mean = begun.iter().sum::<f64>() / capacities.iter().sum::<f64>();
    if begun.iter().sum::<f64>() < FEWEST_FOR_SHARES * small(histories.len()) || mean <= 0.0 {
        return Vec::new();
    }
    let each = histories.iter().zip(begun).zip(capacities);
    let of = |((history, begun), capacity): ((&History, f64), f64)| {
        let part = begun / capacity / mean;
        let state = if part > MORE {
            "more"
        } else if part < 1.0 / MORE {
            "less"
        } else {
            "alike"
        };
        SHARE.is(state, Some(&history.gateway), format!("{part:.2} times its share of the requests, by capacity"))
    };
    each.map(of).collect()
}

const FEWEST_GATEWAYS: usize = 3;
/// Requests of an interval from which on shares count, and intervals from which on there can be a herd.
const FEWEST_REQUESTS: f64 = 8.0;
const FEWEST_INTERVALS: usize = 4;
/// Requests of each gateway on average, from which on 1.25 times a share is not chance (one in a hundred at 100).
const FEWEST_FOR_SHARES: f64 = 100.0;
/// Intervals that one gateway got, and their part of all, from which on they are a herd.
const FEWEST_LED: usize = 3;
const LED: f64 = 0.05;
/// Requests that a gateway would have got by its usual share, from which on a time without any is no chance (one in 150).
const MISSED: f64 = 5.0;
/// Intervals after a time without requests that show what a gateway gets.
const JUST_AFTER: usize = 3;
/// The share of one gateway that is a herd, and that which is catching up.
const HERD: f64 = 0.6;
const CATCH_UP: f64 = 0.8;
/// How many times its share a gateway has that gets more: a third more than the mean is what the older of two usual kinds has
/// under equal counts.
const MORE: f64 = 1.25;
