//! Calendar times, in the user's zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use units::WallTime;

/// `2026-11-21 04:41:07`, by this host's zone.
pub fn local(time: WallTime) -> String {
    let nanos = i128::from(time.unix_nanos());
    Timestamp::from_nanosecond(nanos).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}
