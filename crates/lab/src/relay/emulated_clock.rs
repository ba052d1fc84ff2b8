//! The clock of the emulated paths: real time, as far as the relay could serve it.
//!
//! A relay that is not scheduled for 50 ms (another program has the CPU, or the hypervisor has taken it away) finds what
//! was due meanwhile all due at once. A path does not do that: the burst overflows queues and empties token buckets, and
//! losses appear that the scenario does not have. So the emulated clock stands still while the relay does not run. For the
//! hosts, whose clocks go on, the path is slower for that time: its rates are lower and its delays longer by the same
//! factor, and nothing is lost. How far both clocks have gone is known for every test.
//!
//! For the same reason a clock can be set to go slower than real time from the start ([`Pace`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use units::MonoTime;

/// How fast an emulated clock goes while it does not stand still, in percent of real time, 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pace(u8);

impl Pace {
    /// As fast as real time.
    pub const REAL: Self = Self(100);

    /// So many percent of real time, brought into 1 to 100.
    #[must_use]
    pub fn of_percent(percent: u8) -> Self {
        Self(percent.clamp(1, 100))
    }

    /// Percent of real time.
    #[must_use]
    pub fn percent(self) -> u8 {
        self.0
    }

    fn slowed(self, real: Duration) -> Duration {
        scale(real, self.0.into(), 100)
    }

    fn stretched(self, emulated: Duration) -> Duration {
        scale(emulated, 100, self.0.into())
    }
}

/// One clock for all threads of a relay. Its instants are those of the monotonic clock until it begins to fall behind.
#[derive(Debug)]
pub struct EmulatedClock {
    origin: MonoTime,
    pace: Pace,
    /// Emulated time that has not passed.
    stopped_ns: AtomicU64,
    /// The last stops that hosts may have noticed, the latest last.
    stops: Mutex<VecDeque<Stop>>,
}

/// A time for which a clock stood still.
#[derive(Debug, Clone, Copy)]
struct Stop {
    /// When it ended, in real time.
    until: MonoTime,
    length: Duration,
}

impl EmulatedClock {
    /// A clock that shows `origin` at that instant.
    #[must_use]
    pub fn new(origin: MonoTime, pace: Pace) -> Self {
        Self { origin, pace, stopped_ns: AtomicU64::new(0), stops: Mutex::default() }
    }

    /// What it shows now.
    #[must_use]
    pub fn now(&self) -> MonoTime {
        self.at(linux::clock::now())
    }

    /// What it shows at an instant of real time, if it has not stood still since.
    #[must_use]
    pub fn at(&self, real: MonoTime) -> MonoTime {
        if real <= self.origin {
            return real;
        }
        let stopped = Duration::from_nanos(self.stopped_ns.load(Ordering::Acquire));
        self.origin + self.pace.slowed(real.since(self.origin)).saturating_sub(stopped)
    }

    /// When, in real time, it shows an instant, if it does not stand still until then.
    #[must_use]
    pub fn real(&self, emulated: MonoTime) -> MonoTime {
        if emulated <= self.origin {
            return emulated;
        }
        let stopped = Duration::from_nanos(self.stopped_ns.load(Ordering::Acquire));
        self.origin + self.pace.stretched(emulated.since(self.origin).saturating_add(stopped))
    }

    /// How long it takes in real time until so much has passed on it.
    #[must_use]
    pub fn stretched(&self, emulated: Duration) -> Duration {
        self.pace.stretched(emulated)
    }

    /// How fast it goes while it does not stand still.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Waits until it shows an instant, however often it stands still meanwhile. Returns whether the instant has come: not so
    /// where `ended` becomes true before.
    ///
    /// # Errors
    /// What the kernel says where it cannot wait.
    pub fn sleep_unless(&self, instant: MonoTime, ended: impl Fn() -> bool) -> std::io::Result<bool> {
        while self.now() < instant {
            if !linux::clock::sleep_unless(self.real(instant), &ended)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Emulated time that has not passed for want of scheduling, since it began.
    #[must_use]
    pub fn stopped(&self) -> Duration {
        Duration::from_nanos(self.stopped_ns.load(Ordering::Acquire))
    }

    /// The longest time for which it stood still since `since`, an instant of real time.
    #[must_use]
    pub fn longest_stop(&self, since: MonoTime) -> Duration {
        let stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        stops.iter().filter(|stop| stop.until >= since).map(|stop| stop.length).max().unwrap_or_default()
    }

    /// It stood still for `length`, which ends now.
    pub(super) fn stood_still(&self, length: Duration) {
        self.stopped_ns.fetch_add(units::duration::nanos(length), Ordering::AcqRel);
        if length < NOTICEABLE {
            return;
        }
        let mut stops = self.stops.lock().unwrap_or_else(PoisonError::into_inner);
        if stops.len() == MOST_STOPS {
            stops.pop_front();
        }
        stops.push_back(Stop { until: linux::clock::now(), length });
    }
}

/// The emulated clock as one thread of the relay sees it: it never goes back, though other threads may stop it.
#[derive(Debug)]
pub(super) struct ThreadClock {
    clock: std::sync::Arc<EmulatedClock>,
    latest: MonoTime,
    has_begun: bool,
}

impl ThreadClock {
    pub(super) fn new(clock: std::sync::Arc<EmulatedClock>) -> Self {
        Self { clock, latest: MonoTime::from_nanos(0), has_begun: false }
    }

    /// What it shows now.
    pub(super) fn now(&mut self) -> MonoTime {
        self.latest = self.latest.max(self.clock.now());
        self.latest
    }

    /// What it shows when the thread goes on after it has waited, or worked for so long that something is overdue. What is
    /// more overdue than [`TOLERANCE`] was so since the thread did not run: for that long the clock stood still.
    pub(super) fn resume(&mut self, due: Option<MonoTime>) -> MonoTime {
        let now = self.clock.now().max(self.latest);
        let overdue = due.map_or(Duration::ZERO, |due| now.since(due.max(self.latest) + TOLERANCE));
        // What was due before the thread was started is not the scheduler's doing.
        if !overdue.is_zero() && self.has_begun {
            self.clock.stood_still(overdue);
        }
        self.has_begun = true;
        self.now()
    }

    /// How long it takes in real time until it shows `instant`.
    pub(super) fn until(&self, instant: MonoTime) -> Duration {
        self.clock.stretched(instant.since(self.latest))
    }
}

fn scale(time: Duration, by: u64, of: u64) -> Duration {
    if by == of {
        return time;
    }
    let nanos = time.as_nanos() * u128::from(by) / u128::from(of);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Waking up takes some 50 µs where the CPU is free; what takes longer than this was kept from running.
const TOLERANCE: Duration = Duration::from_micros(250);
/// Shorter stops are within what a shared network does to round trips.
const NOTICEABLE: Duration = Duration::from_millis(5);
/// So many stops are kept: those of the last minutes on a machine that stops ten times a second.
const MOST_STOPS: usize = 4_096;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn clock_that_stood_still_is_behind_by_that_and_its_instants_come_later() {
        let origin = linux::clock::now();
        let clock = EmulatedClock::new(origin, Pace::REAL);
        let (noon, later) = (origin + SECOND, origin + SECOND * 3);
        assert_eq!((clock.at(noon), clock.real(noon)), (noon, noon));
        clock.stood_still(SECOND);
        assert_eq!((clock.at(later), clock.real(noon)), (origin + SECOND * 2, origin + SECOND * 2));
        assert_eq!((clock.stopped(), clock.longest_stop(origin)), (SECOND, SECOND));
        assert_eq!(clock.longest_stop(linux::clock::now() + SECOND), Duration::ZERO);
    }

    #[test]
    fn clock_of_half_pace_needs_twice_the_time() {
        let origin = linux::clock::now();
        let clock = EmulatedClock::new(origin, Pace::of_percent(50));
        assert_eq!(clock.at(origin + SECOND * 2), origin + SECOND);
        assert_eq!(clock.real(origin + SECOND), origin + SECOND * 2);
        assert_eq!(clock.at(origin - SECOND), origin - SECOND, "before it begins it shows real time");
    }

    #[test]
    fn thread_that_comes_late_finds_due_what_was_due_and_no_more() {
        let origin = linux::clock::now() - SECOND;
        let clock = Arc::new(EmulatedClock::new(origin, Pace::REAL));
        let mut thread = ThreadClock::new(Arc::clone(&clock));
        let begun = thread.resume(None);
        // As if the thread had been away since something was due.
        let due = begun - SECOND / 2;
        thread.latest = due - SECOND / 4;
        let resumed = thread.resume(Some(due));
        assert!(resumed >= due + TOLERANCE && resumed < due + SECOND / 10, "{:?}", resumed.since(due));
        assert!(clock.stopped() >= SECOND / 2 - TOLERANCE);
    }

    #[test]
    fn clock_never_goes_back_where_another_thread_stops_it() {
        let clock = Arc::new(EmulatedClock::new(linux::clock::now() - SECOND, Pace::REAL));
        let mut thread = ThreadClock::new(Arc::clone(&clock));
        let before = thread.now();
        clock.stood_still(SECOND / 2);
        assert_eq!(thread.now(), before);
    }
}
