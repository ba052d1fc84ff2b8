//! Generated series with a known change: five families of noise that throughput tests over long paths show.
//!
//! | family | what it stands for | noise |
//! |---|---|---|
//! | gauss | a clean, tuned path | normal, 5 % |
//! | lognormal | a shared path | lognormal, 15 % |
//! | heavy | random loss | Student's t with 3 degrees of freedom, 4 %, and 5 % of tests cut to 10 to 70 % |
//! | bimodal | ECMP member, NUMA node | 2 levels, 1 and 0.6, that persist; normal, 4 % |
//! | diurnal | shared by day | sine of 24 h, 8 %; AR(1) with 0.5, innovations of 5 % |
//!
//! Tests are 1 h apart. The step is a drop of 5, 10, 20, 40 or 80 %, anywhere but in the first and last tenth. Equal seeds give
//! equal series on every machine.

use std::f64::consts::TAU;

use path::Seed;
use path::random::SeededRng;

use crate::series::Sample;

/// The noise of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Normal, 5 %.
    Gauss,
    /// Lognormal, 15 %.
    Lognormal,
    /// Student's t with 3 degrees of freedom, 4 %; 5 % of tests are hit by loss.
    Heavy,
    /// Levels 1 and 0.6 that persist for 2.5 tests on average before they are drawn again.
    Bimodal,
    /// A daily sine of 8 % and AR(1) noise.
    Diurnal,
}

impl Family {
    /// All of them, in the order in which series take turns.
    pub const ALL: [Self; 5] = [Self::Gauss, Self::Lognormal, Self::Heavy, Self::Bimodal, Self::Diurnal];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gauss => "gauss",
            Self::Lognormal => "lognormal",
            Self::Heavy => "heavy",
            Self::Bimodal => "bimodal",
            Self::Diurnal => "diurnal",
        }
    }
}

/// The drops of series with a step, in turn.
pub const DROPS: [f64; 5] = [0.05, 0.10, 0.20, 0.40, 0.80];

/// A generated series and what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// Noise around the level, by turns.
    pub family: Family,
    /// By how much the level falls; 0 where it does not.
    pub drop: f64,
    /// The first sample of the lower level.
    pub step: Option<usize>,
    /// One an hour.
    pub samples: Vec<Sample>,
}

/// Whether series have a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// One each.
    One,
    /// None.
    None,
}

/// Series number `number` of a seed.
#[must_use]
pub fn series(seed: Seed, number: usize, points: usize, steps: Steps) -> Labelled {
    let stream = 2 * number as u64 + u64::from(steps == Steps::One);
    let mut rng = Normals::new(seed.part(stream));
    let family = Family::ALL[number % 5];
    let drop = if steps == Steps::One { DROPS[number / 5 % 5] } else { 0.0 };
    let mut values = noise(&mut rng, family, points);
    let tenth = points / 10;
    let at = tenth + below(&mut rng, points - 2 * tenth);
    let step = (steps == Steps::One).then_some(at);
    let scale = [1e9, 1e10, 1e11][below(&mut rng, 3)];
    for (place, value) in values.iter_mut().enumerate() {
        let level = if step.is_some_and(|step| place >= step) { 1.0 - drop } else { 1.0 };
        *value = value.max(LEAST) * level * scale;
    }
    Labelled { family, drop, step, samples: hourly(&values) }
}

/// Samples an hour apart.
#[must_use]
pub fn hourly(values: &[f64]) -> Vec<Sample> {
    (0_i64..).zip(values).map(|(hour, value)| Sample { at_s: 3600 * hour, value: *value }).collect()
}

/// Noise around 1.
fn noise(rng: &mut Normals, family: Family, points: usize) -> Vec<f64> {
    match family {
        Family::Gauss => (0..points).map(|_| 1.0 + 0.05 * rng.normal()).collect(),
        Family::Lognormal => (0..points).map(|_| (0.15 * rng.normal()).exp()).collect(),
        Family::Heavy => (0..points).map(|_| heavy(rng)).collect(),
        Family::Bimodal => {
            let mut is_high = rng.uniform.hits(0.7);
            let mut value = || {
                if rng.uniform.hits(0.4) {
                    is_high = rng.uniform.hits(0.7);
                }
                (if is_high { 1.0 } else { 0.6 }) * (1.0 + 0.04 * rng.normal())
            };
            (0..points).map(|_| value()).collect()
        }
        Family::Diurnal => {
            let phase = rng.uniform.unit();
            let mut rest = 0.0;
            let mut value = |hour: usize| {
                rest = 0.5 * rest + 0.05 * rng.normal();
                1.0 + 0.08 * (TAU * (hour as f64 / 24.0 + phase)).sin() + rest
            };
            (0..points).map(&mut value).collect()
        }
    }
}

fn heavy(rng: &mut Normals) -> f64 {
    // Student's t: a normal over the root of a mean of 3 squares of normals.
    let squares: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
    let value = 1.0 + 0.04 * rng.normal() / (squares / 3.0).sqrt();
    if rng.uniform.hits(0.05) { value * (0.1 + 0.6 * rng.uniform.unit()) } else { value }
}

fn below(rng: &mut Normals, end: usize) -> usize {
    usize::try_from(rng.uniform.below(end as u64)).unwrap_or(0)
}

/// Normal draws, two at a time (Box and Muller 1958).
pub(crate) struct Normals {
    pub(crate) uniform: SeededRng,
    spare: Option<f64>,
}

impl Normals {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { uniform: SeededRng::new(seed), spare: None }
    }

    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 - u is above zero.
        let radius = (-2.0 * (1.0 - self.uniform.unit()).ln()).sqrt();
        let (sin, cos) = (TAU * self.uniform.unit()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// No test reports less than this share of the level.
const LEAST: f64 = 0.002;
