//! One series as its results come in: learning, steady, suspect, changed, stale.
//!
//! While a change is open its baseline is frozen: a drop that has lasted a month is still a drop.

use std::sync::Arc;

use stats::rank;

use crate::analysis::{Analysis, Change, Gate, Levels, Placed, Settings, Shape, analyse};
use crate::expectation::{Compared, Yardstick};
use crate::place::Strictness;
use crate::screen::Screen;
use crate::series::{Sample, Scale, median, spread};

/// Which direction is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Worse {
    /// Rates.
    #[default]
    Lower,
    /// RTT, loss, retransmits.
    Higher,
}

/// Whether a result can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// It takes part.
    Good,
    /// The measurement itself was impaired (emulator or sender overloaded, clock steps, partial results): counted, never judged.
    Poor,
}

/// How a series is watched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WatchSettings {
    /// The scale on which results are compared.
    pub scale: Scale,
    /// Which direction alarms.
    pub worse: Worse,
    /// Standard errors that open a change. Every result is a new chance of a false alarm, so it is more than one look at a whole
    /// series needs.
    pub alarm_z: f64,
    /// Results that are kept, and looked at, at most.
    pub history: usize,
    /// Fewer results have no baseline of their own.
    pub least_history: usize,
    /// Without a result for so long the series is stale.
    pub stale_after_s: i64,
}

impl Default for WatchSettings {
    fn default() -> Self {
        Self {
            scale: Scale::Ratio,
            worse: Worse::Lower,
            alarm_z: 6.0,
            history: 500,
            least_history: 20,
            stale_after_s: 3 * 86_400,
        }
    }
}

/// A change that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenChange {
    /// What changed, from when, and by how much.
    pub change: Change,
    /// What is before the change: results, or what was expected.
    pub against: Yardstick,
    /// The result at which it was noticed.
    pub noticed_s: i64,
    /// The results of the level before, on the scale of the series; kept as they are until the change is over.
    pub(crate) frozen: Vec<f64>,
}

/// What is known of a series after its last result.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Too few results for a baseline.
    Learning,
    /// As before.
    Steady,
    /// The screen suspects a change, and the evidence is not enough.
    Suspect,
    /// It is worse since a moment.
    Changed(Box<OpenChange>),
}

/// What a look at a series shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Status<'a> {
    /// No result at all.
    NoData,
    /// No good result since this moment: neither good nor bad.
    Stale {
        /// The last good result.
        last_s: i64,
        /// What was known then.
        was: &'a State,
    },
    /// Results are recent.
    Fresh(&'a State),
}

/// What a result made of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing that anybody waits for.
    None,
    /// A change was opened.
    Opened,
    /// The old level is back.
    Recovered,
}

/// A series that is watched.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Those of all series of a metric are the same.
    pub(crate) settings: Arc<WatchSettings>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) state: State,
    poor: u64,
    /// Of a million series few may have one.
    pub(crate) expectation: Option<Box<Compared>>,
}

impl Watch {
    /// A series without results.
    #[must_use]
    pub fn new(settings: WatchSettings) -> Self {
        Self::sharing(Arc::new(settings))
    }

    pub(crate) const fn sharing(settings: Arc<WatchSettings>) -> Self {
        Self { settings, samples: Vec::new(), state: State::Learning, poor: 0, expectation: None }
    }

    /// What is known.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// How many poor results were left out.
    #[must_use]
    pub const fn poor(&self) -> u64 {
        self.poor
    }

    /// What a look at this moment shows.
    #[must_use]
    pub fn status(&self, now_s: i64) -> Status<'_> {
        match self.samples.last() {
            None => Status::NoData,
            Some(last) if now_s - last.at_s > self.settings.stale_after_s => {
                Status::Stale { last_s: last.at_s, was: &self.state }
            }
            Some(_) => Status::Fresh(&self.state),
        }
    }

    /// The results that are the baseline of the next one, on the scale of the series: while a change is open, those before it.
    #[must_use]
    pub fn baseline(&self) -> Vec<f64> {
        match &self.state {
            State::Changed(open) => open.frozen.clone(),
            _ => self.samples.iter().map(|sample| self.settings.scale.level(sample.value)).collect(),
        }
    }

    /// The same, of the results before a moment.
    pub(crate) fn baseline_before(&self, moment_s: i64) -> Vec<f64> {
        match &self.state {
            State::Changed(open) => open.frozen.clone(),
            _ => {
                let before = self.samples.iter().take_while(|sample| sample.at_s < moment_s);
                before.map(|sample| self.settings.scale.level(sample.value)).collect()
            }
        }
    }

    /// Takes a result. Results older than the last one are kept out, as are values that are no numbers or, on the ratio scale,
    /// not above zero: those are failed measurements, not slow ones.
    pub fn record(&mut self, result: Sample, quality: Quality, screen: &mut Screen) -> Turn {
        let is_number = result.value.is_finite() && (self.settings.scale == Scale::Difference || result.value > 0.0);
        let is_late = self.samples.last().is_some_and(|last| result.at_s <= last.at_s);
        if !is_number || is_late || (quality == Quality::Poor && !self.shows_the_end(result.value)) {
            self.poor += 1;
            return Turn::None;
        }
        self.compare(result.value);
        self.samples.push(result);
        let excess = self.samples.len().saturating_sub(self.settings.history);
        self.samples.drain(..excess);
        match std::mem::replace(&mut self.state, State::Steady) {
            State::Changed(open) => self.while_open(open),
            _ if self.samples.len() < self.settings.least_history => {
                self.state = State::Learning;
                Turn::None
            }
            _ => self.look(screen),
        }
    }

    /// Takes results of before as they are, in order of time: what is not above zero on the ratio scale or no number is left out.
    pub fn restore(&mut self, samples: &[Sample]) {
        let is_number = |sample: &&Sample| {
            sample.value.is_finite() && (self.settings.scale == Scale::Difference || sample.value > 0.0)
        };
        // A mesh of a thousand hosts has a million of these, most of them short.
        self.samples.reserve_exact(samples.len());
        self.samples.extend(samples.iter().filter(is_number));
        self.samples.sort_by_key(|sample| sample.at_s);
        self.samples.dedup_by_key(|sample| sample.at_s);
        let excess = self.samples.len().saturating_sub(self.settings.history);
        self.samples.drain(..excess);
        let is_short = self.samples.len() < self.settings.least_history;
        self.state = if is_short { State::Learning } else { State::Steady };
    }

    /// Forgets results from a moment on: something else explains them.
    pub(crate) fn forget_since(&mut self, since_s: i64) {
        self.samples.retain(|sample| sample.at_s < since_s);
    }

    /// Takes the level since a moment as the new normal: what was before is forgotten, and nothing else is expected.
    pub(crate) fn accept_since(&mut self, since_s: i64) {
        self.samples.retain(|sample| sample.at_s >= since_s);
        self.state = State::Learning;
        self.expectation = None;
    }

    /// Takes the present level as the new normal: the change that is open was meant.
    pub fn accept(&mut self) {
        if let State::Changed(open) = &self.state {
            self.accept_since(open.change.at_s);
        }
    }

    /// Whether the last results have all dropped so far below everything before them that there is nothing to wait for: to half of
    /// what is usual or less, and out of the range of the history by a part of its width. Of rates and times alone: shares have no such
    /// scale.
    pub(crate) fn has_dropped(&self) -> bool {
        self.dropped().is_some()
    }

    /// Opens a change where [`Self::has_dropped`].
    pub(crate) fn open_drop(&mut self) -> Turn {
        let Some((change, frozen)) = self.dropped() else { return Turn::None };
        self.open(OpenChange { change, against: Yardstick::History, noticed_s: change.at_s, frozen })
    }

    fn dropped(&self) -> Option<(Change, Vec<f64>)> {
        let WatchSettings { scale, worse, least_history, .. } = *self.settings;
        let at = self.samples.len().checked_sub(DROPPED).filter(|at| *at >= least_history)?;
        if scale == Scale::Difference || matches!(self.state, State::Changed(_)) {
            return None;
        }
        let sign = if worse == Worse::Lower { 1.0 } else { -1.0 };
        let levels = |samples: &[Sample]| samples.iter().map(|one| scale.level(one.value) * sign).collect::<Vec<f64>>();
        let (before, after) = (levels(&self.samples[..at]), levels(&self.samples[at..]));
        let usual = median(&before);
        let lowest = before.iter().copied().fold(f64::INFINITY, f64::min);
        let limit = (usual - HALF).min(lowest - (usual - lowest) * MARGIN);
        if !after.iter().all(|level| *level <= limit) {
            return None;
        }
        let value = |level: f64| scale.value(level * sign);
        let change = Change::step(
            Placed { at, at_s: self.samples[at].at_s },
            Levels { before: value(usual), after: value(median(&after)) },
        );
        Some((change, before.iter().map(|level| level * sign).collect()))
    }

    fn look(&mut self, screen: &mut Screen) -> Turn {
        let strictness = Strictness { least_z: self.settings.alarm_z, ..Strictness::default() };
        let settings = Settings { scale: self.settings.scale, strictness, gate: Gate::Screen };
        let Analysis { screened, changes, .. } = analyse(&self.samples, &settings, screen);
        let levels = changes.iter().filter(|change| matches!(change.shape, Shape::Step | Shape::Drift));
        let levels = levels.filter(|change| self.rank_p(change) <= ALARM_P);
        let Some(last) = levels.max_by_key(|change| change.at_s).copied() else {
            let is_suspect = screened.is_some_and(|screened| screened.z >= self.settings.alarm_z);
            self.state = if is_suspect { State::Suspect } else { State::Steady };
            return Turn::None;
        };
        let scale = self.settings.scale;
        if !self.is_worse(scale.level(last.before), scale.level(last.after)) {
            // It got better: that is the new normal.
            self.samples.retain(|sample| sample.at_s >= last.at_s);
            self.state = State::Steady;
            return Turn::None;
        }
        let frozen = self.samples.iter().take_while(|sample| sample.at_s < last.at_s);
        let frozen = frozen.map(|sample| scale.level(sample.value)).collect();
        self.open(OpenChange { change: last, against: Yardstick::History, noticed_s: last.at_s, frozen })
    }

    /// The probability that chance alone puts the results before and after a change in such an order: it holds whatever their
    /// distribution is, where history is too short to know it.
    fn rank_p(&self, change: &Change) -> f64 {
        let levels: Vec<f64> = self.samples.iter().map(|sample| self.settings.scale.level(sample.value)).collect();
        let (before, after) = levels.split_at(self.samples.partition_point(|sample| sample.at_s < change.at_s));
        rank::test(before, after).map_or(1.0, |test| test.p_two_sided)
    }

    /// Opens a change that the newest result has shown.
    pub(crate) fn open(&mut self, open: OpenChange) -> Turn {
        let noticed_s = self.samples.last().map_or(open.noticed_s, |last| last.at_s);
        self.state = State::Changed(Box::new(OpenChange { noticed_s, ..open }));
        Turn::Opened
    }

    /// The change is over once recent results can no longer be told from those before it, or are what was expected.
    fn while_open(&mut self, open: Box<OpenChange>) -> Turn {
        if open.against == Yardstick::Expectation {
            return self.while_short(open);
        }
        let scale = self.settings.scale;
        let after: Vec<f64> =
            self.samples.iter().filter(|sample| sample.at_s > open.noticed_s).map(|s| scale.level(s.value)).collect();
        let recent = &after[after.len().saturating_sub(RECOVERY)..];
        let (before, worse) = (scale.level(open.change.before), scale.level(open.change.after));
        let is_nearer = (median(recent) - before).abs() < (median(recent) - worse).abs() / 2.0;
        let differs = rank::test(&open.frozen, recent).is_some_and(|test| test.p_two_sided < 0.01);
        let within = (median(recent) - median(&open.frozen)).abs() <= spread(&open.frozen).max(LEAST_SHIFT);
        if recent.len() < RECOVERY || !is_nearer || (differs && !within) {
            self.state = State::Changed(open);
            return Turn::None;
        }
        self.recover(&open.change, RECOVERY)
    }

    /// Ends a change whose last results are good: those between the change and them are no part of the baseline.
    pub(crate) fn recover(&mut self, change: &Change, good: usize) -> Turn {
        let until = self.samples[self.samples.len() - good].at_s;
        self.samples.retain(|sample| sample.at_s < change.at_s || sample.at_s >= until);
        self.state = State::Steady;
        Turn::Recovered
    }

    /// Whether a result of poor quality is as good as before a change that is open: what disturbs a measurement makes it worse, so that
    /// one is as good as any.
    fn shows_the_end(&self, value: f64) -> bool {
        let scale = self.settings.scale;
        match &self.state {
            State::Changed(open) => !self.is_worse(scale.level(open.change.before), scale.level(value)),
            _ => false,
        }
    }

    fn is_worse(&self, before: f64, after: f64) -> bool {
        let shift = match self.settings.worse {
            Worse::Lower => before - after,
            Worse::Higher => after - before,
        };
        shift >= LEAST_SHIFT || (self.settings.scale == Scale::Difference && shift > 0.0)
    }
}

/// The probability of the order of results that opens a change: a mesh of 20 hosts has 68,000 looks a quarter.
const ALARM_P: f64 = 1e-6;
/// Results that show together that a series has dropped.
const DROPPED: usize = 3;
/// The logarithm of the ratio that they have to have dropped by.
const HALF: f64 = std::f64::consts::LN_2;
/// How far below the lowest result of the history they have to be, in parts of its distance from the median.
const MARGIN: f64 = 0.5;
/// Results that show that the old level is back.
const RECOVERY: usize = 6;
/// Smaller changes of ratio are none.
const LEAST_SHIFT: f64 = 0.03;
