//! Round trips and the retransmission timeout (RFC 6298, with the constants of Linux).

use std::time::Duration;

/// What is known of the round-trip time. It is reckoned in nanoseconds, and asked for more often than that.
#[derive(Debug)]
pub(crate) struct RoundTrip {
    smoothed_ns: Option<u64>,
    deviation_ns: u64,
    least_ns: u64,
    backoff: u32,
    smoothed: Duration,
    least: Duration,
    timeout: Duration,
}

/// `TCP_RTO_MIN` (include/net/tcp.h, Linux 6.1).
pub(crate) const RTO_MIN: Duration = Duration::from_millis(200);
/// `TCP_TIMEOUT_INIT` (RFC 6298 §2.1).
pub(crate) const RTO_INITIAL: Duration = Duration::from_secs(1);

/// The same in nanoseconds, and `TCP_RTO_MAX`.
const RTO_MIN_NS: u64 = 200_000_000;
const RTO_INITIAL_NS: u64 = 1_000_000_000;
const RTO_MAX_NS: u64 = 120_000_000_000;

impl RoundTrip {
    pub(crate) fn new() -> Self {
        Self {
            smoothed_ns: None,
            deviation_ns: 0,
            least_ns: u64::MAX,
            backoff: 0,
            smoothed: RTO_INITIAL,
            least: Duration::ZERO,
            timeout: RTO_INITIAL,
        }
    }

    /// Takes in a sample (RFC 6298 §2.2, §2.3).
    ///
    /// Model: the least is that of the whole connection; Linux forgets it after 300 s.
    pub(crate) fn measured(&mut self, sample: Duration) {
        let sample = units::duration::nanos(sample);
        self.backoff = 0;
        if sample < self.least_ns {
            self.least_ns = sample;
            self.least = Duration::from_nanos(sample);
        }
        let smoothed = if let Some(smoothed) = self.smoothed_ns {
            self.deviation_ns = (self.deviation_ns * 3 + smoothed.abs_diff(sample)) / 4;
            (smoothed * 7 + sample) / 8
        } else {
            self.deviation_ns = sample / 2;
            sample
        };
        self.smoothed_ns = Some(smoothed);
        self.smoothed = Duration::from_nanos(smoothed);
        self.set_timeout();
    }

    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// The least; that of no sample is zero.
    pub(crate) fn least(&self) -> Duration {
        self.least
    }

    /// Mean deviation of the round trip.
    pub(crate) fn deviation(&self) -> Duration {
        Duration::from_nanos(self.deviation_ns)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Doubles the timeout (RFC 6298 §5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
        self.set_timeout();
    }

    fn set_timeout(&mut self) {
        let first =
            self.smoothed_ns.map_or(RTO_INITIAL_NS, |smoothed| smoothed + (self.deviation_ns * 4).max(RTO_MIN_NS));
        self.timeout = Duration::from_nanos((first << self.backoff.min(16)).min(RTO_MAX_NS));
    }
}
