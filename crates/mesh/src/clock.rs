//! Calendar time, counted on.

use std::time::Duration;

use units::{WallTime, duration};

/// The moment a span after another.
#[must_use]
pub fn later(at: WallTime, span: Duration) -> WallTime {
    WallTime::from_unix_nanos(at.unix_nanos().saturating_add(duration::nanos(span)))
}

/// The moment a span before another, or 1970.
#[must_use]
pub fn earlier(at: WallTime, span: Duration) -> WallTime {
    WallTime::from_unix_nanos(at.unix_nanos().saturating_sub(duration::nanos(span)))
}

/// The time from one moment to a later one; zero where it is not later. Only of moments of one timetable: of two readings of a
/// clock it means nothing, since the clock may have been set between them.
#[must_use]
pub fn between(from: WallTime, until: WallTime) -> Duration {
    Duration::from_nanos(until.unix_nanos().saturating_sub(from.unix_nanos()))
}

/// Days since 1970-01-01, in UTC.
#[must_use]
pub fn day(at: WallTime) -> u32 {
    u32::try_from(at.unix_seconds() / 86_400).unwrap_or(u32::MAX)
}

/// As people write it: `2026-12-01T02:00:00Z`, to the second.
#[must_use]
pub fn shown(at: WallTime) -> String {
    let seconds = i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "?".to_owned(), |at| at.to_string())
}
