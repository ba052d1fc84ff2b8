//! How likely a cell is, if its path is healthy and if it is not.
//!
//! A cell's *depth* is −ln of the part that is left: 0 is as it should be, 0.7 half, 9.9 a twenty-thousandth. Throughput
//! is the minimum over the elements of a path (Zarifzadeh and Dovrolis 2012), so in depths it is the maximum: a cell is as
//! deep as the deepest element on its way, but for noise.

use stats::summary::{MAD_TO_SIGMA, Ordered};

use super::cell::Cell;

/// The known cells as numbers.
#[derive(Debug)]
pub(super) struct Evidence {
    /// Where each stands among all cells.
    pub(super) cell: Vec<usize>,
    pub(super) depth: Vec<f64>,
    noise: Vec<f64>,
    /// ln of the density of the depth, were the path healthy.
    pub(super) healthy: Vec<f64>,
    /// Whether it is worse than noise makes a healthy one.
    pub(super) bad: Vec<bool>,
}

impl Evidence {
    pub(super) fn of(cells: &[Cell]) -> Self {
        let known: Vec<(usize, f64, f64)> = (0..)
            .zip(cells)
            .filter_map(|(index, cell)| cell.quality.known().map(|(part, uncertainty)| (index, part, uncertainty)))
            .collect();
        let spread = spread(known.iter().map(|(_, part, _)| *part));
        let depth: Vec<f64> = known.iter().map(|(_, part, _)| depth_of(*part)).collect();
        let noise: Vec<f64> = known.iter().map(|(.., uncertainty)| spread.hypot(*uncertainty)).collect();
        let numbers = || depth.iter().zip(&noise).map(|(depth, noise)| (*depth, *noise));
        Self {
            cell: known.iter().map(|(index, ..)| *index).collect(),
            healthy: numbers().map(|(depth, noise)| ln_healthy(depth, noise)).collect(),
            bad: numbers().map(|(depth, noise)| depth >= (NOISY * noise).max(SHALLOWEST)).collect(),
            depth,
            noise,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.depth.len()
    }

    /// ln of the density of a cell's depth where an element of depth `at` is on its way.
    pub(super) fn under(&self, cell: usize, at: f64) -> f64 {
        ln_under(self.depth[cell], at, self.noise[cell])
    }

    /// Whether a cell is clearly deeper than `at`.
    pub(super) fn is_deeper_than(&self, cell: usize, at: f64) -> bool {
        self.bad[cell] && self.depth[cell] > at + (NOISY * self.noise[cell]).max(CLEARLY)
    }
}

/// −ln of the part that is left, at most [`DEEPEST`].
pub(super) fn depth_of(part: f64) -> f64 {
    -part.clamp(LEAST_PART, 1.0).ln()
}

/// The spread of what is healthy, as a relative standard deviation: that of all cells which do at least half of what they
/// should. Half of them may be off by any amount without moving it.
fn spread(parts: impl Iterator<Item = f64>) -> f64 {
    let good: Ordered = parts.filter(|part| *part >= 0.5).map(f64::ln).collect();
    let sigma = good.mad().filter(|_| good.values().len() >= FEW).map(|mad| mad * MAD_TO_SIGMA);
    sigma.unwrap_or(SPREAD_OF_FEW).clamp(LEAST_SPREAD, MOST_SPREAD)
}

/// Half a normal distribution, and a tail for what happens to one healthy test in fifty: another flow came by, a processor
/// was asked for something else.
pub(super) fn ln_healthy(depth: f64, noise: f64) -> f64 {
    let half_normal = (2.0 / std::f64::consts::PI).sqrt() / noise * (-0.5 * (depth / noise).powi(2)).exp();
    let tail = (-depth / TAIL_DEPTH).exp() / TAIL_DEPTH;
    ((1.0 - TAIL) * half_normal + TAIL * tail).ln().max(LEAST_LIKELY)
}

/// A Laplace distribution about the element's depth, wide because one fault hurts paths of different round trips, senders
/// and loads differently, and the wider the deeper: what waits for timeouts is slower by a factor of ten for nothing. And
/// a part for anything at all, because faults come and go.
pub(super) fn ln_under(depth: f64, at: f64, noise: f64) -> f64 {
    let width = noise.max(FAULT_SPREAD).max(SPREAD_OF_DEPTH * at);
    let near = (-(depth - at).abs() / width).exp() / (2.0 * width);
    ((1.0 - ANYTHING) * near + ANYTHING / DEEPEST).ln()
}

/// The least part that is told from nothing, and its depth.
const LEAST_PART: f64 = 1e-7;
pub(super) const DEEPEST: f64 = 16.2;

/// Spread is not told from fewer cells than these; it is taken as this.
const FEW: usize = 6;
const SPREAD_OF_FEW: f64 = 0.25;

/// Rates over one healthy path never agree better than the first nor, between hosts of one kind, worse than the second:
/// the healthy cells of docs/localisation.md's example have 0.2.
const LEAST_SPREAD: f64 = 0.1;
const MOST_SPREAD: f64 = 0.4;

/// How many standard deviations are still noise.
pub(super) const NOISY: f64 = 3.0;

/// A quarter less than it should be is never called bad: a depth of −ln 0.75.
pub(super) const SHALLOWEST: f64 = 0.288;

/// How much deeper than what explains it a cell must be to call for more: a factor of 1.65.
const CLEARLY: f64 = 0.5;

/// How often a healthy test comes out far too low, and the mean depth of these.
const TAIL: f64 = 0.02;
const TAIL_DEPTH: f64 = 0.7;

/// ln of the least density of a healthy cell, so that no single cell outweighs all others.
const LEAST_LIKELY: f64 = -12.0;

/// The scale of the depths that one fault gives to different paths: a factor of 1.42.
const FAULT_SPREAD: f64 = 0.35;

/// The same as a part of the fault's depth: in docs/localisation.md's example one fault leaves rates of 0.005 and of
/// 0.3 Mbit/s, at depths of 13.3 and 9.2.
const SPREAD_OF_DEPTH: f64 = 0.25;

/// How often an element that is at fault does not show it, or shows it in its own way.
const ANYTHING: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_densities_add_up_to_one() {
        let integral = |density: &dyn Fn(f64) -> f64| -> f64 {
            (0..16_200).map(|step| density(f64::from(step) * 1e-3 + 5e-4) * 1e-3).sum()
        };
        // The floor under the healthy density adds 1e-4 in all; what the Laplace has below zero is missing, e^-4 of half.
        assert!((integral(&|depth| ln_healthy(depth, 0.2).exp()) - 1.0).abs() < 1e-3);
        assert!((integral(&|depth| ln_under(depth, 4.0, 0.2).exp()) - 1.0).abs() < 1e-2);
    }

    #[test]
    fn the_deepest_cell_is_as_deep_as_it_says() {
        assert!((depth_of(0.0) - DEEPEST).abs() < 0.1);
        assert_eq!(depth_of(3.0), 0.0);
    }

    #[test]
    fn half_of_the_cells_may_be_bad_without_moving_the_spread() {
        let good = [0.8, 0.9, 1.0, 1.1, 1.2, 1.0];
        let alone = spread(good.into_iter());
        let among_bad = spread(good.into_iter().chain([0.001; 6]));
        assert_eq!(alone, among_bad);
        assert!((0.1..0.3).contains(&alone), "{alone}");
    }
}
