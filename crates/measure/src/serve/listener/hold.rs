//! How long the answers to probes wait for each other.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use units::MonoTime;

/// Holds probes that come one by one, so that one wake answers several: to wake for each would cost more than to receive
/// 100 Mbit/s. An answer carries how long its probe was held, by the kernel's time of its arrival, and its sender takes
/// that out of the RTT (RFC 8762 §4.3.1).
#[derive(Debug, Default)]
pub(super) struct Hold {
    last: Option<(SocketAddr, MonoTime)>,
    until: MonoTime,
}

/// How far apart the probes beside a test are. Those of the baseline before it are closer, and somebody waits for their
/// answers.
const BESIDE_A_TEST: RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(100);

/// How long a probe is held at most: the answers of the reverse path are this far apart.
const LONGEST: Duration = Duration::from_millis(100);

impl Hold {
    /// Until when nobody needs to look for probes.
    pub(super) const fn until(&self) -> MonoTime {
        self.until
    }

    /// Holds what has come no longer.
    pub(super) fn release(&mut self) {
        self.until = MonoTime::default();
    }

    /// A probe of `from`, which came at `arrived`, is answered at `now`.
    pub(super) fn note(&mut self, from: SocketAddr, arrived: MonoTime, now: MonoTime) {
        let steady = self.last.is_some_and(|(of, at)| of == from && BESIDE_A_TEST.contains(&arrived.since(at)));
        self.last = Some((from, arrived));
        self.until = if steady { now + LONGEST } else { now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(arrivals: &[(u16, u64)]) -> Vec<Duration> {
        let mut hold = Hold::default();
        let note = |(port, ms): &(u16, u64)| {
            let now = MonoTime::from_nanos(ms * 1_000_000);
            hold.note(SocketAddr::from(([127, 0, 0, 1], *port)), now, now);
            hold.until().since(now)
        };
        arrivals.iter().map(note).collect()
    }

    #[test]
    fn probes_beside_a_test_are_held_and_those_of_a_baseline_are_not() {
        assert_eq!(held(&[(1, 1_000), (1, 1_000), (1, 1_001)]), [Duration::ZERO; 3], "a baseline");
        assert_eq!(held(&[(1, 1_000), (1, 1_010), (1, 1_020)]), [Duration::ZERO, LONGEST, LONGEST], "beside a test");
        assert_eq!(held(&[(1, 1_000), (2, 1_010), (1, 2_000)]), [Duration::ZERO; 3], "of two, and much later");
    }

    #[test]
    fn a_test_that_is_over_has_its_last_probes_answered_at_once() {
        let (mut hold, from) = (Hold::default(), SocketAddr::from(([127, 0, 0, 1], 1)));
        for now in [1_000, 1_010].map(|ms| MonoTime::from_nanos(ms * 1_000_000)) {
            hold.note(from, now, now);
        }
        assert!(hold.until() > MonoTime::from_nanos(1_010_000_000));
        hold.release();
        assert_eq!(hold.until(), MonoTime::default());
    }
}
