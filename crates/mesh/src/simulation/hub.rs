//! A hub: its calendar, its monotonic clock, its observer.

use std::time::Duration;

use units::{MonoTime, WallTime};

use crate::observer::LeaseObserver;

/// The clocks of a machine: how they differ from the truth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    /// Seconds by which its calendar is wrong.
    pub(super) calendar_s: i64,
    /// How much faster its monotonic clock runs, in millionths.
    pub(super) drift_ppm: i64,
}

impl Clocks {
    pub(super) fn calendar(self, truth: Duration) -> WallTime {
        let seconds = i128::from(EPOCH_S) + i128::from(self.calendar_s);
        let nanos = seconds * 1_000_000_000 + i128::try_from(truth.as_nanos()).unwrap_or(0);
        WallTime::from_unix_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    pub(super) fn monotonic(self, truth: Duration) -> MonoTime {
        let nanos = i128::try_from(truth.as_nanos()).unwrap_or(0);
        let nanos = nanos + nanos * i128::from(self.drift_ppm) / 1_000_000;
        MonoTime::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    /// The true time at which its monotonic clock shows an instant, a little later.
    pub(super) fn truth(self, at: MonoTime) -> Duration {
        let nanos = i128::from(at.as_nanos()) * 1_000_000 / (1_000_000 + i128::from(self.drift_ppm));
        Duration::from_nanos(u64::try_from(nanos + 1_000).unwrap_or(u64::MAX))
    }
}

/// One of several on a database.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) clocks: Clocks,
    pub(super) observer: LeaseObserver,
    pub(super) is_up: bool,
}

impl Hub {
    pub(super) fn new(clocks: Clocks) -> Self {
        Self { clocks, observer: LeaseObserver::new(MARGIN), is_up: true }
    }

    /// It starts anew, and has seen nothing.
    pub(super) fn start(&mut self) {
        self.observer = LeaseObserver::new(MARGIN);
        self.is_up = true;
    }
}

/// 2026-11-23, a second of the truth.
const EPOCH_S: i64 = 1_795_392_000;
/// Two clocks that drift by 200 ppm in opposite directions differ by 20 ms after 50 s.
const MARGIN: Duration = Duration::from_millis(500);
