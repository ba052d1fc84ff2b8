//! A series held against what it should have, and against what it was worse than before a start.

use crate::analysis::{Change, Levels, Placed};
use crate::expectation::{Expectation, OpenIncident, SEVERAL, Yardstick};
use crate::series::median;
use crate::watch::{OpenChange, State, Turn, Watch, Worse};

impl Watch {
    /// Says what the series should have.
    pub(crate) fn expect(&mut self, expectation: Expectation) {
        self.expectation = Some(Box::new(expectation));
    }

    /// How many of the last results have fallen short one after the other; none while a change is open, which says so already.
    pub(crate) fn short(&self) -> usize {
        if matches!(self.state, State::Changed(_)) {
            return 0;
        }
        self.samples.iter().rev().take_while(|sample| self.falls_short(sample.value)).count()
    }

    /// Opens a change since the first of the last results that fell short.
    pub(crate) fn open_short(&mut self) -> Turn {
        let short = self.short();
        let Some(Expectation { value, .. }) = self.expectation.as_deref().copied().filter(|_| short > 0) else {
            return Turn::None;
        };
        let at = self.samples.len() - short;
        let levels = self.samples[at..].iter().map(|sample| self.settings.scale.level(sample.value));
        let after = self.settings.scale.value(median(&levels.collect::<Vec<f64>>()));
        let at_s = self.samples[at].at_s;
        let change = Change::step(Placed { at, at_s }, Levels { before: value, after });
        let frozen = vec![self.settings.scale.level(value)];
        self.open(OpenChange { change, against: Yardstick::Expectation, noticed_s: at_s, frozen })
    }

    /// The change is over once the last results are what was expected.
    pub(crate) fn while_short(&mut self, open: Box<OpenChange>) -> Turn {
        let good = self.samples.iter().rev().take_while(|sample| !self.falls_short(sample.value)).count();
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
            Some(expectation) => (Yardstick::Expectation, vec![scale.level(expectation.value)]),
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

    fn falls_short(&self, value: f64) -> bool {
        self.expectation.as_deref().is_some_and(|Expectation { limit, .. }| match self.settings.worse {
            Worse::Lower => value < *limit,
            Worse::Higher => value > *limit,
        })
    }
}
