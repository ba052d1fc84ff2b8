//! Slow drifts: where a slope between two levels says more than a stair of steps.

use crate::place::{Noise, Step};
use crate::series::median;

/// A step, or the slope that replaces several.
pub(crate) enum Stair {
    Step(Step),
    Slope(Slope),
}

/// A level that moves evenly from one sample to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slope {
    pub(crate) from: usize,
    pub(crate) until: usize,
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) z: f64,
}

/// Replaces steps in one direction that follow each other by a slope, where that fits better.
pub(crate) fn stairs(levels: &[f64], steps: &[Step], noise: &Noise) -> Vec<Stair> {
    let mut found = Vec::with_capacity(steps.len());
    let mut first = 0;
    for stair in steps.chunk_by(|a, b| (a.after > a.before) == (b.after > b.before)) {
        let start = if first == 0 { 0 } else { steps[first - 1].at };
        let end = steps.get(first + stair.len()).map_or(levels.len(), |step| step.at);
        match slope(levels, (start, end), stair, noise) {
            Some(slope) => found.push(Stair::Slope(slope)),
            None => found.extend(stair.iter().copied().map(Stair::Step)),
        }
        first += stair.len();
    }
    found
}

fn slope(levels: &[f64], (start, end): (usize, usize), stair: &[Step], noise: &Noise) -> Option<Slope> {
    let length = end - start;
    if length < 2 * LEAST_SLOPE {
        return None;
    }
    let limit = noise.sigma * WILD;
    let cost = |at: usize, level: f64| (levels[at] - level).abs().min(limit).powi(2);
    let level_of_stair = |at: usize| {
        let last = stair.iter().rev().find(|step| step.at <= at);
        last.map_or(stair[0].before, |step| step.after)
    };
    let of_stair: f64 = (start..end).map(|at| cost(at, level_of_stair(at))).sum();
    let edge = (length / GRID).max(1);
    let mut best: Option<(f64, Slope)> = None;
    for from in (start..end).step_by(edge) {
        for until in (from + LEAST_SLOPE..=end).step_by(edge) {
            let (before, after) = ends(levels, (start, end), (from, until));
            let along = |at: usize| {
                let share = (at.saturating_sub(from) as f64 / (until - from) as f64).min(1.0);
                before + (after - before) * share
            };
            let of_slope: f64 = (start..end).map(|at| cost(at, along(at))).sum();
            if best.is_none_or(|(least, _)| of_slope < least) {
                best = Some((of_slope, Slope { from, until: until.min(end - 1), before, after, z: 0.0 }));
            }
        }
    }
    let (of_slope, slope) = best?;
    // A stair of k steps has 2k + 1 parameters, a slope 4; persistent noise is worth less.
    let spared = 2.0 * stair.len() as f64 - 3.0;
    let worth = (of_stair - of_slope) / (noise.sigma * noise.sigma) * (1.0 - noise.phi) / (1.0 + noise.phi);
    let z = stair.iter().map(|step| step.z).fold(0.0, f64::max);
    (worth + spared * (length as f64).ln() > LEAST_WORTH).then_some(Slope { z, ..slope })
}

/// The levels at both ends of a slope: medians of what lies beyond it, or of its own first or last quarter, carried on.
fn ends(levels: &[f64], (start, end): (usize, usize), (from, until): (usize, usize)) -> (f64, f64) {
    let quarter = ((until - from) / 4).max(2);
    let first = median(&levels[from..from + quarter]);
    let last = median(&levels[until - quarter..until]);
    // The middles of the first and the last quarter are three quarters of the slope apart.
    let rise = (last - first) / (1.0 - quarter as f64 / (until - from) as f64);
    let middle = f64::midpoint(first, last);
    let known = |part: &[f64], carried: f64| if part.len() >= LEAST_LEVEL { median(part) } else { carried };
    (known(&levels[start..from], middle - rise / 2.0), known(&levels[until..end], middle + rise / 2.0))
}

/// Shorter slopes are steps.
const LEAST_SLOPE: usize = 16;
/// Samples that a level needs.
const LEAST_LEVEL: usize = 5;
/// Ends of slopes that are tried.
const GRID: usize = 24;
/// Wild values cost as much as so many standard deviations.
const WILD: f64 = 3.0;
/// By how much a slope has to be better than a stair, in units of twice the log-likelihood.
const LEAST_WORTH: f64 = 15.0;
