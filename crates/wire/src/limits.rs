//! Every bound of the control protocol in one place, each with its reason.

use std::time::Duration;

use model::spec::Limit;

/// Largest parameter blob accepted. iperf3 refuses more since 3.18.
pub const MAX_PARAMS_BYTES: usize = 8_192;

/// Largest result blob accepted. Between two linerates it carries packed samples: an hour of one stream at 10 ms is
/// 360,000 rows of at most 8 bytes, a third more as text.
pub const MAX_RESULTS_BYTES: usize = 32 << 20;

/// Largest message of the extension besides results.
pub const MAX_EXTENSION_BYTES: usize = 64 << 10;

/// Most streams in one direction (iperf3: `MAX_STREAMS`).
pub const MAX_STREAMS: u16 = 128;

/// Largest write (iperf3: `MAX_BLOCKSIZE`).
pub const MAX_TCP_LENGTH: u64 = 1 << 20;

/// Write size that is announced where none was asked for (iperf3: `DEFAULT_TCP_BLKSIZE`).
pub const DEFAULT_TCP_LENGTH: u64 = 128 << 10;

/// Smallest datagram: the header must fit (iperf3: `MIN_UDP_BLOCKSIZE`).
pub const MIN_UDP_LENGTH: u64 = 16;

/// Largest UDP payload over IPv4: 65535 less 20 and 8 bytes of headers.
pub const MAX_UDP_LENGTH: u64 = 65_507;

/// How long a peer may take for its parts of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Silence where it is its turn to speak. iperf3 gives up after 10 s as well.
    pub turn: Duration,
    /// One message from its first byte to its last, so that a slow trickle ends.
    pub message: Duration,
    /// Until all data connections stand. iperf3 waits as long for a datagram.
    pub opening: Duration,
    /// Until everything on the way has been read after the senders stopped. A full send buffer of 1 GiB at 1 Gbit/s is 9 s.
    pub drain: Duration,
    /// Silence of an iperf3's streams while less has come than the amount that was announced. The default is an RTT of any
    /// path, and the first two retransmission timeouts of a lost tail (RFC 6298: at least 200 ms on Linux, doubled each time).
    pub amount_quiet: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            turn: Duration::from_secs(10),
            message: Duration::from_secs(30),
            opening: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            amount_quiet: Duration::from_secs(1),
        }
    }
}

impl Patience {
    /// How long a receiver of a stream waits for what is on the way. Who asked for a time does not want to wait much longer,
    /// however slow the path is; who asked for an amount wants all of it.
    #[must_use]
    pub fn drain_of(&self, limit: Limit) -> Duration {
        match limit {
            Limit::Time(time) => (time / 2).max(LEAST_DRAIN).min(self.drain),
            Limit::Bytes(_) | Limit::Blocks(_) => self.drain,
        }
    }

    /// Silence of a peer that reads what is on the way of such a test before it speaks.
    #[must_use]
    pub fn drain_and_turn(&self, limit: Limit) -> Duration {
        self.drain_of(limit) + self.turn
    }
}

/// What is on the way of a short test gets this long: more than a round trip around the earth.
pub const LEAST_DRAIN: Duration = Duration::from_secs(1);

/// How long a receiver of datagrams waits for stragglers after the sender stopped and none came.
pub const DATAGRAM_QUIET: Duration = Duration::from_millis(100);

/// The same for a stream that its sender, an iperf3, does not close: what is in our socket is read, and no more.
pub const STREAM_QUIET: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use units::ByteCount;
    use units::duration::show;

    use super::*;

    #[test]
    fn a_test_of_a_time_waits_half_as_long_again_and_one_of_an_amount_to_the_end() {
        let patience = Patience::default();
        let of_time = |seconds| patience.drain_of(Limit::Time(Duration::from_secs(seconds)));
        assert_eq!([1, 10, 1000].map(of_time), [LEAST_DRAIN, Duration::from_secs(5), patience.drain]);
        assert_eq!(patience.drain_of(Limit::Bytes(ByteCount::new(1))), patience.drain);
        assert_eq!(patience.drain_and_turn(Limit::Time(Duration::from_secs(3))), Duration::from_millis(11_500));
        let hasty = Patience { drain: Duration::from_millis(100), ..patience };
        assert_eq!(hasty.drain_of(Limit::Time(Duration::from_secs(10))), hasty.drain);
    }

    #[test]
    fn the_documentation_has_the_same_limits() {
        let page = include_str!("../../../docs/formats/wire.md");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let patience = Patience::default();
        let seconds = |time: Duration| format!("{} s", time.as_secs());
        for row in [
            format!("| parameters | {MAX_PARAMS_BYTES} bytes |"),
            format!("| a message of the extension | {MAX_EXTENSION_BYTES} bytes |"),
            format!("| results | {MAX_RESULTS_BYTES} bytes |"),
            format!("| streams in one direction | {MAX_STREAMS} |"),
            format!("| silence where it is the peer's turn | {} |", seconds(patience.turn)),
            format!("| one message from its first byte to its last | {} |", seconds(patience.message)),
            format!("| all data connections | {} |", seconds(patience.opening)),
            format!("| reading what is on the way after the senders stopped | {} |", seconds(patience.drain)),
            format!("half of the time that was asked for, at least {}", seconds(LEAST_DRAIN)),
            format!("of a datagram ({MIN_UDP_LENGTH} to {MAX_UDP_LENGTH})"),
            format!("{} of silence end the waiting", show(DATAGRAM_QUIET)),
            format!("and {} have been silent", show(STREAM_QUIET).replace(".0", "")),
            format!("after {} of silence", seconds(patience.amount_quiet)),
        ] {
            assert!(page.contains(&row), "docs/formats/wire.md lacks {row}");
        }
    }
}
