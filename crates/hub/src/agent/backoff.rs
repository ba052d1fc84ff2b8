//! How long to wait before the hub is asked again after it was not there.

use std::time::Duration;

/// Waits that double from [`SHORTEST`] to [`LONGEST`], each at random between its half and its whole: a thousand agents that lost
/// their hub at once do not come back at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The hub has answered.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }

    /// It has not: how long to wait, by random bits.
    pub fn next(&mut self, random: u32) -> Duration {
        let whole = SHORTEST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        whole / 2 + (whole / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
    }
}

/// The first wait.
pub const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait: how long after its return a hub hears of everybody again.
pub const LONGEST: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_begin_anew() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..12).map(|_| backoff.next(u32::MAX)).collect();
        assert_eq!((waits[0], waits[1], waits[11]), (SHORTEST, SHORTEST * 2, LONGEST));
        assert_eq!(backoff.next(0), LONGEST / 2);
        backoff.reset();
        assert_eq!(backoff.next(u32::MAX), SHORTEST);
    }
}
