//! Times and counts as databases have them.

use units::WallTime;

/// A time as databases have it, whose integers end at 2^63 - 1: the year 2262.
pub(super) fn stored(time: WallTime) -> i64 {
    i64::try_from(time.unix_nanos()).unwrap_or(i64::MAX)
}

/// A time from a database.
pub(super) fn time(stored: i64) -> WallTime {
    WallTime::from_unix_nanos(u64::try_from(stored).unwrap_or_default())
}

/// A count as databases have it.
pub(super) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count from a database.
pub(super) fn natural(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}
