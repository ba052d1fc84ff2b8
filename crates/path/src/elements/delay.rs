//! The way: how long it is, and how uneven.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use crate::element::Element;
use crate::outlet::Outlet;
use crate::random::{Dice, Seed};
use crate::reason::Delay;
use crate::spec::{ElementSpec, LONGEST, SpecError};
use crate::train::Train;

/// A delay as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DelaySpec {
    /// How long every packet takes.
    #[serde(deserialize_with = "units::duration::text::read")]
    pub time: Duration,
    /// By how much longer it may take, evenly drawn.
    #[serde(default, deserialize_with = "units::duration::text::read")]
    pub jitter: Duration,
    /// Whether uneven packets may overtake each other.
    #[serde(default)]
    pub order: Order,
}

/// Whether packets of uneven delay stay behind each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Each waits for the one before it.
    #[default]
    Kept,
    /// They overtake each other.
    Free,
}

impl DelaySpec {
    /// # Errors
    /// More than ten seconds.
    pub fn check(&self) -> Result<(), SpecError> {
        for (key, time) in [("time", self.time), ("jitter", self.jitter)] {
            if time > LONGEST {
                return Err(SpecError::TooLong { element: "delay", key, longest: LONGEST });
            }
        }
        Ok(())
    }
}

/// See [`DelaySpec`].
#[derive(Debug)]
pub(crate) struct DelayLine {
    spec: DelaySpec,
    dice: Dice,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// Number of the next train, by which those that arrive at once are told apart.
    number: u64,
    last_arrival: MonoTime,
}

#[derive(Debug)]
struct UnderWay {
    arrives: MonoTime,
    number: u64,
    train: Train,
}

impl DelayLine {
    pub(crate) fn new(spec: &DelaySpec, seed: Seed, start: MonoTime) -> Self {
        let under_way = BinaryHeap::with_capacity(1_024);
        Self { spec: spec.clone(), dice: Dice::new(seed), under_way, number: 0, last_arrival: start }
    }

    fn send(&mut self, train: Train, now: MonoTime) {
        let jitter = u64::try_from(self.spec.jitter.as_nanos()).unwrap_or(u64::MAX);
        let extra = if jitter == 0 { 0 } else { self.dice.below(jitter.saturating_add(1)) };
        let mut arrives = now + self.spec.time + Duration::from_nanos(extra);
        if self.spec.order == Order::Kept {
            arrives = arrives.max(self.last_arrival);
            self.last_arrival = arrives;
        }
        self.under_way.push(Reverse(UnderWay { arrives, number: self.number, train }));
        self.number += 1;
    }
}

impl Element for DelayLine {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        if self.spec.jitter.is_zero() && self.spec.time.is_zero() {
            out.pass(train);
        } else if self.spec.jitter.is_zero() {
            self.send(train, out.now());
        } else {
            train.packets().for_each(|packet| self.send(packet, out.now()));
        }
    }

    fn due(&self) -> Option<MonoTime> {
        self.under_way.peek().map(|Reverse(first)| first.arrives)
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        while self.due().is_some_and(|due| due <= out.now()) {
            let Some(Reverse(UnderWay { train, .. })) = self.under_way.pop() else { return };
            let took = out.now().since(train.came);
            out.delayed(&train, Delay::Propagation, took.min(self.spec.time));
            if took > self.spec.time {
                out.delayed(&train, Delay::Jitter, took - self.spec.time);
            }
            out.pass(train);
        }
    }

    /// What is under way arrives as it would have: a new route does not change the old one.
    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Delay(spec) = spec {
            self.spec = spec.clone();
            if self.under_way.is_empty() {
                self.last_arrival = MonoTime::from_nanos(0);
            }
        }
    }
}

impl PartialEq for UnderWay {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for UnderWay {}

impl PartialOrd for UnderWay {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UnderWay {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrives, self.number).cmp(&(other.arrives, other.number))
    }
}
