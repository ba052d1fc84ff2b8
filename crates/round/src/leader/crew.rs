//! Who carries out what the leader decides: threads of this process, or a simulation.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};
use std::time::Duration;

use super::Report;
use crate::clock::{Clock, SystemClock};

/// Who carries out what the leader decides, by which clock.
pub(super) trait Crew<'a> {
    /// The clock by which the leader waits.
    fn clock(&self) -> &dyn Clock;

    /// Does something for each of so many, all at the same time, and waits for them.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync));

    /// Begins a test, of which is heard when it has ended. Returns whether it could be begun.
    fn begin(&mut self, number: usize, test: Box<dyn FnOnce() -> Report + Send + 'a>) -> bool;

    /// The next test that ends, waiting no longer than this.
    fn hear(&mut self, at_most: Duration) -> Option<Report>;
}

/// Threads of this process, one a test.
pub(super) struct Threads<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<Report>,
    reports: Receiver<Report>,
}

impl<'scope, 'env> Threads<'scope, 'env> {
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>) -> Self {
        let (sender, reports) = channel();
        Self { scope, sender, reports }
    }
}

impl<'a, 'scope, 'env> Crew<'a> for Threads<'scope, 'env>
where
    'a: 'scope,
{
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| (0..count).for_each(|number| drop(scope.spawn(move || work(number)))));
    }

    fn begin(&mut self, number: usize, test: Box<dyn FnOnce() -> Report + Send + 'a>) -> bool {
        let sender = self.sender.clone();
        // Whoever leads waits for every test.
        let work = move || drop(sender.send(test()));
        thread::Builder::new().name(format!("test {number}")).spawn_scoped(self.scope, work).is_ok()
    }

    fn hear(&mut self, at_most: Duration) -> Option<Report> {
        self.reports.recv_timeout(at_most).ok()
    }
}
