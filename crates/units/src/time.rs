//! Instants. The two clocks have two types, so that nobody subtracts a wall time from a monotonic one.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// An instant of one host's monotonic clock, in nanoseconds since an epoch of that host (Linux: boot).
///
/// Instants of two hosts are comparable only after the offset between their clocks is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MonoTime(u64);

impl MonoTime {
    /// The instant `nanos` nanoseconds after the clock's epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the clock's epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this instant, or zero where `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Nanoseconds from `other` to this instant, negative where `other` is later.
    #[must_use]
    pub fn signed_nanos_since(self, other: Self) -> i64 {
        let difference = i128::from(self.0) - i128::from(other.0);
        i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
    }
}

impl Add<Duration> for MonoTime {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(crate::duration::nanos(time)))
    }
}

/// The earlier instant, stopping at the clock's epoch.
impl Sub<Duration> for MonoTime {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(crate::duration::nanos(time)))
    }
}

/// An instant of calendar time, in nanoseconds since 1970-01-01 UTC. For people and for joining records; never
/// subtracted to get a duration, since it may step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct WallTime(u64);

impl WallTime {
    /// The instant `nanos` nanoseconds after 1970-01-01 UTC.
    #[must_use]
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_nanos(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.0 / 1_000_000_000
    }
}

impl From<SystemTime> for WallTime {
    /// An instant before 1970 becomes 1970.
    fn from(time: SystemTime) -> Self {
        let nanos = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for MonoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_never_lies_before_its_epoch() {
        let early = MonoTime::from_nanos(5);
        let late = MonoTime::from_nanos(12);
        assert_eq!(late.since(early), Duration::from_nanos(7));
        assert_eq!(early.since(late), Duration::ZERO);
        assert_eq!(early.signed_nanos_since(late), -7);
        assert_eq!(early - Duration::from_secs(1), MonoTime::from_nanos(0));
    }
}
