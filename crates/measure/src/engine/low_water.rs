//! For how much a receiver waits before it reads.
//!
//! A sender that keeps to a rate sends a little at a time, and to wake for each little costs more than to receive it. Its
//! receiver waits for some milliseconds of payload instead, as an iperf3 does, whose sender sends more at once.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use linux::sockets::{Direction, buffer_size, set_receive_low_water, set_receive_timeout};
use units::{ByteCount, DataRate, MonoTime};

/// Adapts `SO_RCVLOWAT` of one socket to what comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LowWater {
    rate: DataRate,
    bytes: ByteCount,
    look_at: MonoTime,
}

impl LowWater {
    /// Reads may be this far apart, four bursts of a sender at a low rate: twice as far as samples are. To wake for them
    /// costs more than to receive them.
    pub(super) const SPACING: Duration = Duration::from_millis(20);
    /// Beyond, waiting saves nothing.
    const MOST: ByteCount = ByteCount::new(256 << 10);
    /// Below, a path that is slower than the rate would be read in jerks.
    const LEAST: ByteCount = ByteCount::new(16 << 10);
    /// How often the receive buffer, which the kernel lets grow, is looked at.
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    /// What has come is read after this time at the latest, however little it is.
    pub(super) const PATIENCE: Duration = Duration::from_millis(20);

    /// For a stream of this rate; [`None`] where there is none, or the kernel does not bound the wait.
    pub(super) fn of(rate: Option<DataRate>, fd: BorrowedFd<'_>) -> Option<Self> {
        let rate = rate.filter(|rate| *rate * Self::SPACING >= Self::LEAST)?;
        set_receive_timeout(fd, Some(Self::PATIENCE)).ok()?;
        Some(Self { rate, bytes: ByteCount::new(1), look_at: MonoTime::default() })
    }

    /// Called by the thread that reads, at each read.
    pub(super) fn look(&mut self, fd: BorrowedFd<'_>, now: MonoTime) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + Self::LOOK_EVERY;
        // A socket that does not say, or takes no value, is read as it was.
        let Ok(buffer) = buffer_size(fd, Direction::Receive) else { return };
        let bytes = Self::bytes(self.rate, buffer);
        if bytes != self.bytes && set_receive_low_water(fd, bytes).is_ok() {
            self.bytes = bytes;
        }
    }

    /// Half of the window that a receive buffer of this size makes (`tcp_adv_win_scale` 1), at most: automatic tuning keeps
    /// the window at twice what comes in an RTT, so that the other half still holds what is on its way.
    fn bytes(rate: DataRate, buffer: ByteCount) -> ByteCount {
        let bytes = (rate * Self::SPACING).min(Self::MOST).min(ByteCount::new(buffer.get() / 4));
        if bytes < Self::LEAST { ByteCount::new(1) } else { bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_waits_for_twenty_milliseconds_of_payload_and_for_half_a_window_at_most() {
        let bytes = |bps, buffer| LowWater::bytes(DataRate::from_bps(bps), ByteCount::new(buffer)).get();
        assert_eq!(bytes(40_000_000, 6 << 20), 100_000);
        assert_eq!(bytes(100_000_000_000, 6 << 20), 256 << 10);
        assert_eq!(bytes(100_000_000, 131_072), 32_768, "a buffer that has not grown");
        assert_eq!(bytes(100_000_000, 4_608), 1, "a small buffer is emptied at once");
    }
}
