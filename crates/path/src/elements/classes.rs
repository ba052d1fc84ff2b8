//! An interface with a queue for each class of service: one that is always served first, others that share the rest.
//!
//! Deficit round robin: Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM Transactions
//! on Networking 4(3), 1996.

use std::num::NonZeroU32;

use serde::Deserialize;
use units::{DataRate, MonoTime};

use super::cross::{Cross, CrossSpec};
use crate::buffer::{Batch, Buffer, BufferSpec, Meanwhile, Role};
use crate::element::Element;
use crate::outlet::Outlet;
use crate::random::Seed;
use crate::reason::{Delay, Drop};
use crate::spec::{ElementSpec, SpecError, check_dscp, check_not_zero};
use crate::train::Train;
use crate::transmitter::{Pace, Queueing, Transmitter};

/// An interface with classes as it is written in files. What no other class takes is best effort.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassesSpec {
    /// How fast it sends.
    #[serde(deserialize_with = "units::text::read")]
    pub rate: DataRate,
    /// What is urgent: EF, VOICE-ADMIT, CS5, CS6 and CS7 (RFC 4594), unless it says otherwise.
    #[serde(default)]
    pub expedited: Option<ClassSpec>,
    /// What no other class takes.
    #[serde(default)]
    pub best_effort: ClassSpec,
    /// What may wait: CS1 (RFC 3662) and LE (RFC 8622), unless it says otherwise.
    #[serde(default)]
    pub scavenger: Option<ClassSpec>,
    /// Other traffic, each to the class of its `dscp`.
    #[serde(default)]
    pub cross: Vec<CrossSpec>,
}

/// A class of service.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassSpec {
    /// Its queue; without one everything waits that comes too fast.
    #[serde(default)]
    pub queue: BufferSpec,
    /// Its part of what classes without a weight leave. Without one it is served before all with one, and those without
    /// in the order expedited, best effort, scavenger.
    #[serde(default)]
    pub weight: Option<NonZeroU32>,
    /// The classes of service in IP headers that belong to it; its usual ones where none is given.
    #[serde(default)]
    pub dscp: Vec<u8>,
}

/// The usual classes of service in IP headers of expedited, best effort and scavenger.
const USUAL: [&[u8]; CLASSES] = [&[46, 44, 40, 48, 56], &[], &[8, 1]];

const CLASSES: usize = 3;

/// What takes what no other class does.
const BEST_EFFORT: usize = 1;

impl ClassesSpec {
    /// # Errors
    /// A rate of zero, a queue or cross traffic that cannot be, or one class of service in two classes.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("classes", "rate", self.rate)?;
        let mut taken = [false; 64];
        for (place, class) in self.classes().into_iter().enumerate() {
            let Some(class) = class else { continue };
            class.queue.check()?;
            if class.weight.is_some_and(|weight| weight.get() > HEAVIEST) {
                return Err(SpecError::TooMany { element: "classes", key: "weight", most: u64::from(HEAVIEST) });
            }
            for &dscp in class.values(place) {
                check_dscp("classes", "dscp", dscp)?;
                if std::mem::replace(&mut taken[usize::from(dscp)], true) {
                    return Err(SpecError::TwoClasses { dscp });
                }
            }
        }
        self.cross.iter().try_for_each(CrossSpec::check)
    }

    fn classes(&self) -> [Option<&ClassSpec>; CLASSES] {
        [self.expedited.as_ref(), Some(&self.best_effort), self.scavenger.as_ref()]
    }

    /// The number of the class of each class of service.
    fn table(&self) -> [u8; 64] {
        let mut table = [1; 64];
        for (number, class) in (0..).zip(self.classes()) {
            for &dscp in class.map_or(&[][..], |class| class.values(usize::from(number))) {
                table[usize::from(dscp)] = number;
            }
        }
        table
    }
}

impl ClassSpec {
    fn values(&self, place: usize) -> &[u8] {
        if self.dscp.is_empty() { USUAL[place] } else { &self.dscp }
    }
}

/// See [`ClassesSpec`].
#[derive(Debug)]
pub(crate) struct Classes {
    transmitter: Transmitter<Scheduler>,
    seed: Seed,
    start: MonoTime,
}

/// Queues, and whose turn it is.
#[derive(Debug)]
struct Scheduler {
    table: [u8; 64],
    classes: [Class; CLASSES],
    /// Which of the weighted classes is being served.
    turn: usize,
}

#[derive(Debug)]
struct Class {
    buffer: Buffer,
    /// Bytes that it gets in each round; none where it is served strictly.
    quantum: Option<i64>,
    /// Bytes that it may still send in this round.
    deficit: i64,
    /// Whether it has got its quantum in this round.
    has_turn: bool,
}

impl Classes {
    pub(crate) fn new(spec: &ClassesSpec, seed: Seed, start: MonoTime) -> Self {
        let pace = Pace::Bits(spec.rate);
        let scheduler = Scheduler::new(spec, pace, seed.part(0));
        let transmitter = Transmitter::new(scheduler, cross(spec, seed, start), pace);
        Self { transmitter, seed, start }
    }
}

fn cross(spec: &ClassesSpec, seed: Seed, start: MonoTime) -> Vec<Cross> {
    let numbered = (1..).zip(&spec.cross);
    numbered.map(|(number, cross)| Cross::new(cross.clone(), spec.rate, seed.part(number), start)).collect()
}

impl Scheduler {
    fn new(spec: &ClassesSpec, pace: Pace, seed: Seed) -> Self {
        let role = Role { full: Drop::QueueFull, waiting: Delay::Queue, packet_time: pace.packet_time() };
        let none = ClassSpec::default();
        let class = |number: usize| {
            let spec = spec.classes()[number].unwrap_or(&none);
            let buffer = Buffer::new(&spec.queue, role, seed.part(number as u64));
            Class { buffer, quantum: quantum(spec), deficit: 0, has_turn: false }
        };
        Self { table: spec.table(), classes: [class(0), class(1), class(2)], turn: 0 }
    }

    fn adopt(&mut self, spec: &ClassesSpec, pace: Pace) {
        self.table = spec.table();
        for (class, spec) in self.classes.iter_mut().zip(spec.classes()) {
            if let Some(spec) = spec {
                class.buffer.adopt(&spec.queue, pace.packet_time());
                class.quantum = quantum(spec);
            }
        }
    }

    /// The next packets of a weighted class, in turn.
    fn take_weighted(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train> {
        while self.classes.iter().any(|class| class.quantum.is_some() && !class.buffer.is_empty()) {
            if let Some(train) = self.classes[self.turn].take_turn(now, batch, out) {
                return Some(train);
            }
            self.turn = (self.turn + 1) % CLASSES;
        }
        None
    }
}

fn quantum(spec: &ClassSpec) -> Option<i64> {
    spec.weight.map(|weight| i64::from(weight.get()) * QUANTUM)
}

/// Bytes of a weight of 1: a jumbo frame, so that each class sends in every round.
const QUANTUM: i64 = 9_216;

/// The heaviest class there is.
const HEAVIEST: u32 = 10_000;

impl Class {
    /// Packets of this class, as long as its quantum lasts; `None` ends its turn.
    fn take_turn(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train> {
        let quantum = self.quantum.filter(|_| !self.buffer.is_empty());
        if let Some(quantum) = quantum {
            self.deficit += if self.has_turn { 0 } else { quantum };
            self.has_turn = true;
            let first = self.buffer.front().map_or(0, |front| front.bytes_of_front(1).get());
            let bytes = u64::try_from(self.deficit).unwrap_or(0);
            if first <= bytes
                && let Some(train) = self.buffer.take(now, Batch { bytes: batch.bytes.min(bytes), ..batch }, out)
            {
                self.deficit -= i64::try_from(train.bytes().get()).unwrap_or(i64::MAX);
                return Some(train);
            }
        }
        // What an empty class did not use is gone.
        self.deficit = if self.buffer.is_empty() { 0 } else { self.deficit };
        self.has_turn = false;
        None
    }
}

impl Queueing for Scheduler {
    fn offer(&mut self, train: Train, meanwhile: Meanwhile, out: &mut Outlet<'_>) {
        let class = self.table.get(usize::from(train.dscp)).map_or(BEST_EFFORT, |class| usize::from(*class));
        self.classes[class].buffer.offer(train, meanwhile, out);
    }

    fn take(&mut self, now: MonoTime, batch: Batch, out: &mut Outlet<'_>) -> Option<Train> {
        let mut strict = self.classes.iter_mut().filter(|class| class.quantum.is_none());
        let urgent = strict.find_map(|class| class.buffer.take(now, batch, out));
        urgent.or_else(|| self.take_weighted(now, batch, out))
    }

    fn holds_real(&self) -> bool {
        self.classes.iter().any(|class| class.buffer.holds_real())
    }
}

impl Element for Classes {
    fn offer(&mut self, train: Train, out: &mut Outlet<'_>) {
        self.transmitter.offer(train, out);
    }

    fn due(&self) -> Option<MonoTime> {
        self.transmitter.due()
    }

    fn advance(&mut self, out: &mut Outlet<'_>) {
        self.transmitter.catch_up(out);
    }

    fn adopt(&mut self, spec: &ElementSpec, out: &mut Outlet<'_>) {
        let ElementSpec::Classes(spec) = spec else { return };
        let pace = Pace::Bits(spec.rate);
        self.transmitter.change_pace(pace, out);
        self.transmitter.queue_mut().adopt(spec, pace);
        let crosses = self.transmitter.cross_mut();
        if crosses.len() == spec.cross.len() {
            let pairs = crosses.iter_mut().zip(&spec.cross);
            pairs.for_each(|(cross, new)| cross.adopt(new, spec.rate, out.now()));
        } else {
            *crosses = cross(spec, self.seed, self.start);
            crosses.iter_mut().for_each(|cross| cross.skip_to(out.now()));
        }
    }
}
