//! The error estimate beside each timestamp (RFC 4656 §4.1.2).

use std::time::Duration;

/// How wrong the clock behind a timestamp may be, as its host believes.
///
/// Layout: S (synchronised), Z (0 for NTP time), 6 bits of scale, 8 bits of multiplier; the error is
/// multiplier * 2^(scale - 32) s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorEstimate(u16);

/// Whether something keeps a clock to UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockState {
    /// NTP, PTP or GPS does.
    Synchronised,
    /// Nothing does, or nobody says so.
    Unsynchronised,
}

impl ErrorEstimate {
    /// Not synchronised, 2^-32 s: the least that may be written, since the multiplier is never zero.
    pub const UNSYNCHRONISED: Self = Self(0x0001);

    /// The estimate that a packet carries.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The estimate as a packet carries it.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The least estimate that is not below `error`.
    #[must_use]
    pub fn new(state: ClockState, error: Duration) -> Self {
        let mut multiplier = (error.as_nanos() << 32).div_ceil(1_000_000_000).max(1);
        let mut scale = 0_u16;
        while multiplier > 0xff && scale < MAX_SCALE {
            multiplier = multiplier.div_ceil(2);
            scale += 1;
        }
        let multiplier = u16::try_from(multiplier.min(0xff)).unwrap_or(0xff);
        let synchronised = if state == ClockState::Synchronised { SYNCHRONISED } else { 0 };
        Self(synchronised | (scale << 8) | multiplier)
    }

    /// Whether the clock is synchronised.
    #[must_use]
    pub const fn state(self) -> ClockState {
        if self.0 & SYNCHRONISED == 0 { ClockState::Unsynchronised } else { ClockState::Synchronised }
    }

    /// The error in nanoseconds, rounded up, at most what 64 bits hold. A clock without synchronisation writes one too,
    /// which bounds nothing.
    #[must_use]
    pub fn nanos(self) -> u64 {
        let scale = u32::from((self.0 >> 8) & MAX_SCALE);
        let error = (u128::from(self.0 & 0xff) << scale) * 1_000_000_000;
        u64::try_from(error.div_ceil(1 << 32)).unwrap_or(u64::MAX)
    }
}

const SYNCHRONISED: u16 = 0x8000;
const MAX_SCALE: u16 = 0x3f;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_never_below_the_error_and_at_most_one_percent_above() {
        for nanos in [1, 59, 60, 1_000, 1_500_000, 16_000_000_000, 1 << 60] {
            let estimate = ErrorEstimate::new(ClockState::Synchronised, Duration::from_nanos(nanos));
            assert_eq!(estimate.state(), ClockState::Synchronised);
            assert!(estimate.nanos() >= nanos && estimate.nanos() <= nanos + nanos / 100 + 1, "{nanos}: {estimate:?}");
        }
    }

    #[test]
    fn the_least_estimate_is_the_one_that_owampd_writes_unsynchronised() {
        let least = ErrorEstimate::new(ClockState::Unsynchronised, Duration::ZERO);
        assert_eq!(least, ErrorEstimate::UNSYNCHRONISED);
        assert_eq!((least.nanos(), least.state()), (1, ClockState::Unsynchronised));
    }

    #[test]
    fn no_bits_overflow() {
        assert_eq!(ErrorEstimate::from_bits(u16::MAX).nanos(), u64::MAX);
        let longest = ErrorEstimate::new(ClockState::Synchronised, Duration::MAX);
        assert_eq!(longest.state(), ClockState::Synchronised);
        assert!(longest.nanos() == u64::MAX);
    }
}
