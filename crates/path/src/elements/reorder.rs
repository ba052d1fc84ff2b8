//! Packets that are held for a while, so that others overtake them: two ways of unequal length, or a switch that sprays.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use crate::chain::is_exempt;
use crate::element::Element;
use crate::outlet::Outlet;
use crate::picker::{Pick, Picker, Rule};
use crate::random::Seed;
use crate::reason::Delay;
use crate::spec::{ElementSpec, LONGEST, SpecError, check_not_zero, check_probability};
use crate::train::Train;

/// Reordering as it is written in files. Either `probability` or `every-nth` says which packets are held.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReorderSpec {
    /// Probability with which a packet is held.
    #[serde(default)]
    pub probability: Option<f64>,
    /// Every n-th is held.
    #[serde(default)]
    pub every_nth: Option<NonZeroU64>,
    /// For how long. Those that come in this time overtake it.
    #[serde(deserialize_with = "units::duration::text::read")]
    pub time: Duration,
}

impl ReorderSpec {
    /// # Errors
    /// Both rules or none, a probability that is none, or a time that is none or too long.
    pub fn check(&self) -> Result<(), SpecError> {
        match self.rule() {
            Some(Rule::Probability(probability)) => check_probability("reorder", "probability", probability)?,
            Some(Rule::EveryNth(_)) => {}
            None => return Err(SpecError::OneOf { element: "reorder", keys: "`probability` and `every-nth`" }),
        }
        check_not_zero("reorder", "time", self.time)?;
        if self.time > LONGEST {
            return Err(SpecError::TooLong { element: "reorder", key: "time", longest: LONGEST });
        }
        Ok(())
    }

    fn rule(&self) -> Option<Rule> {
        match (self.probability, self.every_nth) {
            (Some(probability), None) => Some(Rule::Probability(probability)),
            (None, Some(n)) => Some(Rule::EveryNth(n)),
            _ => None,
        }
    }
}

/// See [`ReorderSpec`].
#[derive(Debug)]
pub(crate) struct Reorderer {
    picker: Picker,
    time: Duration,
    /// Packets that are held, with the time at which each goes on, in that order.
    held: VecDeque<(MonoTime, Train)>,
}

impl Reorderer {
    pub(crate) fn new(spec: &ReorderSpec, seed: Seed) -> Self {
        let picker = Picker::new(spec.rule().unwrap_or(Rule::Probability(0.0)), seed);
        Self { picker, time: spec.time, held: VecDeque::with_capacity(1_024) }
    }
}

impl Element for Reorderer {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if is_exempt(&train) {
            return out.pass(train);
        }
        let Self { picker, time, held } = self;
        picker.sort(train, |pick, part| match pick {
            Pick::Spared => out.pass(part),
            Pick::Picked => {
                // Not before one that was held longer, when the time has become shorter.
                let until = held.back().map_or(out.now(), |(last, _)| *last).max(out.now() + *time);
                held.push_back((until, Train { came: out.now(), ..part }));
            }
        });
    }

    fn due(&self) -> Option<MonoTime> {
        self.held.front().map(|(until, _)| *until)
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        while let Some((_, train)) = self.held.pop_front_if(|(until, _)| *until <= out.now()) {
            out.delayed(&train, Delay::Reordering, train.came, out.now());
            out.pass(train);
        }
    }

    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Reorder(spec) = spec
            && let Some(rule) = spec.rule()
        {
            self.picker.adopt(rule);
            self.time = spec.time;
        }
    }
}
