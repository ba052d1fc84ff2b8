//! All that a whole series says: its cycle, its two levels, and every change of level, drift, spread and share.

use crate::cycle::Cycle;
use crate::drift;
use crate::modes::Modes;
use crate::place::{self, Noise, Step, Strictness};
use crate::screen::{Screen, Screened};
use crate::series::{Prepared, Sample, Scale, median, spread};

/// How a series is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// The scale on which values are compared.
    pub scale: Scale,
    /// What makes a candidate a change.
    pub strictness: Strictness,
    /// Whether the screen decides first.
    pub gate: Gate,
}

/// Whether the screen decides if a series is looked at closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// Only series that the screen suspects are looked at: at every result of thousands of series.
    #[default]
    Screen,
    /// Every series is: when a person asks for one.
    Open,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The level, at once.
    Step,
    /// The level, slowly.
    Drift,
    /// The spread around the level; before and after are standard deviations.
    Spread,
    /// How often each of two levels comes; before and after are the shares of the lower one.
    Share,
}

/// A change in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// What changed.
    pub shape: Shape,
    /// Among the samples that were given, the first one after the change; of a drift, the first of its slope.
    pub at: usize,
    /// When that was.
    pub at_s: i64,
    /// The end of the change: the same as `at_s`, except of a drift.
    pub until_s: i64,
    /// In the unit of the series, from the change before.
    pub before: f64,
    /// The same until the next change.
    pub after: f64,
    /// Standard errors between the two.
    pub z: f64,
}

impl Change {
    /// A step between two levels whose first sample after it is that one: what shows without any statistic.
    pub(crate) const fn step(first: Placed, levels: Levels) -> Self {
        let Placed { at, at_s } = first;
        Self { shape: Shape::Step, at, at_s, until_s: at_s, before: levels.before, after: levels.after, z: 0.0 }
    }
}

/// A sample by its place in a series and its moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) at: usize,
    pub(crate) at_s: i64,
}

/// What a series has before and after a change, in its unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// A time without samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The last sample before.
    pub from_s: i64,
    /// The first one after.
    pub until_s: i64,
}

/// A stretch of one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Its first sample.
    pub from_s: i64,
    /// Its last sample.
    pub until_s: i64,
    /// Samples in it.
    pub samples: usize,
    /// The median, in the unit of the series; of two levels, that of the upper one.
    pub level: f64,
    /// What 95 of 100 results are above, were they normal on the scale of the series: without cycle, within one mode.
    pub low: f64,
    /// What 95 of 100 are below.
    pub high: f64,
}

/// What a series says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analysis {
    /// Samples that are numbers.
    pub samples: usize,
    /// Samples that are not, and were left out.
    pub left_out: usize,
    /// What the screen found; [`None`] of too few samples.
    pub screened: Option<Screened>,
    /// What depends on the time of day.
    pub cycle: Option<Cycle>,
    /// The two levels, where there are two.
    pub modes: Option<Modes>,
    /// In order of time.
    pub changes: Vec<Change>,
    /// Stretches between changes of level, in order; none where the screen suspected nothing and decided.
    pub segments: Vec<Segment>,
    /// Times without samples, in order.
    pub gaps: Vec<Gap>,
}

/// Analyses a series.
#[must_use]
pub fn analyse(samples: &[Sample], settings: &Settings, screen: &mut Screen) -> Analysis {
    let series = Prepared::new(samples, settings.scale);
    let screened = screen.screen(&series.levels, settings.strictness.least_samples);
    let mut analysis = Analysis {
        samples: series.levels.len(),
        left_out: samples.len() - series.levels.len(),
        screened,
        gaps: gaps(&series.times),
        ..Analysis::default()
    };
    let is_suspect = screened.is_some_and(|screened| screened.z >= SUSPECT_Z);
    if series.levels.is_empty() || (settings.gate == Gate::Screen && !is_suspect) {
        return analysis;
    }
    analysis.modes = Modes::find(&series.levels);
    let mut levels = series.levels.clone();
    if let Some(modes) = &analysis.modes {
        levels = modes.removed(&levels);
    }
    analysis.cycle = Cycle::find(&series.times, &levels);
    if let Some(cycle) = &analysis.cycle {
        levels.iter_mut().zip(&series.times).for_each(|(level, time)| *level -= cycle.at(*time));
    }
    let steps = place::steps(&levels, &settings.strictness);
    let steps = among_their_own_spread(&levels, steps, &settings.strictness);
    analysis.segments = segments(&series, &levels, &steps, settings.scale);
    let mut found = Found { series: &series, settings, changes: Vec::new() };
    found.levels(&levels, &steps);
    found.spreads(&levels, &steps);
    if let Some(modes) = &analysis.modes {
        found.shares(modes);
    }
    found.changes.sort_by_key(|change| (change.at_s, change.at));
    analysis.changes = found.changes;
    analysis
}

struct Found<'a> {
    series: &'a Prepared,
    settings: &'a Settings,
    changes: Vec<Change>,
}

impl Found<'_> {
    fn add(&mut self, shape: Shape, (from, until): (usize, usize), (before, after, z): (f64, f64, f64)) {
        let times = &self.series.times;
        let change =
            Change { shape, at: self.series.places[from], at_s: times[from], until_s: times[until], before, after, z };
        self.changes.push(change);
    }

    /// Steps, and drifts where a slope says more than a stair.
    fn levels(&mut self, levels: &[f64], steps: &[Step]) {
        let noise = Noise::of(levels, &steps.iter().map(|step| step.at).collect::<Vec<_>>());
        let value = |level| self.settings.scale.value(level);
        for stair in drift::stairs(levels, steps, &noise) {
            match stair {
                drift::Stair::Step(step) => {
                    self.add(Shape::Step, (step.at, step.at), (value(step.before), value(step.after), step.z));
                }
                drift::Stair::Slope(slope) => {
                    let ends = (value(slope.before), value(slope.after), slope.z);
                    self.add(Shape::Drift, (slope.from, slope.until), ends);
                }
            }
        }
    }

    /// Changes of the distance from the level.
    fn spreads(&mut self, levels: &[f64], steps: &[Step]) {
        let rests: Vec<f64> = rests(levels, steps);
        let scale = spread(&rests).max(f64::MIN_POSITIVE);
        let sizes: Vec<f64> = rests.iter().map(|rest| rest.abs() / scale).collect();
        let strictness =
            Strictness { least_z: SPREAD_Z, least_shift: 0.25, least_samples: 15, ..self.settings.strictness };
        for step in place::steps(&sizes, &strictness) {
            let near_a_step = steps.iter().any(|other| other.at.abs_diff(step.at) < strictness.least_samples);
            let ratio = step.after / step.before.max(f64::MIN_POSITIVE);
            if !near_a_step && !(1.0 / SPREAD_RATIO..SPREAD_RATIO).contains(&ratio) {
                let sigma = |size: f64| size * scale * crate::series::MAD_TO_SIGMA;
                self.add(Shape::Spread, (step.at, step.at), (sigma(step.before), sigma(step.after), step.z));
            }
        }
    }

    /// Changes of how often the lower of two levels comes.
    fn shares(&mut self, modes: &Modes) {
        let is_low: Vec<f64> = modes.is_low.iter().map(|low| f64::from(u8::from(*low))).collect();
        let strictness =
            Strictness { least_z: SHARE_Z, least_shift: 0.0, least_samples: 20, ..self.settings.strictness };
        let steps = place::share_steps(&is_low, &strictness);
        let bounds: Vec<usize> =
            std::iter::once(0).chain(steps.iter().map(|step| step.at)).chain([is_low.len()]).collect();
        let share = |from: usize, until: usize| is_low[from..until].iter().sum::<f64>() / (until - from) as f64;
        for (step, around) in steps.iter().zip(bounds.windows(3)) {
            let (before, after) = (share(around[0], around[1]), share(around[1], around[2]));
            if (after - before).abs() >= LEAST_SHARE_SHIFT {
                self.add(Shape::Share, (step.at, step.at), (before, after, step.z));
            }
        }
    }
}

/// Steps whose evidence holds against the spread beside them: where a series scatters more for a while, it shows more. The
/// weakest goes first, and its neighbours are looked at again without it.
fn among_their_own_spread(levels: &[f64], mut steps: Vec<Step>, strictness: &Strictness) -> Vec<Step> {
    loop {
        let mut places: Vec<usize> = steps.iter().map(|step| step.at).collect();
        let (usual, rests) = (Noise::of(levels, &places).sigma, rests(levels, &steps));
        let bounds: Vec<usize> = std::iter::once(0).chain(places.iter().copied()).chain([levels.len()]).collect();
        let strength = |number: usize| {
            let local = spread(&rests[bounds[number]..bounds[number + 2]]);
            steps[number].z * if local > NOTABLY_WIDER * usual { usual / local } else { 1.0 }
        };
        let weakest = (0..steps.len()).min_by(|a, b| strength(*a).total_cmp(&strength(*b)));
        let Some(weakest) = weakest.filter(|weakest| strength(*weakest) < strictness.least_z) else { return steps };
        places.remove(weakest);
        steps = place::kept(levels, places, strictness);
    }
}

fn rests(levels: &[f64], steps: &[Step]) -> Vec<f64> {
    let bounds: Vec<usize> = std::iter::once(0).chain(steps.iter().map(|step| step.at)).chain([levels.len()]).collect();
    let part = |bounds: &[usize]| {
        let middle = median(&levels[bounds[0]..bounds[1]]);
        levels[bounds[0]..bounds[1]].iter().map(move |level| level - middle).collect::<Vec<_>>()
    };
    bounds.windows(2).flat_map(part).collect()
}

fn segments(series: &Prepared, levels: &[f64], steps: &[Step], scale: Scale) -> Vec<Segment> {
    let bounds: Vec<usize> = std::iter::once(0).chain(steps.iter().map(|step| step.at)).chain([levels.len()]).collect();
    let segment = |bounds: &[usize]| {
        let part = &levels[bounds[0]..bounds[1]];
        let (middle, sigma) = (median(part), spread(part));
        Segment {
            from_s: series.times[bounds[0]],
            until_s: series.times[bounds[1] - 1],
            samples: part.len(),
            level: scale.value(middle),
            low: scale.value(middle - ONE_SIDED_95 * sigma),
            high: scale.value(middle + ONE_SIDED_95 * sigma),
        }
    };
    bounds.windows(2).map(segment).collect()
}

/// Times between neighbours that are much longer than usual.
fn gaps(times: &[i64]) -> Vec<Gap> {
    let between: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let usual = median(&between);
    let pairs = times.windows(2).zip(between);
    let long = pairs.filter(|(_, between)| *between > LONG_GAP * usual && usual > 0.0);
    long.map(|(pair, _)| Gap { from_s: pair[0], until_s: pair[1] }).collect()
}

/// From here on a series is suspect. Of series of 500 independent samples without a change 15 % are.
pub const SUSPECT_Z: f64 = 3.2;
/// Spreads that differ by less are the same.
const NOTABLY_WIDER: f64 = 1.2;
/// Standard errors of a change of spread: its sizes are skewed, so more than those of a level.
const SPREAD_Z: f64 = 6.5;
/// A change of spread is at least this ratio.
const SPREAD_RATIO: f64 = 1.5;
/// Standard errors of a change of share.
const SHARE_Z: f64 = 5.5;
/// A change of share is at least so large.
const LEAST_SHARE_SHIFT: f64 = 0.15;
/// Of a standard normal variable, 95 of 100 values are below.
const ONE_SIDED_95: f64 = 1.645;
/// A gap is so many times the usual time between samples.
const LONG_GAP: f64 = 4.0;
