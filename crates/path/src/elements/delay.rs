//! The way: how long it is, and how uneven.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use crate::element::Element;
use crate::grain::Grain;
use crate::outlet::Outlet;
use crate::random::{Seed, SeededRng};
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
    /// The time for which it holds all alike, if it does.
    pub(crate) fn even(&self) -> Option<Duration> {
        (self.jitter.is_zero() && !self.time.is_zero()).then_some(self.time)
    }

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
    rng: SeededRng,
    /// Trains that arrive in the order in which they came: all, unless they may overtake each other.
    in_order: VecDeque<UnderWay>,
    /// Trains that arrive in whatever order.
    free: BinaryHeap<Reverse<UnderWay>>,
    /// Number of the next train, by which those that arrive at once are told apart.
    number: u64,
    /// Whether packets of a train that keep their order share one draw.
    is_coarse: bool,
}

#[derive(Debug)]
struct UnderWay {
    came: MonoTime,
    arrives: MonoTime,
    number: u64,
    train: Train,
}

impl DelayLine {
    pub(crate) fn new(spec: &DelaySpec, seed: Seed) -> Self {
        Self {
            spec: spec.clone(),
            rng: SeededRng::new(seed),
            in_order: VecDeque::with_capacity(FIRST_ROOM),
            free: BinaryHeap::with_capacity(if spec.order == Order::Free { FIRST_ROOM } else { 0 }),
            number: 0,
            is_coarse: false,
        }
    }

    fn send(&mut self, train: Train, came: MonoTime) {
        let mut arrives = came + self.spec.time;
        if !self.spec.jitter.is_zero() {
            let jitter = units::duration::nanos(self.spec.jitter);
            arrives = arrives + Duration::from_nanos(self.rng.below(jitter.saturating_add(1)));
        }
        let number = self.number;
        self.number += 1;
        match self.spec.order {
            Order::Kept => {
                let last = self.in_order.back().map_or(arrives, |last| last.arrives);
                self.in_order.push_back(UnderWay { came, arrives: arrives.max(last), number, train });
            }
            Order::Free => self.free.push(Reverse(UnderWay { came, arrives, number, train })),
        }
    }

    fn first_free(&self) -> Option<(MonoTime, u64)> {
        self.free.peek().map(|Reverse(first)| (first.arrives, first.number))
    }

    /// What arrives by now, the earliest first.
    fn arrived(&mut self, now: MonoTime) -> Option<UnderWay> {
        let free = self.first_free();
        let comes_first =
            |first: &mut UnderWay| first.arrives <= now && free.is_none_or(|free| (first.arrives, first.number) < free);
        if let Some(first) = self.in_order.pop_front_if(comes_first) {
            return Some(first);
        }
        free.filter(|(arrives, _)| *arrives <= now)?;
        self.free.pop().map(|Reverse(first)| first)
    }
}

impl Element for DelayLine {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        let holds = !self.in_order.is_empty() && self.spec.order == Order::Kept;
        if self.spec.jitter.is_zero() && self.spec.time.is_zero() && !holds {
            out.pass(train);
        } else if self.spec.jitter.is_zero() || self.is_coarse && self.spec.order == Order::Kept {
            self.send(train, out.now());
        } else {
            train.packets().for_each(|packet| self.send(packet, out.now()));
        }
    }

    fn takes_ahead(&self) -> bool {
        self.spec.even().is_some()
    }

    fn due(&self) -> Option<MonoTime> {
        let ordered = self.in_order.front().map(|first| first.arrives);
        let free = self.first_free().map(|(free, _)| free);
        ordered.into_iter().chain(free).min()
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        let now = out.now();
        while let Some(UnderWay { came, train, .. }) = self.arrived(now) {
            let even = now.min(came + self.spec.time);
            out.delayed(&train, Delay::Propagation, came, even);
            if even < now {
                out.delayed(&train, Delay::Jitter, even, now);
            }
            out.pass(train);
        }
    }

    /// Model: packets of one train that come out of a queue together are late together.
    fn coarsen(&mut self, _grain: Grain) {
        self.is_coarse = true;
    }

    /// What is under way arrives as it would have: a new route does not change the old one. Where the order is kept,
    /// nothing that takes a shorter one arrives before it.
    fn adopt(&mut self, spec: &ElementSpec, _out: &mut Outlet<'_>) {
        if let ElementSpec::Delay(spec) = spec {
            self.spec = spec.clone();
        }
    }
}

/// Trains for which there is room from the start.
const FIRST_ROOM: usize = 1_024;

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
