//! Round trips and the retransmission timeout (RFC 6298, with the constants of Linux).

use std::time::Duration;

/// What is known of the round-trip time. In nanoseconds, as it is asked for with every acknowledgement.
#[derive(Debug)]
pub(crate) struct RoundTrip {
    smoothed: Option<u64>,
    deviation: u64,
    least: u64,
    backoff: u32,
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
        Self { smoothed: None, deviation: 0, least: u64::MAX, backoff: 0, timeout: RTO_INITIAL }
    }

    /// Takes in a sample (RFC 6298 §2.2, §2.3).
    ///
    /// Model: the least is that of the whole connection; Linux forgets it after 300 s.
    pub(crate) fn measured(&mut self, sample: Duration) {
        let sample = u64::try_from(sample.as_nanos()).unwrap_or(u64::MAX);
        self.least = self.least.min(sample);
        self.backoff = 0;
        if let Some(smoothed) = self.smoothed {
            self.deviation = (self.deviation * 3 + smoothed.abs_diff(sample)) / 4;
            self.smoothed = Some((smoothed * 7 + sample) / 8);
        } else {
            self.smoothed = Some(sample);
            self.deviation = sample / 2;
        }
        self.set_timeout();
    }

    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed.map_or(RTO_INITIAL, Duration::from_nanos)
    }

    /// The least; that of no sample is zero.
    pub(crate) fn least(&self) -> Duration {
        if self.smoothed.is_some() { Duration::from_nanos(self.least) } else { Duration::ZERO }
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
        let first = self.smoothed.map_or(RTO_INITIAL_NS, |smoothed| smoothed + (self.deviation * 4).max(RTO_MIN_NS));
        self.timeout = Duration::from_nanos((first << self.backoff.min(16)).min(RTO_MAX_NS));
    }
}
