//! Virtual time, and a crew that lives in it: all that happens at the same time is played one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use measure::stop::Stop;
use model::played::Finding;
use units::{MonoTime, WallTime};

use super::super::Report;
use super::super::crew::Crew;
use crate::clock::Clock;

/// A clock that stands still until somebody waits.
#[derive(Debug, Clone, Default)]
pub(super) struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    pub(super) fn set(&self, now: MonoTime) {
        self.0.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> MonoTime {
        MonoTime::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn wall_now(&self) -> WallTime {
        /// The first of January 2026.
        const BEGINNING: u64 = 1_767_225_600_000_000_000;
        WallTime::from_unix_nanos(BEGINNING + self.now().as_nanos())
    }
}

/// Plays each test when it begins, and tells of it when the clock has come to its end.
pub(super) struct Players<'l> {
    clock: VirtualClock,
    /// When a person stops the round.
    stop: Option<(MonoTime, &'l Stop)>,
    playing: BinaryHeap<Reverse<(MonoTime, usize)>>,
    reports: Vec<Option<Report>>,
}

impl<'l> Players<'l> {
    pub(super) fn new(clock: VirtualClock, stop: Option<(MonoTime, &'l Stop)>) -> Self {
        Self { clock, stop, playing: BinaryHeap::new(), reports: Vec::new() }
    }

    /// What a person breaks off ends soon, without a result.
    fn heed(&mut self) {
        let now = self.clock.now();
        let Some((at, stop)) = self.stop.filter(|(at, _)| now >= *at) else { return };
        if stop.is_stopped() {
            return;
        }
        stop.stop();
        let running = std::mem::take(&mut self.playing);
        self.playing =
            running.into_iter().map(|Reverse((end, number))| Reverse((end.min(at + BROKEN_OFF), number))).collect();
        for report in self.reports.iter_mut().flatten() {
            report.tested.finding = Finding::Nothing { detail: "was stopped".to_owned() };
            report.tested.samples = None;
            report.trouble = None;
        }
    }
}

impl<'a> Crew<'a> for Players<'_> {
    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let begun = self.clock.now();
        let ended = (0..count).map(|number| {
            self.clock.set(begun);
            work(number);
            self.clock.now()
        });
        let last = ended.max().unwrap_or(begun);
        self.clock.set(last);
    }

    fn begin(&mut self, _: usize, test: Box<dyn FnOnce() -> Report + Send + 'a>) -> bool {
        let begun = self.clock.now();
        self.reports.push(Some(test()));
        self.playing.push(Reverse((self.clock.now(), self.reports.len() - 1)));
        self.clock.set(begun);
        true
    }

    fn hear(&mut self, at_most: Duration) -> Option<Report> {
        self.heed();
        let until = self.clock.now() + at_most;
        match self.playing.peek() {
            Some(Reverse((end, _))) if *end <= until => {
                let Reverse((end, number)) = self.playing.pop()?;
                self.clock.set(end.max(self.clock.now()));
                self.reports[number].take()
            }
            _ => {
                self.clock.set(until);
                None
            }
        }
    }
}

/// How long a program takes that is asked to end.
const BROKEN_OFF: Duration = Duration::from_secs(1);
