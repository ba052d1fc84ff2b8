//! Numbers from one width to another, and from what was counted to ratios.

use std::time::Duration;

/// Whole microseconds, as samples count them.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// A count as a number that can be divided.
#[expect(clippy::cast_precision_loss, reason = "counts of a test are below 2^53")]
pub(crate) const fn ratio(count: u64) -> f64 {
    count as f64
}
