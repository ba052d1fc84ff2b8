//! Exact placement of changes of distribution: ED-PELT.
//!
//! Haynes, Fearnhead and Eckley, "A computationally efficient nonparametric approach for changepoint detection", Statistics and
//! Computing 27 (2017): the cost of a segment is its negative log-likelihood under its own empirical distribution, summed over
//! quantiles of the whole series; PELT (Killick, Fearnhead and Eckley, JASA 107, 2012) finds the cheapest segmentation exactly.

/// The first samples of new segments, in order.
///
/// A change costs `penalty` times ln n; segments have at least `least` samples.
#[must_use]
pub fn changes(values: &[f64], penalty: f64, least: usize) -> Vec<usize> {
    let n = values.len();
    let least = least.max(1);
    if n < 2 * least {
        return Vec::new();
    }
    let counts = Counts::new(values);
    let penalty = penalty * (n as f64).ln();
    let mut best = vec![f64::INFINITY; n + 1];
    let mut previous = vec![0_usize; n + 1];
    best[0] = -penalty;
    // Each start, and the end from which on it can no longer be part of the best.
    let mut candidates = vec![(0_usize, usize::MAX)];
    let mut costs = Vec::new();
    for end in least..=n {
        costs.clear();
        costs.extend(candidates.iter().map(|(start, _)| best[*start] + counts.cost(*start, end)));
        let (mut least_cost, mut from) = (f64::INFINITY, 0);
        for (cost, (start, _)) in costs.iter().zip(&candidates) {
            if *cost < least_cost {
                (least_cost, from) = (*cost, *start);
            }
        }
        best[end] = least_cost + penalty;
        previous[end] = from;
        // What is worse than the best by more than a change costs never beats a change here, once a segment fits behind it.
        for (cost, (_, until)) in costs.iter().zip(&mut candidates) {
            if *cost > least_cost + penalty {
                *until = (*until).min(end + least);
            }
        }
        candidates.retain(|(_, until)| *until > end + 1);
        // Segments shorter than `least` are not asked for: a start becomes a candidate once it is far enough back.
        if end + 1 >= 2 * least {
            candidates.push((end + 1 - least, usize::MAX));
        }
    }
    let mut changes = Vec::new();
    let mut end = n;
    while previous[end] > 0 {
        end = previous[end];
        changes.push(end);
    }
    changes.reverse();
    changes
}

/// How many of the first `t` values lie below each quantile.
struct Counts {
    quantiles: usize,
    /// Twice the count, so that ties by half are whole; `quantiles` for each `t`.
    below: Vec<u32>,
    /// x ln x for x = 0, 1/2, 1, ... n.
    x_ln_x: Vec<f64>,
    weight: f64,
}

impl Counts {
    fn new(values: &[f64]) -> Self {
        let n = values.len();
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // Section 3.1 of the paper: K = 4 ln n quantiles, denser in the tails.
        let quantiles = ((4.0 * (n as f64).ln()).ceil().max(1.0) as usize).min(n);
        let c = -(2.0 * n as f64 - 1.0).ln();
        let limit = |k: usize| {
            let p = 1.0 / (1.0 + (c * ((2 * k + 1) as f64 / quantiles as f64 - 1.0)).exp());
            sorted[(((n - 1) as f64 * p) as usize).min(n - 1)]
        };
        let limits: Vec<f64> = (0..quantiles).map(limit).collect();
        let mut below = vec![0_u32; (n + 1) * quantiles];
        for (t, value) in values.iter().enumerate() {
            let (done, rest) = below.split_at_mut((t + 1) * quantiles);
            let last = &done[t * quantiles..];
            for ((next, last), limit) in rest.iter_mut().zip(last).zip(&limits) {
                *next = last + if value < limit { 2 } else { u32::from(value == limit) };
            }
        }
        let x_ln_x =
            (0..=2 * n).map(|twice| if twice == 0 { 0.0 } else { twice as f64 / 2.0 * (twice as f64 / 2.0).ln() });
        Self { quantiles, below, x_ln_x: x_ln_x.collect(), weight: -2.0 * c / quantiles as f64 }
    }

    /// The cost of the segment from `start` to before `end`: s ln(s/L) + (L - s) ln(1 - s/L), negative, over the quantiles.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let row = |t: usize| &self.below[t * self.quantiles..(t + 1) * self.quantiles];
        let length = 2 * (end - start);
        let mut sum = 0.0;
        for (until, from) in row(end).iter().zip(row(start)) {
            let below = (until - from) as usize;
            sum += self.x_ln_x[below] + self.x_ln_x[length - below];
        }
        // s ln s + (L - s) ln(L - s) - L ln L for each quantile.
        self.weight * (self.quantiles as f64 * self.x_ln_x[length] - sum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The least cost of any segmentation, all of them tried (Jackson et al. 2005), with the cost of a change on top of each.
    fn optimum(values: &[f64], penalty: f64, least: usize) -> f64 {
        let counts = Counts::new(values);
        let penalty = penalty * (values.len() as f64).ln();
        let mut best = vec![f64::INFINITY; values.len() + 1];
        best[0] = -penalty;
        for end in least..=values.len() {
            let starts = (0..=end - least).filter(|start| *start == 0 || *start >= least);
            best[end] =
                starts.map(|start| best[start] + counts.cost(start, end) + penalty).fold(f64::INFINITY, f64::min);
        }
        best[values.len()]
    }

    fn cost_of(values: &[f64], changes: &[usize], penalty: f64) -> f64 {
        let counts = Counts::new(values);
        let bounds: Vec<usize> = std::iter::once(0).chain(changes.iter().copied()).chain([values.len()]).collect();
        let segments: f64 = bounds.windows(2).map(|bounds| counts.cost(bounds[0], bounds[1])).sum();
        segments + changes.len() as f64 * penalty * (values.len() as f64).ln()
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            values in prop::collection::vec(0_i32..6, 12..60),
            lift in 0_i32..8,
            penalty in 0.5_f64..4.0,
        ) {
            let half = values.len() / 2;
            let values: Vec<f64> =
                values.iter().enumerate().map(|(at, value)| f64::from(value + if at < half { 0 } else { lift })).collect();
            let found = changes(&values, penalty, 3);
            let (cost, least) = (cost_of(&values, &found, penalty), optimum(&values, penalty, 3));
            prop_assert!((cost - least).abs() < 1e-6, "{cost} against {least} of {found:?}");
        }
    }

    #[test]
    fn short_and_constant_series_have_no_change() {
        assert!(changes(&[1.0; 7], 3.0, 5).is_empty());
        assert!(changes(&[1.0; 200], 3.0, 5).is_empty());
    }
}
