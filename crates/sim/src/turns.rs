//! Programs that run for a part of the time only: on a CPU that others use as well, or in a throttled control group.

use std::time::Duration;

use units::MonoTime;

/// A program that runs for `on` at the beginning of each `period`, and stands still for the rest. The kernel beside it
/// goes on: it acknowledges what comes, and sends what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// For how long it runs in each period.
    pub on: Duration,
    /// From the beginning of one turn to the next.
    pub period: Duration,
}

impl Turns {
    /// Whether it runs at an instant.
    #[must_use]
    pub fn runs(self, now: MonoTime) -> bool {
        self.within(now) < self.on.as_nanos()
    }

    /// When its next turn begins.
    pub(crate) fn next(self, now: MonoTime) -> MonoTime {
        let left = self.period.as_nanos().saturating_sub(self.within(now));
        now + Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX))
    }

    /// Nanoseconds since its last turn began.
    fn within(self, now: MonoTime) -> u128 {
        u128::from(now.as_nanos()) % self.period.as_nanos().max(1)
    }
}
