//! Where the ramp-up of a run ends.
//!
//! The method is MSER-5 (White 1997, Simulation 69:323, in batches of five): cut off as much of the start as makes the
//! standard error of the rest smallest. A path is not a queueing model, so three things differ. Batches are medians
//! and their deviation counts only up to a bound, or a short outage or a dip of BBR later in the run would be worth
//! cutting everything before it. And the rest must have no trend: a run that still speeds up when it ends has no
//! steady rate, whatever its standard error.

use units::ByteCount;

use crate::summary::{MAD_TO_SIGMA, Ordered};

/// Whether and where a run settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// The ramp-up is the steps before this index.
    From(usize),
    /// There is no steady part.
    NotReached(Reason),
}

/// Why there is no steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Fewer than [`MIN_STEPS`] steps.
    TooShort,
    /// At least half of the second half of the run moved nothing.
    Idle,
    /// The rate was still rising or falling when the run ended.
    Moving,
}

/// Finds the end of the ramp-up in `steps`: payload delivered in each of many equal parts of a run.
///
/// A step should be no shorter than the round trip, or the bursts of slow start are taken for noise. The answer does
/// not change if all steps are multiplied by one number.
#[must_use]
pub fn detect(steps: &[ByteCount]) -> Steady {
    if steps.len() < MIN_STEPS {
        return Steady::NotReached(Reason::TooShort);
    }
    let steps = relative(steps);
    let batches: Vec<f64> = steps.chunks_exact(BATCH).filter_map(median).collect();
    let (Some(usual), Some(usual_step)) = (Usual::of_second_half(&batches), Usual::of_second_half(&steps)) else {
        return Steady::NotReached(Reason::Idle);
    };
    let usual = usual.at_least(usual_step.deviation * MEDIAN_OF_BATCH);
    let cut = least_standard_error(&batches, usual);
    // A cut in the second half means that the run is mostly ramp-up, and MSER is known to be wrong there.
    if cut * 2 > batches.len() || has_trend(&batches[cut..], usual) || ends_elsewhere(&batches, usual) {
        return Steady::NotReached(Reason::Moving);
    }
    Steady::From(first_usual(&steps, usual_step, cut * BATCH))
}

/// The fewest steps of which a steady part can be told: ten batches of five.
pub const MIN_STEPS: usize = BATCH * 10;

/// Steps in a batch. It makes neighbours less dependent, which the standard error takes for granted.
const BATCH: usize = 5;

/// Steps as parts of the largest one: the correctly rounded quotient of two exact numbers is the same for any scale,
/// so the answer is too.
#[expect(clippy::cast_precision_loss, reason = "a step of 2^53 bytes is 9 PB")]
fn relative(steps: &[ByteCount]) -> Vec<f64> {
    let largest = steps.iter().map(|step| step.get()).max().unwrap_or(0).max(1) as f64;
    steps.iter().map(|step| step.get() as f64 / largest).collect()
}

/// What is usual once a run has settled.
#[derive(Debug, Clone, Copy)]
struct Usual {
    level: f64,
    deviation: f64,
}

impl Usual {
    /// From the half of the run that can hold no ramp-up if a steady part exists. Median and MAD let up to half of it
    /// be out of the ordinary. `None` where the usual level is nothing.
    fn of_second_half(values: &[f64]) -> Option<Self> {
        let half: Ordered = values[values.len() / 2..].iter().copied().collect();
        let level = half.median().filter(|level| *level > 0.0)?;
        let deviation = half.mad()? * MAD_TO_SIGMA;
        Some(Self { level, deviation: deviation.max(IGNORED * level) })
    }

    fn at_least(self, deviation: f64) -> Self {
        Self { deviation: self.deviation.max(deviation), ..self }
    }

    /// Squared deviation of `value` in units of the usual one, between 1 and [`MOST`].
    fn cost(self, value: f64) -> f64 {
        ((value - self.level) / self.deviation).powi(2).clamp(1.0, MOST)
    }

    fn is(self, value: f64) -> bool {
        self.cost(value) < MOST
    }
}

/// What a batch can cost at most. With r times the mean cost of usual batches (1.5 for normal noise), a ramp of up to
/// (r - 2)/(r - 1) of the run is worth cutting: 0.68, so more than the half that is allowed. A larger bound would cut
/// at outages more often.
const MOST: f64 = 2.5 * 2.5;

/// Standard deviation of the median of a batch over that of its steps, were these independent and normal:
/// sqrt(pi / 2 / 5), less 4 % for a batch so small. The few batches of a short run may look quieter by chance.
const MEDIAN_OF_BATCH: f64 = 0.536;

/// Deviations below this part of the level are not worth cutting, however regular the rest is.
const IGNORED: f64 = 0.01;

/// The cut that minimises the sum of squares of the rest over the square of its length (White 1997). Of
/// equal cuts the earliest wins.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn least_standard_error(batches: &[f64], usual: Usual) -> usize {
    let mut squares = 0.0;
    let mut best = (f64::INFINITY, 0);
    for (kept, (cut, batch)) in (1_usize..).zip(batches.iter().enumerate().rev()) {
        squares += usual.cost(*batch);
        let error = squares / (kept * kept) as f64;
        if error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

/// Whether values rise or fall over their course by more than chance (Mann 1945, Kendall 1975) and by more than a
/// sawtooth of congestion control leaves (Theil-Sen slope over the whole length).
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn has_trend(values: &[f64], usual: Usual) -> bool {
    let parts: Vec<f64> = values.chunks(values.len().div_ceil(TREND_PARTS).max(1)).filter_map(median).collect();
    let pairs =
        || parts.iter().enumerate().flat_map(|(i, a)| (1..).zip(&parts[i + 1..]).map(move |(by, b)| (by, b - a)));
    let score: f64 = pairs().map(|(_, rise)| if rise == 0.0 { 0.0 } else { rise.signum() }).sum();
    let n = parts.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let slope = pairs().map(|(by, rise)| rise / f64::from(by)).collect::<Ordered>().median().unwrap_or(0.0);
    score.abs() > TREND_SIGMAS * deviation && (slope * n).abs() > TREND_CHANGE * usual.level
}

/// Every pair of parts is compared, so a long run is taken in fewer, longer parts.
const TREND_PARTS: usize = 400;

/// Two-sided level of 1 %.
const TREND_SIGMAS: f64 = 2.58;

/// The change over the steady part, as a part of its level, that counts as a trend.
const TREND_CHANGE: f64 = 0.1;

/// Whether the last tenth of a run is far from its level: a path that died just before the end is not steady.
fn ends_elsewhere(batches: &[f64], usual: Usual) -> bool {
    let last = batches.len() - (batches.len() / 10).max(2);
    batches[last..].iter().all(|batch| (batch - usual.level).abs() > usual.level * DIED)
}

/// Distance from the level, as a part of it, at which a run has left it.
const DIED: f64 = 0.5;

/// Moves a cut at a batch's edge back to the first of the usual steps before it. Two batches at most: one that was
/// cut in part, and one that noise made worth cutting.
fn first_usual(steps: &[f64], usual: Usual, cut: usize) -> usize {
    let reached = steps[cut.saturating_sub(2 * BATCH)..cut].iter().rev().take_while(|step| usual.is(**step)).count();
    cut - reached
}

fn median(values: &[f64]) -> Option<f64> {
    values.iter().copied().collect::<Ordered>().median()
}
