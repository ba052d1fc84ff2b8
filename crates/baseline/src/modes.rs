//! Two levels that a series changes between all the time: members of a link bundle, NUMA nodes, retransmit modes.
//!
//! Such a series has no single level, and a change of *share* between the two is not a change of either. The gap is read from
//! differences of neighbours, which a step touches once; the labels are the cheapest sequence of level and mode (Viterbi 1967).

use crate::series::{median, spread};

/// Two levels, one `gap` apart, on the scale of the series.
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    /// From the lower level to the upper.
    pub gap: f64,
    /// The standard deviation within a level.
    pub noise: f64,
    /// Of each sample, whether it is of the lower level.
    pub is_low: Vec<bool>,
}

impl Modes {
    /// The two levels of a series; [`None`] where there is one, or more than two.
    #[must_use]
    pub fn find(levels: &[f64]) -> Option<Self> {
        let (gap, noise, flips) = gap(levels)?;
        let is_low = labels(levels, gap, noise, flips)?;
        let low = is_low.iter().filter(|low| **low).count() as f64 / levels.len() as f64;
        (LEAST_SHARE..=1.0 - LEAST_SHARE).contains(&low).then_some(Self { gap, noise, is_low })
    }

    /// The series as if all of it were of the upper level.
    #[must_use]
    pub fn removed(&self, levels: &[f64]) -> Vec<f64> {
        levels.iter().zip(&self.is_low).map(|(level, low)| if *low { level + self.gap } else { *level }).collect()
    }
}

/// The gap, the noise and the share of changes of mode, from the distances between neighbours: those within a mode lie at zero,
/// those between modes at the gap, and there is little between.
fn gap(levels: &[f64]) -> Option<(f64, f64, f64)> {
    if levels.len() < LEAST_SAMPLES {
        return None;
    }
    let mut distances: Vec<f64> = levels.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let cut = two_classes(&distances)?;
    let (within, between) = distances.split_at(cut);
    let gap = median(between);
    // The median of |a - b| of two normals is 0.6745 of their standard deviation times the root of 2.
    let noise = median(within) * crate::series::MAD_TO_SIGMA / std::f64::consts::SQRT_2;
    let flips = between.len() as f64 / distances.len() as f64;
    let valley = distances.iter().filter(|distance| (0.4..0.65).contains(&(**distance / gap))).count();
    let is_clear = gap > LEAST_GAP * noise.max(f64::MIN_POSITIVE) && spread(between) < 0.25 * gap;
    let is_empty = (valley as f64) < (0.15 * between.len() as f64).max(2.0);
    (is_clear && is_empty && (LEAST_FLIPS..0.7).contains(&flips)).then_some((gap, noise.max(gap * 1e-3), flips))
}

/// Where ascending values fall into two classes that differ most (Otsu 1979).
fn two_classes(ascending: &[f64]) -> Option<usize> {
    let total: f64 = ascending.iter().sum();
    let n = ascending.len() as f64;
    let mut sum = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (at, value) in ascending.iter().enumerate().take(ascending.len().saturating_sub(1)) {
        sum += value;
        let (left, right) = ((at + 1) as f64, n - (at + 1) as f64);
        let between = left * right * (sum / left - (total - sum) / right).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, at + 1));
        }
    }
    best.map(|(_, at)| at)
}

/// The likeliest mode of each sample, while the level may change as well.
fn labels(levels: &[f64], gap: f64, noise: f64, flips: f64) -> Option<Vec<bool>> {
    let (low, high) =
        levels.iter().fold((f64::MAX, f64::MIN), |(low, high), level| (low.min(*level), high.max(*level)));
    let step = (noise * 0.7).max((high - low) / MOST_LEVELS);
    // Levels of the upper mode: down to where all that is seen is upper, up to where all of it is lower.
    let count = ((high - low + gap) / step).ceil() as usize + 1;
    let flip_cost = ((1.0 - flips) / flips).ln().max(0.1);
    let sharpness = 0.5 / (noise * noise + step * step / 12.0);
    let mut costs = vec![[0.0_f64; 2]; count];
    let mut origins = vec![0_u8; levels.len() * count];
    let mut jumps = vec![[(0_usize, 0_usize); 2]; levels.len()];
    for (t, value) in levels.iter().enumerate() {
        // A change of level is no free change of mode, or a level that follows a cycle would change its mode with it.
        let best = [least_of(&costs, 0), least_of(&costs, 1)];
        let into = |mode: usize| {
            let (stay, flip) = (best[mode].0, best[1 - mode].0 + flip_cost);
            if stay <= flip {
                (stay + LEVEL_COST, (best[mode].1, mode))
            } else {
                (flip + LEVEL_COST, (best[1 - mode].1, 1 - mode))
            }
        };
        let jump = [into(0), into(1)];
        jumps[t] = [jump[0].1, jump[1].1];
        let row = &mut origins[t * count..(t + 1) * count];
        for ((state, cost), origin) in costs.iter_mut().enumerate().zip(row) {
            let level = low + state as f64 * step;
            let [upper, lower] = *cost;
            for (mode, (stay, flip)) in [(upper, lower), (lower, upper)].into_iter().enumerate() {
                let expected = if mode == 0 { level } else { level - gap };
                let emission = (sharpness * (value - expected).powi(2)).min(WILD_COST);
                let (come, how) = if stay <= flip + flip_cost { (stay, 0) } else { (flip + flip_cost, 1) };
                let (come, how) = if jump[mode].0 < come { (jump[mode].0, 2) } else { (come, how) };
                cost[mode] = come + emission;
                *origin |= how << (2 * mode);
            }
        }
    }
    let ends = [least_of(&costs, 0), least_of(&costs, 1)];
    let mut mode = usize::from(ends[1].0 < ends[0].0);
    let mut state = ends[mode].1;
    let mut is_low = vec![false; levels.len()];
    for t in (0..levels.len()).rev() {
        is_low[t] = mode == 1;
        match (origins[t * count + state] >> (2 * mode)) & 3 {
            1 => mode = 1 - mode,
            2 => (state, mode) = jumps[t][mode],
            _ => {}
        }
    }
    Some(is_low)
}

/// The cheapest state of a mode.
fn least_of(costs: &[[f64; 2]], mode: usize) -> (f64, usize) {
    let all = costs.iter().enumerate().map(|(state, cost)| (cost[mode], state));
    all.fold((f64::INFINITY, 0), |best, next| if next.0 < best.0 { next } else { best })
}

/// Fewer samples say nothing of two levels.
const LEAST_SAMPLES: usize = 40;
/// Levels nearer than so many standard deviations are not told apart.
const LEAST_GAP: f64 = 5.0;
/// Rarer changes of mode are steps.
const LEAST_FLIPS: f64 = 0.04;
/// A rarer mode is a set of outliers.
const LEAST_SHARE: f64 = 0.08;
/// What a change of level costs, in units of log-likelihood.
const LEVEL_COST: f64 = 12.0;
/// What a sample of neither mode costs.
const WILD_COST: f64 = 8.0;
/// Steps of the level that are tried at most.
const MOST_LEVELS: f64 = 400.0;
