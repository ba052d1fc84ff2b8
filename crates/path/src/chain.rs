//! One direction of a path: elements one behind the other.

use std::collections::VecDeque;
use std::time::Duration;

use units::MonoTime;

use crate::element::Element;
use crate::grain::Grain;
use crate::outlet::{Outlet, Watcher};
use crate::random::Seed;
use crate::spec::{ElementSpec, SpecError};
use crate::tally::Tally;
use crate::train::{FrameId, PacketKind, Train};

/// Where in a chain something happened: the number of its element, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementIndex(u16);

impl ElementIndex {
    /// From 0, in the order in which packets pass the elements.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// From when until when. Both count from the start of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first instant.
    pub from: MonoTime,
    /// The instant after the last; never where it is [`None`].
    pub until: Option<MonoTime>,
}

/// An element of a chain and when it is there.
#[derive(Debug, Clone)]
pub struct PathElement {
    /// Kind of element and its settings at the start.
    pub spec: ElementSpec,
    /// When packets go through it, and not past it; always where it is [`None`]. What it holds when its time is over
    /// still comes out.
    pub during: Option<Span>,
    /// When it goes on with which other settings, of the same kind.
    pub changes: Vec<Change>,
}

/// Other settings of an element, from an instant on.
#[derive(Debug, Clone)]
pub struct Change {
    /// When, counted from the start of the chain.
    pub at: MonoTime,
    /// Settings from then on, of the same kind of element.
    pub spec: ElementSpec,
}

/// Whether packets go through an element, or past it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Through it.
    There,
    /// Past it.
    Away,
}

impl PathElement {
    /// How long it holds everything alike, always, if it does nothing else.
    fn even(&self) -> Option<Duration> {
        match &self.spec {
            ElementSpec::Delay(delay) if self.during.is_none() && self.changes.is_empty() => delay.even(),
            _ => None,
        }
    }
}

impl From<ElementSpec> for PathElement {
    fn from(spec: ElementSpec) -> Self {
        Self { spec, during: None, changes: Vec::new() }
    }
}

/// Elements one behind the other, with their clock.
#[derive(Debug)]
pub struct Chain {
    slots: Vec<Slot>,
    /// When each element is due, and at the end when the timetable is; [`NEVER`] where it is not.
    dues: Vec<MonoTime>,
    /// The first of those, which is asked for more often than it changes.
    first: MonoTime,
    /// Whether trains may be delivered before they come to the end.
    ends_ahead: bool,
    /// What happens to elements at which instant, the earliest last.
    timetable: Vec<Event>,
    /// Trains on their way from one element to the next, with the number of that and the instant at which they come to it.
    moving: VecDeque<(usize, MonoTime, Train)>,
}

#[derive(Debug)]
struct Slot {
    element: Box<dyn Element>,
    present: bool,
    /// Whether the next that is there takes trains before they come.
    is_ahead: bool,
    tally: Tally,
}

#[derive(Debug)]
struct Event {
    at: MonoTime,
    slot: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Comes,
    Goes,
    Becomes(ElementSpec),
}

impl Chain {
    /// A chain whose clock starts at `start`, and that draws its chances from `seed`.
    ///
    /// # Errors
    /// A setting that no element can have, or a change to another kind of element.
    pub fn new(stages: &[PathElement], seed: Seed, start: MonoTime) -> Result<Self, SpecError> {
        assert!(u16::try_from(stages.len()).is_ok(), "a chain has fewer than 2^16 elements");
        let from_start = |at: MonoTime| start + at.since(MonoTime::from_nanos(0));
        let mut slots = Vec::with_capacity(stages.len());
        let mut timetable = Vec::new();
        for (slot, stage) in stages.iter().enumerate() {
            let seed = seed.part(slot as u64);
            slots.push(Slot {
                element: stage.spec.build(seed, start)?,
                present: stage.during.is_none(),
                is_ahead: false,
                tally: Tally::default(),
            });
            if let Some(during) = stage.during {
                timetable.push(Event { at: from_start(during.from), slot, what: What::Comes });
                timetable.extend(during.until.map(|until| Event { at: from_start(until), slot, what: What::Goes }));
            }
            for change in &stage.changes {
                change.spec.check()?;
                if change.spec.kind() != stage.spec.kind() {
                    return Err(SpecError::OtherKind { was: stage.spec.kind(), becomes: change.spec.kind() });
                }
                let what = What::Becomes(change.spec.clone());
                timetable.push(Event { at: from_start(change.at), slot, what });
            }
        }
        timetable.sort_by_key(|event| event.at);
        timetable.reverse();
        let dues = vec![NEVER; slots.len() + 1];
        let moving = VecDeque::with_capacity(FIRST_ROOM);
        let mut chain = Self { slots, dues, first: NEVER, ends_ahead: false, timetable, moving };
        chain.note_timetable();
        chain.note_neighbours();
        Ok(chain)
    }

    /// The chain without the delays at its end that hold everything alike, and how long those take. Who stands at the end
    /// adds that, and is told of trains before they come: to hold them there is cheaper than to have elements do it.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn cut(stages: &[PathElement], seed: Seed, start: MonoTime) -> Result<(Self, Duration), SpecError> {
        stages.iter().try_for_each(|stage| stage.spec.check())?;
        let (mut kept, mut time) = (stages, Duration::ZERO);
        while let Some((last, before)) = kept.split_last()
            && let Some(even) = last.even()
        {
            (kept, time) = (before, time + even);
        }
        let mut chain = Self::new(kept, seed, start)?;
        chain.ends_ahead = !time.is_zero();
        chain.note_neighbours();
        Ok((chain, time))
    }

    /// Takes a train at `now`, which is not before any earlier call. What was due before is done first.
    pub fn offer(&mut self, now: MonoTime, train: Train, watcher: &mut dyn Watcher) {
        if self.first <= now {
            self.advance(now, watcher);
        }
        self.enter(0, train, now, watcher);
        self.settle(watcher);
    }

    /// Has an element come or go at `now`, besides what its timetable says. What it holds when it goes still comes out.
    pub fn put(&mut self, now: MonoTime, place: usize, presence: Presence, watcher: &mut dyn Watcher) {
        self.advance(now, watcher);
        if let Some(slot) = self.slots.get_mut(place) {
            slot.present = presence == Presence::There;
        }
        self.note_neighbours();
    }

    /// Has an element go on with other settings of the same kind from `now` on.
    ///
    /// # Errors
    /// Settings that no element can have.
    pub fn set(
        &mut self,
        now: MonoTime,
        place: usize,
        spec: &ElementSpec,
        watcher: &mut dyn Watcher,
    ) -> Result<(), SpecError> {
        spec.check()?;
        self.advance(now, watcher);
        if place < self.slots.len() {
            self.visit(place, now, watcher, |element, out| element.adopt(spec, out));
            self.note_neighbours();
            self.settle(watcher);
        }
        Ok(())
    }

    /// Lets queues let packets out in larger groups: cheaper to drive, and exact to the grain only.
    pub fn coarsen(&mut self, grain: Grain) {
        self.slots.iter_mut().for_each(|slot| slot.element.coarsen(grain));
    }

    /// When something happens next by itself.
    #[must_use]
    #[inline]
    pub fn due(&self) -> Option<MonoTime> {
        (self.first != NEVER).then_some(self.first)
    }

    /// Does what is due by `now`, each at its own instant, however late this call is.
    pub fn advance(&mut self, now: MonoTime, watcher: &mut dyn Watcher) {
        while self.first <= now && self.first != NEVER {
            let at = self.first;
            if self.dues[self.slots.len()] <= at {
                self.apply_timetable(at, watcher);
            }
            // The last first, so that it has room for what the one before it lets out.
            for place in (0..self.slots.len()).rev() {
                if self.dues[place] <= at {
                    self.visit(place, at, watcher, |element, out| element.advance(out));
                }
            }
            self.settle(watcher);
        }
    }

    /// Whether it has no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What each element did.
    pub fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.slots.iter().map(|slot| &slot.tally)
    }

    fn apply_timetable(&mut self, now: MonoTime, watcher: &mut dyn Watcher) {
        while let Some(event) = self.timetable.pop_if(|event| event.at <= now) {
            match event.what {
                What::Comes => self.slots[event.slot].present = true,
                What::Goes => self.slots[event.slot].present = false,
                What::Becomes(spec) => self.visit(event.slot, now, watcher, |element, out| element.adopt(&spec, out)),
            }
        }
        self.note_timetable();
        self.note_neighbours();
    }

    /// Keeps which elements may let trains through before their time.
    ///
    /// Model: while an element is taken away or set anew, the train that is being sent goes on as it would have.
    fn note_neighbours(&mut self) {
        let mut next = self.ends_ahead;
        for slot in self.slots.iter_mut().rev() {
            slot.is_ahead = next;
            if slot.present {
                next = slot.element.takes_ahead();
            }
        }
    }

    fn note_timetable(&mut self) {
        self.note_due(self.slots.len(), self.timetable.last().map_or(NEVER, |event| event.at));
    }

    #[inline]
    fn note_due(&mut self, place: usize, due: MonoTime) {
        let before = std::mem::replace(&mut self.dues[place], due);
        if due <= self.first {
            self.first = due;
        } else if before == self.first {
            self.first = self.dues.iter().copied().min().unwrap_or(NEVER);
        }
    }

    /// Moves trains on until each is held, gone or at the end.
    #[inline]
    fn settle(&mut self, watcher: &mut dyn Watcher) {
        while let Some((place, at, train)) = self.moving.pop_front() {
            self.enter(place, train, at, watcher);
        }
    }

    /// Brings a train to an element, or to the next that is there, or to the end. It comes at `now`, or will where the
    /// element takes trains ahead.
    #[inline]
    fn enter(&mut self, mut place: usize, train: Train, now: MonoTime, watcher: &mut dyn Watcher) {
        while self.slots.get(place).is_some_and(|slot| !slot.present) {
            place += 1;
        }
        let Some(slot) = self.slots.get_mut(place) else { return watcher.delivered(now, train) };
        assert!(train.frame != FrameId::PHANTOM, "phantoms stay in the element that made them");
        slot.tally.offered(&train);
        self.visit(place, now, watcher, |element, out| element.offer(train, out));
    }

    #[inline]
    fn visit(
        &mut self,
        place: usize,
        now: MonoTime,
        watcher: &mut dyn Watcher,
        call: impl FnOnce(&mut dyn Element, &mut Outlet<'_>),
    ) {
        let is_last = place + 1 == self.slots.len();
        let slot = &mut self.slots[place];
        let mut out = Outlet {
            now,
            is_last,
            is_ahead: slot.is_ahead,
            place: ElementIndex(u16::try_from(place).unwrap_or(u16::MAX)),
            next: &mut self.moving,
            watcher,
            tally: &mut slot.tally,
        };
        call(slot.element.as_mut(), &mut out);
        let due = slot.element.due().unwrap_or(NEVER);
        self.note_due(place, due);
    }
}

/// An instant that does not come.
const NEVER: MonoTime = MonoTime::from_nanos(u64::MAX);

/// Trains between elements for which there is room from the start.
const FIRST_ROOM: usize = 64;

/// Whether elements that lose or change packets at random let these alone, so that a link works at all.
#[must_use]
pub(crate) fn is_exempt(train: &Train) -> bool {
    train.kind == PacketKind::Link
}
