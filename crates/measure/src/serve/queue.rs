//! Whose turn it is: first come, first served, one at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linux::clock;
use units::MonoTime;

use crate::control::Waker;

/// The queue of one test partner.
#[derive(Debug, Clone, Default)]
pub struct Queue(Arc<Mutex<Line>>);

#[derive(Debug, Default)]
struct Line {
    /// The first runs, the others wait.
    places: VecDeque<Waiting>,
    next_number: u64,
    limit: usize,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    /// How long its test should take.
    time: Duration,
    /// When it began to run.
    since: Option<MonoTime>,
    waker: Waker,
}

/// A place in the queue. Dropping it lets the next one in.
#[derive(Debug)]
pub struct QueueSlot {
    queue: Queue,
    number: u64,
}

/// Where a place stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is its turn.
    Turn,
    /// Others come first.
    Behind {
        /// How many, the running one included.
        ahead: u32,
        /// When its turn should come, as far as the others say.
        wait: Duration,
    },
}

/// There is no more room to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another test runs, and {waiting} wait already")]
pub struct Full {
    /// Tests that wait.
    pub waiting: usize,
}

impl Queue {
    /// A queue in which at most `limit` may wait behind the one that runs.
    #[must_use]
    pub fn new(limit: u16) -> Self {
        Self(Arc::new(Mutex::new(Line { limit: usize::from(limit), ..Line::default() })))
    }

    /// Takes the last place. `waker` is used whenever the place moves forward.
    ///
    /// # Errors
    /// If there is no more room.
    pub fn join(&self, time: Duration, waker: Waker) -> Result<QueueSlot, Full> {
        let mut line = self.line();
        if line.places.len() > line.limit {
            return Err(Full { waiting: line.places.len() - 1 });
        }
        let number = line.next_number;
        line.next_number += 1;
        let since = line.places.is_empty().then(clock::now);
        line.places.push_back(Waiting { number, time, since, waker });
        Ok(QueueSlot { queue: self.clone(), number })
    }

    /// Whether somebody has a place.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        !self.line().places.is_empty()
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueSlot {
    /// Where this place stands now.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let line = self.queue.line();
        let before = line.places.iter().take_while(|place| place.number != self.number);
        let (mut ahead, mut wait) = (0, Duration::ZERO);
        for place in before {
            ahead += 1;
            let passed = place.since.map_or(Duration::ZERO, |since| clock::now().since(since));
            wait += place.time.saturating_sub(passed);
        }
        if ahead == 0 { Standing::Turn } else { Standing::Behind { ahead, wait } }
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        let mut line = self.queue.line();
        line.places.retain(|place| place.number != self.number);
        if let Some(first) = line.places.front_mut() {
            first.since.get_or_insert_with(clock::now);
        }
        for place in &line.places {
            place.waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    #[test]
    fn turns_come_in_order_and_leaving_moves_the_rest_up() {
        let queue = Queue::new(2);
        let waker = Waker::new().unwrap();
        let first = queue.join(TIME, waker.clone()).unwrap();
        let second = queue.join(TIME, waker.clone()).unwrap();
        let third = queue.join(TIME, waker.clone()).unwrap();
        assert_eq!(queue.join(TIME, waker).unwrap_err(), Full { waiting: 2 });
        assert_eq!(first.standing(), Standing::Turn);
        assert!(matches!(third.standing(), Standing::Behind { ahead: 2, wait } if wait > TIME && wait <= 2 * TIME));
        drop(second);
        assert!(matches!(third.standing(), Standing::Behind { ahead: 1, .. }));
        drop(first);
        assert_eq!(third.standing(), Standing::Turn);
    }

    #[test]
    fn a_queue_without_room_still_lets_one_run() {
        let queue = Queue::new(0);
        let waker = Waker::new().unwrap();
        let only = queue.join(TIME, waker.clone()).unwrap();
        assert!(queue.is_taken());
        assert_eq!(queue.join(TIME, waker.clone()).unwrap_err(), Full { waiting: 0 });
        drop(only);
        assert!(!queue.is_taken());
        assert!(queue.join(TIME, waker).is_ok());
    }
}
