//! Where the level of a series changes: candidates of ED-PELT and of splits, each kept while it stands against its neighbours.

use crate::edpelt;
use crate::series::{median, spread};

/// What makes a candidate a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strictness {
    /// The penalty of ED-PELT for its candidates, in units of ln n.
    pub penalty: f64,
    /// Standard errors by which the levels on both sides have to differ.
    pub least_z: f64,
    /// By how much they have to differ, on the scale of the series.
    pub least_shift: f64,
    /// Samples on each side.
    pub least_samples: usize,
}

impl Default for Strictness {
    fn default() -> Self {
        Self { penalty: 8.0, least_z: 4.5, least_shift: 0.03, least_samples: 5 }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The first sample of the new level.
    pub at: usize,
    /// The level from the change before, or the start.
    pub before: f64,
    /// The level until the next change, or the end.
    pub after: f64,
    /// By how many standard errors they differ.
    pub z: f64,
}

/// The changes of level of a series whose cycle and modes have been removed.
#[must_use]
pub fn steps(levels: &[f64], strictness: &Strictness) -> Vec<Step> {
    let least = strictness.least_samples.max(2);
    let places = edpelt::changes(levels, strictness.penalty, least);
    let noise = Noise::of(levels, &places);
    settled_steps(levels, places, &noise, strictness)
}

/// Where the share of a series of zeros and ones changes, which has neither outliers nor a median that says much.
#[must_use]
pub fn share_steps(levels: &[f64], strictness: &Strictness) -> Vec<Step> {
    settled_steps(levels, Vec::new(), &Noise::of_shares(levels), strictness)
}

fn settled_steps(levels: &[f64], mut places: Vec<usize>, noise: &Noise, strictness: &Strictness) -> Vec<Step> {
    if places.len() < MOST_PLACES {
        places = with_splits(levels, &places, noise, strictness.least_samples.max(2));
    }
    strong(levels, places, noise, strictness)
}

/// Those of some places that still stand, moved to where they are best.
pub(crate) fn kept(levels: &[f64], places: Vec<usize>, strictness: &Strictness) -> Vec<Step> {
    let noise = Noise::of(levels, &places);
    strong(levels, places, &noise, strictness)
}

/// Drops the weakest place until all stand against their neighbours.
fn strong(levels: &[f64], mut places: Vec<usize>, noise: &Noise, strictness: &Strictness) -> Vec<Step> {
    let least = strictness.least_samples.max(2);
    loop {
        let found = settled(levels, &mut places, noise, least);
        let weakness = |step: &Step| {
            let is_large = (step.after - step.before).abs() >= strictness.least_shift;
            if is_large { step.z } else { 0.0 }
        };
        let weakest = (0..found.len()).min_by(|a, b| weakness(&found[*a]).total_cmp(&weakness(&found[*b])));
        match weakest.filter(|weakest| weakness(&found[*weakest]) < strictness.least_z) {
            Some(weakest) => {
                places.remove(weakest);
            }
            None => return found,
        }
    }
}

/// What remains beside the levels.
pub(crate) struct Noise {
    /// Standard deviation within a level, robust.
    pub(crate) sigma: f64,
    /// Correlation of a sample with the next, where it is significant.
    pub(crate) phi: f64,
    /// Values count as far as this from the levels around them.
    reach: f64,
}

impl Noise {
    pub(crate) fn of(levels: &[f64], places: &[usize]) -> Self {
        let mut rests = Vec::with_capacity(levels.len());
        for bounds in bounds(places, levels.len()).windows(2) {
            let part = &levels[bounds[0]..bounds[1]];
            let middle = median(part);
            rests.extend(part.iter().map(|level| level - middle));
        }
        let sigma = spread(&rests).max(TINY);
        let clamped: Vec<f64> = rests.iter().map(|rest| rest.clamp(-WINSOR * sigma, WINSOR * sigma)).collect();
        let power: f64 = clamped.iter().map(|rest| rest * rest).sum();
        let lagged: f64 = clamped.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let phi = lagged / power.max(TINY * TINY);
        let is_significant = phi > SIGNIFICANT / (levels.len() as f64).sqrt();
        let sigma = (power / clamped.len().max(1) as f64).sqrt().max(TINY);
        Self { sigma, phi: if is_significant { phi.clamp(0.0, 0.95) } else { 0.0 }, reach: WINSOR * sigma }
    }

    fn of_shares(levels: &[f64]) -> Self {
        let n = levels.len().max(1) as f64;
        let share = levels.iter().sum::<f64>() / n;
        let power = (n * share * (1.0 - share)).max(TINY);
        let lagged: f64 = levels.windows(2).map(|pair| (pair[0] - share) * (pair[1] - share)).sum();
        Self { sigma: (power / n).sqrt(), phi: (lagged / power).clamp(0.0, 0.95), reach: f64::INFINITY }
    }

    /// The standard error of the difference of two means.
    fn error(&self, left: f64, right: f64) -> f64 {
        // Bartlett: the mean of a series that persists varies more by (1 + phi) / (1 - phi).
        self.sigma * ((1.0 + self.phi) / (1.0 - self.phi) * (1.0 / left + 1.0 / right)).sqrt()
    }
}

/// The best split of each segment besides.
fn with_splits(levels: &[f64], places: &[usize], noise: &Noise, least: usize) -> Vec<usize> {
    let mut all = places.to_vec();
    for bounds in bounds(places, levels.len()).windows(2) {
        if let Some(step) = best(&levels[bounds[0]..bounds[1]], noise, least, None) {
            all.push(bounds[0] + step.at);
        }
    }
    all.sort_unstable();
    all
}

/// Moves each place to the best split between its neighbours, in order, so that none passes another.
fn settled(levels: &[f64], places: &mut [usize], noise: &Noise, least: usize) -> Vec<Step> {
    let mut steps = Vec::with_capacity(places.len());
    let mut from = 0;
    for number in 0..places.len() {
        let until = places.get(number + 1).copied().unwrap_or(levels.len());
        let at = places[number] - from;
        let found = best(&levels[from..until], noise, least, Some(at));
        let found = found.unwrap_or(Step { at, before: 0.0, after: 0.0, z: 0.0 });
        places[number] = from + found.at;
        steps.push(Step { at: from + found.at, ..found });
        from = places[number];
    }
    steps
}

fn bounds(places: &[usize], end: usize) -> Vec<usize> {
    std::iter::once(0).chain(places.iter().copied()).chain([end]).collect()
}

/// The split at which the means on both sides differ by most standard errors; wild values count as far as [`WINSOR`] standard
/// deviations beyond the levels beside `guess`.
fn best(part: &[f64], noise: &Noise, least: usize, guess: Option<usize>) -> Option<Step> {
    if part.len() < 2 * least {
        return None;
    }
    let (left, right) = match guess {
        Some(at) => (median(&part[..at]), median(&part[at..])),
        None => {
            let middle = median(part);
            (middle, middle)
        }
    };
    let (floor, ceiling) = (left.min(right) - noise.reach, left.max(right) + noise.reach);
    let value = |at: usize| part[at].clamp(floor, ceiling);
    let total: f64 = (0..part.len()).map(value).sum();
    let n = part.len() as f64;
    let mut sum: f64 = (0..least - 1).map(value).sum();
    let mut found: Option<(f64, Step)> = None;
    for at in least..=part.len() - least {
        sum += value(at - 1);
        let (l, r) = (at as f64, n - at as f64);
        let (before, after) = (sum / l, (total - sum) / r);
        let gain = l * r / n * (before - after).powi(2);
        if found.is_none_or(|(most, _)| gain > most) {
            let z = (after - before).abs() / noise.error(l, r);
            found = Some((gain, Step { at, before, after, z }));
        }
    }
    let (_, mut step) = found?;
    if noise.phi > 0.0 {
        step.at = sharpened(part, &step, noise.phi, least);
    }
    (step.before, step.after) = (median(&part[..step.at]), median(&part[step.at..]));
    Some(step)
}

/// Where the step lies if samples persist: the least sum of squares of what each adds to the one before.
fn sharpened(part: &[f64], step: &Step, phi: f64, least: usize) -> usize {
    let innovation = |at: usize, here: f64, back: f64| {
        let size = part[at] - here - phi * (part[at - 1] - back);
        size * size
    };
    // Relative to a step at `least`: moving it past `at` puts sample `at` on the old level.
    let (mut sum, mut best) = (0.0, (0.0, least));
    for at in least..part.len() - least {
        // Sample `at` is the first of the new level, and then the last of the old one.
        sum += innovation(at, step.before, step.before) - innovation(at, step.after, step.before);
        sum += innovation(at + 1, step.after, step.before) - innovation(at + 1, step.after, step.after);
        if sum < best.0 {
            best = (sum, at + 1);
        }
    }
    best.1
}

/// Wild values count as far as so many standard deviations.
const WINSOR: f64 = 2.5;
/// Correlations below so many standard errors count as none.
const SIGNIFICANT: f64 = 2.5;
/// More candidates than these come without splits of their own.
const MOST_PLACES: usize = 200;
/// No noise is less, so that constant series have finite errors.
const TINY: f64 = 1e-9;
