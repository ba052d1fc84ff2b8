//! NTP's time: 32 bits of seconds and 32 bits of their fraction.

use std::time::Duration;

use units::{MonoTime, WallTime};

/// A time as NTP writes it: seconds since 1900 and a binary fraction of 2^-32 s (RFC 5905 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NtpTime(u64);

/// A length of time in the same form: up to 136 years, in steps of 233 ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NtpInterval(u64);

impl NtpTime {
    /// Seconds from 1900 to 1970.
    const UNIX_EPOCH: u64 = 2_208_988_800;

    /// The time that a packet carries.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The time as a packet carries it.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The NTP form of a calendar time; it wraps in 2036, as NTP's eras do.
    #[must_use]
    pub fn from_wall(time: WallTime) -> Self {
        let nanos = u128::from(time.unix_nanos());
        let seconds = (nanos / 1_000_000_000 + u128::from(Self::UNIX_EPOCH)) & 0xffff_ffff;
        let fraction = ((nanos % 1_000_000_000) << 32) / 1_000_000_000;
        Self(u64::try_from((seconds << 32) | fraction).unwrap_or(0))
    }

    /// The monotonic time of a clock whose stamps run `ahead_ns` before it; `None` where that lies before its epoch.
    #[must_use]
    pub fn to_mono(self, ahead_ns: i64) -> Option<MonoTime> {
        let stamp_of_epoch = Self::from_wall(WallTime::from_unix_nanos(u64::try_from(ahead_ns).ok()?));
        u64::try_from(self.nanos_since(stamp_of_epoch)).ok().map(MonoTime::from_nanos)
    }

    /// Nanoseconds from `earlier` to this time, across an era's end; negative where this one is earlier.
    #[must_use]
    pub fn nanos_since(self, earlier: Self) -> i64 {
        let difference = i128::from(self.0.wrapping_sub(earlier.0).cast_signed());
        i64::try_from((difference * 1_000_000_000) >> 32).unwrap_or(i64::MAX)
    }

    /// The time `interval` later.
    #[must_use]
    pub const fn after(self, interval: NtpInterval) -> Self {
        Self(self.0.wrapping_add(interval.0))
    }
}

impl NtpInterval {
    /// The interval that a message carries.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The interval as a message carries it.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Cut to the form's resolution, and to its largest value.
    #[must_use]
    pub fn from_duration(time: Duration) -> Self {
        Self(u64::try_from((time.as_nanos() << 32) / 1_000_000_000).unwrap_or(u64::MAX))
    }

    /// Rounded to the nearest nanosecond.
    #[must_use]
    pub fn to_duration(self) -> Duration {
        let nanos = (u128::from(self.0) * 1_000_000_000 + (1 << 31)) >> 32;
        Duration::from_secs(u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX))
            + Duration::from_nanos(u64::try_from(nanos % 1_000_000_000).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ntp(unix_nanos: u64) -> NtpTime {
        NtpTime::from_wall(WallTime::from_unix_nanos(unix_nanos))
    }

    #[test]
    fn times_are_kept_to_a_nanosecond() {
        let start = 1_790_000_000_123_456_789;
        assert_eq!(ntp(start + 209_000_000).nanos_since(ntp(start)).abs_diff(209_000_000), 0);
        assert!((ntp(start).nanos_since(ntp(start + 5)) + 5).abs() <= 1);
    }

    #[test]
    fn a_stamp_leads_back_to_the_monotonic_clock() {
        let ahead = 1_790_000_000_123_456_789;
        let mono = ntp(ahead + 86_400_000_000_000).to_mono(ahead.cast_signed()).unwrap();
        assert!(mono.as_nanos().abs_diff(86_400_000_000_000) <= 1);
        assert_eq!(ntp(5).to_mono(-1), None);
    }

    #[test]
    fn differences_cross_the_end_of_an_era() {
        let era_end = (4_294_967_296 - 2_208_988_800) * 1_000_000_000;
        assert_eq!(ntp(era_end + 1_000_000).nanos_since(ntp(era_end - 1_000_000)), 2_000_000);
    }

    #[test]
    fn twenty_milliseconds_are_what_owping_writes_for_them() {
        let interval = NtpInterval::from_duration(Duration::from_millis(20));
        assert_eq!(interval.bits(), 0x051e_b851);
        assert_eq!(interval.to_duration(), Duration::from_millis(20));
        assert_eq!(ntp(7).after(interval).nanos_since(ntp(7)), 19_999_999, "cut, not rounded");
        assert_eq!(NtpInterval::from_duration(Duration::MAX).bits(), u64::MAX);
        assert_eq!(NtpInterval::from_bits(u64::MAX).to_duration(), Duration::from_secs(1 << 32));
    }
}
