//! Daily cycles: what depends on the time of day is not a change.

use std::f64::consts::TAU;

use crate::series::{MAD_TO_SIGMA, median};

/// Up to 3 harmonics of a day, on the scale of the series.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cycle {
    /// Sine and cosine of each harmonic; zero where it is not significant.
    pub harmonics: [(f64, f64); HARMONICS],
}

impl Cycle {
    /// The cycle of a series; [`None`] where it has less than 3 days, or no harmonic stands out of the noise.
    ///
    /// It is fitted to what a running median of a day leaves, so that steps and drifts hardly touch it.
    #[must_use]
    pub fn find(times: &[i64], levels: &[f64]) -> Option<Self> {
        let span = times.last()? - times.first()?;
        if span < LEAST_DAYS * DAY_S || levels.len() < LEAST_SAMPLES {
            return None;
        }
        let rests = without_running_median(times, levels);
        let noise = rests.iter().map(|rest| rest.abs()).collect::<Vec<_>>();
        let limit = 3.0 * MAD_TO_SIGMA * median(&noise);
        let rests: Vec<f64> = rests.iter().map(|rest| rest.clamp(-limit, limit)).collect();
        let variance = rests.iter().map(|rest| rest * rest).sum::<f64>() / rests.len() as f64;
        let mut cycle = Self::default();
        for (number, harmonic) in (1..).zip(&mut cycle.harmonics) {
            let found = project(times, &rests, f64::from(number));
            // Under white noise this is chi-squared of 2 degrees of freedom; noise that persists makes it larger.
            let power =
                (found.0.powi(2) + found.1.powi(2)) * rests.len() as f64 / (2.0 * variance.max(f64::MIN_POSITIVE));
            if power > LEAST_POWER {
                *harmonic = found;
            }
        }
        (cycle != Self::default()).then_some(cycle)
    }

    /// What the time of day adds to the level.
    #[must_use]
    pub fn at(&self, time: i64) -> f64 {
        let phase = phase(time);
        let harmonic = |(number, (sine, cosine)): (i32, &(f64, f64))| {
            let (sin, cos) = (f64::from(number) * phase).sin_cos();
            sine * sin + cosine * cos
        };
        (1..).zip(&self.harmonics).map(harmonic).sum()
    }

    /// Half the distance between the highest and the lowest time of day.
    #[must_use]
    pub fn amplitude(&self) -> f64 {
        let (low, high) = (0..96)
            .map(|quarter| self.at(quarter * 900))
            .fold((f64::MAX, f64::MIN), |(low, high), level| (low.min(level), high.max(level)));
        (high - low) / 2.0
    }
}

fn phase(time: i64) -> f64 {
    TAU * time.rem_euclid(DAY_S) as f64 / DAY_S as f64
}

/// Least squares with sine and cosine of one harmonic, which times of day that are not evenly spread make oblique.
fn project(times: &[i64], rests: &[f64], number: f64) -> (f64, f64) {
    let (mut ss, mut sc, mut cc, mut ys, mut yc) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (time, rest) in times.iter().zip(rests) {
        let (sin, cos) = (number * phase(*time)).sin_cos();
        ss += sin * sin;
        sc += sin * cos;
        cc += cos * cos;
        ys += rest * sin;
        yc += rest * cos;
    }
    let determinant = ss * cc - sc * sc;
    // Tests at the same two times of day cannot tell sine from cosine.
    if determinant < 1e-3 * rests.len() as f64 * rests.len() as f64 {
        return (0.0, 0.0);
    }
    ((ys * cc - yc * sc) / determinant, (yc * ss - ys * sc) / determinant)
}

/// Each level less the median of those within half a day of it.
fn without_running_median(times: &[i64], levels: &[f64]) -> Vec<f64> {
    let (mut from, mut until) = (0, 0);
    let rest = |at: usize| {
        while times[at] - times[from] > DAY_S / 2 {
            from += 1;
        }
        while until < times.len() && times[until] - times[at] <= DAY_S / 2 {
            until += 1;
        }
        // A day of rare tests says little of its median.
        let (from, until) =
            (from.min(at.saturating_sub(LEAST_AROUND)), until.max((at + LEAST_AROUND + 1).min(times.len())));
        levels[at] - median(&levels[from..until])
    };
    (0..times.len()).map(rest).collect()
}

/// Harmonics of a day: 24, 12 and 8 hours.
const HARMONICS: usize = 3;
/// A day in seconds.
const DAY_S: i64 = 86_400;
/// Shorter series have no cycle.
const LEAST_DAYS: i64 = 3;
/// Fewer samples neither.
const LEAST_SAMPLES: usize = 48;
/// Neighbours on each side that the running median has at least.
const LEAST_AROUND: usize = 6;
/// A harmonic of white noise exceeds this once in 270,000 (chi-squared, 2 degrees of freedom, e^(-25/2)).
const LEAST_POWER: f64 = 25.0;
