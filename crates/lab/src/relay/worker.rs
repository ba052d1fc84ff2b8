//! A thread of the relay: its directions, driven in real time.

use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use linux::readiness::{Patience, Readiness, wake_exactly};
use linux::{affinity, clock};
use units::MonoTime;

use super::direction::{Direction, Shared, Taken, Turn};
use super::log::Events;
use super::report::{DirectionReport, ThreadReport};

/// What a thread can be asked for.
#[derive(Debug)]
pub(super) enum Ask {
    /// What it did.
    Report(Sender<Part>),
    /// What it has logged.
    Events(Sender<Events>),
    /// To have an element come, go or go on with other settings; the answer is that it has.
    Turn(Turn, Sender<()>),
    /// To end.
    Stop,
}

/// What one thread did.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) thread: ThreadReport,
    /// With the wire and the direction of each.
    pub(super) directions: Vec<((usize, usize), DirectionReport)>,
}

/// A thread's directions and what it needs for them.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) directions: Vec<Direction>,
    /// Frames that the device of each direction had dropped before the relay began.
    pub(super) unread_before: Vec<u64>,
    pub(super) shared: Shared,
    pub(super) readiness: Readiness,
    pub(super) asks: Receiver<Ask>,
    pub(super) processor: Option<usize>,
    /// How long before a deadline it stops sleeping.
    pub(super) spin: Duration,
    pub(super) usage: Usage,
}

/// How a thread's time is spent.
#[derive(Debug)]
pub(super) struct Usage {
    busy: Duration,
    busiest: f64,
    /// The second that is being watched, and how much of it was work.
    second: MonoTime,
    in_second: Duration,
}

impl Usage {
    pub(super) fn new(now: MonoTime) -> Self {
        Self { busy: Duration::ZERO, busiest: 0.0, second: now, in_second: Duration::ZERO }
    }

    fn add(&mut self, from: MonoTime, until: MonoTime) {
        self.busy += until.since(from);
        self.in_second += until.since(from);
        self.roll(until);
    }

    fn roll(&mut self, now: MonoTime) {
        let watched = now.since(self.second);
        if watched >= SECOND {
            self.busiest = self.busiest.max(self.in_second.as_secs_f64() / watched.as_secs_f64());
            (self.second, self.in_second) = (now, Duration::ZERO);
        }
    }
}

impl Worker {
    /// Runs until it is asked to stop, or nobody is left who could ask.
    pub(super) fn run(mut self) -> (Part, Events) {
        if let Some(processor) = self.processor {
            // Where it is refused, the kernel chooses, which costs precision only.
            let _ = affinity::pin_current_thread(&[processor]);
        }
        // Only root may. Without it a busy machine makes the relay late, which is measured.
        let _ = affinity::prefer_current_thread();
        let outcome = wake_exactly().and_then(|()| self.drive());
        let mut part = self.part();
        part.thread.failed = outcome.err().map(|error| error.to_string());
        (part, self.shared.log.take())
    }

    fn drive(&mut self) -> io::Result<()> {
        loop {
            let begun = clock::now();
            let due = self.due();
            let now = self.shared.clock.resume(due);
            let mut worked = self.advance(now);
            worked |= self.take();
            self.directions.iter_mut().for_each(|direction| direction.flush(&mut self.shared));
            if worked {
                self.usage.add(begun, clock::now());
            }
            if self.answer_asks() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// Does what is due, in all directions. Returns whether anything was.
    fn advance(&mut self, now: MonoTime) -> bool {
        let mut worked = false;
        for direction in &mut self.directions {
            if direction.due().is_some_and(|due| due <= now) {
                direction.advance(now, &mut self.shared);
                worked = true;
            }
        }
        worked
    }

    /// Takes frames from devices that have some, not so many that what is due waits for long.
    fn take(&mut self) -> bool {
        let mut worked = false;
        for direction in &mut self.directions {
            let mut bytes = 0;
            while direction.readable && bytes < MOST_BYTES {
                match direction.take(&mut self.shared) {
                    Taken::Frame(len) => bytes += len + COST_OF_FRAME,
                    Taken::Nothing => break,
                }
                worked = true;
            }
        }
        worked
    }

    /// When the first of its directions does something by itself.
    fn due(&self) -> Option<MonoTime> {
        self.directions.iter().filter_map(Direction::due).min()
    }

    fn wait(&mut self) -> io::Result<()> {
        let patience = if self.directions.iter().any(|direction| direction.readable) {
            Patience::None
        } else {
            self.shared.clock.now();
            match self.due().map(|due| self.shared.clock.until(due)) {
                None => Patience::Endless,
                Some(left) if left <= self.spin => Patience::None,
                Some(left) => Patience::For(left - self.spin),
            }
        };
        let directions = &mut self.directions;
        self.readiness.wait(patience, |number| {
            if let Some(direction) = directions.get_mut(number as usize) {
                direction.readable = true;
            }
        })
    }

    /// Answers what was asked. Returns whether it is to stop.
    fn answer_asks(&mut self) -> bool {
        loop {
            // Who has asked and does not wait for the answer needs none.
            match self.asks.try_recv() {
                Ok(Ask::Report(answer)) => drop(answer.send(self.part())),
                Ok(Ask::Events(answer)) => drop(answer.send(self.shared.log.take())),
                Ok(Ask::Turn(turn, answer)) => {
                    let due = self.due();
                    let now = self.shared.clock.resume(due);
                    let mut all = self.directions.iter_mut();
                    if let Some(direction) = all.find(|direction| direction.name() == turn.direction) {
                        direction.turn(now, &turn, &mut self.shared);
                        let _ = answer.send(());
                    }
                }
                Ok(Ask::Stop) | Err(TryRecvError::Disconnected) => return true,
                Err(TryRecvError::Empty) => return false,
            }
        }
    }

    fn part(&mut self) -> Part {
        self.usage.roll(clock::now());
        let thread = ThreadReport {
            processor: clock::thread_cpu_time(),
            busy: self.usage.busy,
            busiest: self.usage.busiest,
            failed: None,
        };
        let reports = self.directions.iter().zip(&self.unread_before);
        let store = &self.shared.store;
        let directions = reports.map(|(direction, before)| (direction.name(), direction.report(*before, store)));
        let directions = directions.collect();
        Part { thread, directions }
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// How much is read from one device before what is due is looked at again. The kernel copies this in about 50 µs.
const MOST_BYTES: usize = 256 << 10;
/// What a frame costs besides its bytes, as bytes.
const COST_OF_FRAME: usize = 8 << 10;
