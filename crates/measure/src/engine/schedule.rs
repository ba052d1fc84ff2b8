//! When an application that keeps to a rate may send next.

use std::time::Duration;

use units::{ByteCount, DataRate, MonoTime};

/// A steady schedule: byte `n` is due at `start + n / rate`. Time lost in a blocked send is caught up, so that the
/// mean holds over the run, as users of a rate limit expect.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    start: MonoTime,
    rate: DataRate,
    sent: ByteCount,
}

impl Schedule {
    /// How much is sent at once: what the rate moves in this time. Shorter bursts cost system calls, longer ones
    /// overflow shallow buffers on the path.
    const BURST: Duration = Duration::from_millis(1);

    /// At low rates a burst of a stream may last this long, as far as it stays below [`Self::CHEAP`]: to wake costs more
    /// than to send. An iperf3 sends 128 KiB at once at every rate.
    const LONG_BURST: Duration = Duration::from_millis(5);
    const CHEAP: usize = 64 << 10;

    /// A schedule at `rate`, which is not zero, from `start`.
    #[must_use]
    pub const fn new(rate: DataRate, start: MonoTime) -> Self {
        Self { start, rate, sent: ByteCount::ZERO }
    }

    /// A good number of bytes for one send, between `least` and `most`.
    #[must_use]
    pub fn burst(&self, least: usize, most: usize) -> usize {
        let burst = usize::try_from((self.rate * Self::BURST).get()).unwrap_or(usize::MAX);
        burst.max(least).min(most)
    }

    /// The same for a stream, whose kernel paces what it is given by the acknowledgements.
    #[must_use]
    pub fn stream_burst(&self, least: usize, most: usize) -> usize {
        let long = usize::try_from((self.rate * Self::LONG_BURST).get()).unwrap_or(usize::MAX).min(Self::CHEAP);
        self.burst(least.max(long.min(most)), most)
    }

    /// When the next byte is due.
    #[must_use]
    pub fn due(&self) -> MonoTime {
        self.start + self.rate.time_for(self.sent).unwrap_or(Duration::MAX)
    }

    /// Notes what was sent.
    pub fn note(&mut self, sent: ByteCount) {
        self.sent += sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_holds_after_a_stall() {
        let start = MonoTime::from_nanos(1_000);
        let mut schedule = Schedule::new(DataRate::from_bps(8_000_000), start);
        assert_eq!(schedule.due(), start);
        for _ in 0..10 {
            schedule.note(ByteCount::new(1_000));
        }
        assert_eq!(schedule.due(), start + Duration::from_millis(10), "10 kB at 1 MB/s, whenever they went");
    }

    #[test]
    fn bursts_last_a_millisecond() {
        let burst = |rate| Schedule::new(DataRate::from_bps(rate), MonoTime::default()).burst(1_448, 1 << 20);
        assert_eq!(burst(8_000_000_000), 1_000_000);
        assert_eq!(burst(1_000_000), 1_448);
        assert_eq!(burst(1_000_000_000_000), 1 << 20);
        let stream = |rate| Schedule::new(DataRate::from_bps(rate), MonoTime::default()).stream_burst(1_448, 1 << 20);
        assert_eq!([1_000_000, 100_000_000, 8_000_000_000].map(stream), [1_448, 62_500, 1_000_000]);
    }
}
