//! Every bound of the control protocol in one place, each with its reason.

use std::time::Duration;

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

/// How long a peer may be silent where it is its turn to speak. iperf3 gives up after 10 s as well.
pub const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one message may take from its first byte to its last, so that a slow trickle ends.
pub const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the receiver goes on reading after the sender stopped. A full send buffer of 1 GiB at 1 Gbit/s is 9 s.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a receiver of datagrams waits for stragglers after the sender stopped and none came.
pub const DATAGRAM_QUIET: Duration = Duration::from_millis(100);

/// The same for a stream that its sender, an iperf3, does not close: what is in our socket is read, and no more.
pub const STREAM_QUIET: Duration = Duration::from_millis(10);
