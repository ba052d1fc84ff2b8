//! A series held against what it should have, and against what it was worse than before a start.

use crate::analysis::{Change, Levels, Placed};
use crate::expectation::{Compared, Expectation, OpenIncident, SEVERAL, Yardstick};
use crate::series::median;
use crate::watch::{OpenChange, State, Turn, Watch, Worse};

impl Watch {
    /// Says what the series should have.
    pub(crate) fn expect(&mut self, expectation: Expectation) {
        let compared = Compared { expectation, settled: None, latest: expectation.value, short: 0, good: 0 };
        self.expectation = Some(Box::new(compared));
    }

    /// Says what the next result had once it had started: a transfer over a long path takes seconds to, and nobody expects those to be fast.
    pub(crate) fn settle(&mut self, value: f64) {
        if let Some(compared) = &mut self.expectation {
            compared.settled = Some(value);
        }
    }

    /// Compares a result with what is expected.
    pub(crate) fn compare(&mut self, value: f64) {
        let worse = self.settings.worse;
        let Some(compared) = self.expectation.as_deref_mut() else { return };
        let value = compared.settled.take().unwrap_or(value);
        let falls_short = match worse {
            Worse::Lower => value < compared.expectation.limit,
            Worse::Higher => value > compared.expectation.limit,
        };
        compared.latest = value;
        (compared.short, compared.good) = if falls_short { (compared.short + 1, 0) } else { (0, compared.good + 1) };
    }

    /// How many of the last results have fallen short one after the other; none while a change is open, which says so already.
    pub(crate) fn short(&self) -> usize {
        let is_open = matches!(self.state, State::Changed(_));
        self.expectation.as_deref().filter(|_| !is_open).map_or(0, |compared| compared.short)
    }

    /// Opens a change since the first of the last results that fell short.
    pub(crate) fn open_short(&mut self) -> Turn {
        let short = self.short().min(self.samples.len());
        let Some(compared) = self.expectation.as_deref().copied().filter(|_| short > 0) else { return Turn::None };
        let at = self.samples.len() - short;
        let at_s = self.samples[at].at_s;
        let levels = Levels { before: compared.expectation.value, after: compared.latest };
        let frozen = vec![self.settings.scale.level(levels.before)];
        let change = Change::step(Placed { at, at_s }, levels);
        self.open(OpenChange { change, against: Yardstick::Expectation, noticed_s: at_s, frozen })
    }

    /// The change is over once the last results are what was expected.
    pub(crate) fn while_short(&mut self, open: Box<OpenChange>) -> Turn {
        let good = self.expectation.as_deref().map_or(SEVERAL, |compared| compared.good).min(self.samples.len());
        if good < SEVERAL {
            self.state = State::Changed(open);
            return Turn::None;
        }
        self.recover(&open.change, good)
    }

    /// What it has had before it fell short, or has had ever since; [`None`] where it does not.
    pub(crate) fn usual(&self) -> Option<Vec<f64>> {
        let State::Changed(open) = &self.state else { return None };
        if open.against == Yardstick::History {
            return None;
        }
        let before = self.samples.partition_point(|sample| sample.at_s < open.change.at_s);
        let usual = if before == 0 { &self.samples[..] } else { &self.samples[..before] };
        Some(usual.iter().map(|sample| self.settings.scale.level(sample.value)).collect())
    }

    /// Opens again what was open before a start: the results since then are no part of the baseline.
    pub(crate) fn reopen(&mut self, known: OpenIncident) {
        let OpenIncident { since_s, shift, against } = known;
        let scale = self.settings.scale;
        let at = self.samples.partition_point(|sample| sample.at_s < since_s);
        let levels: Vec<f64> = self.samples.iter().map(|sample| scale.level(sample.value)).collect();
        let (history, bad) = levels.split_at(at);
        if bad.is_empty() {
            return;
        }
        let worse = median(bad);
        let expected = self.expectation.as_deref().filter(|_| against == Yardstick::Expectation);
        let (against, frozen) = match expected {
            Some(compared) => (Yardstick::Expectation, vec![scale.level(compared.expectation.value)]),
            // Nothing is expected any more: what it was worse than is the level that it had to reach.
            None if against == Yardstick::Expectation || history.is_empty() => {
                (Yardstick::History, vec![worse - shift])
            }
            None => (Yardstick::History, history.to_vec()),
        };
        let levels = Levels { before: scale.value(median(&frozen)), after: scale.value(worse) };
        let change = Change::step(Placed { at, at_s: since_s }, levels);
        self.state = State::Changed(Box::new(OpenChange { change, against, noticed_s: since_s, frozen }));
    }
}
