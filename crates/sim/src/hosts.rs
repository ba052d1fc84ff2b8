//! Hosts as they come: what Linux has where nobody set anything, and a receiver that is simpler than Linux.

use units::{ByteCount, DataRate, Mtu, Percent};

use crate::congestion::{Algorithm, SlowStart};
use crate::kernel::Kernel;
use crate::receiver::{Acknowledging, ReceiverSpec};
use crate::sender::{Pacing, SenderSpec, Writer};

/// `GSO_MAX_SIZE` without BIG TCP.
pub const OFFLOAD: ByteCount = ByteCount::new(65_536);
/// `tcp_limit_output_bytes` (Linux 5.10 to 6.14).
const SMALL_QUEUE: ByteCount = ByteCount::new(1 << 20);
/// `TCP_INIT_CWND` (include/net/tcp.h).
const INITIAL_WINDOW: u32 = 10;
/// `tcp_wmem[2]` of hosts with memory enough (`tcp_init`, net/ipv4/tcp.c).
const SEND_BUFFER: ByteCount = ByteCount::new(4 << 20);
/// `tcp_rmem[1]` and `tcp_rmem[2]`, as before.
const RECEIVE_BUFFER: (ByteCount, ByteCount) = (ByteCount::new(128 << 10), ByteCount::new(6 << 20));
/// The rate of an adapter that is not what limits.
const ADAPTER: DataRate = DataRate::from_bps(100_000_000_000);

/// The rate of a sending NIC of which nothing is known: the next common speed above that of the path, and 10 Gbit/s
/// before slower ones. A NIC that were as fast as the bottleneck would keep a lone flow from ever filling the queue there.
#[must_use]
pub fn usual_nic_rate(path: DataRate) -> DataRate {
    const COMMON_GBIT: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];
    let common = COMMON_GBIT.into_iter().map(|gbit| DataRate::from_bps(gbit * 1_000_000_000));
    common.into_iter().find(|speed| *speed > path).unwrap_or(path)
}

impl SenderSpec {
    /// A host with Linux on which nothing was set, and a program that waits until it may write. Neither its processor nor
    /// its adapter limits it.
    #[must_use]
    pub const fn linux(algorithm: Algorithm, mtu: Mtu) -> Self {
        Self {
            algorithm,
            slow_start: SlowStart::HyStart,
            mtu,
            initial_window: INITIAL_WINDOW,
            buffer: SEND_BUFFER,
            writer: Writer::Polls,
            application_rate: None,
            processor_rate: None,
            adapter_rate: ADAPTER,
            pacing: Pacing::Algorithm,
            offload: OFFLOAD,
            small_queue: SMALL_QUEUE,
            ecn: false,
            sack: true,
            restarts_after_idle: true,
            turns: None,
            kernel: Kernel::V6_1,
        }
    }
}

impl ReceiverSpec {
    /// A host with Linux on which nothing was set.
    #[must_use]
    pub const fn linux() -> Self {
        Self {
            buffer_default: RECEIVE_BUFFER.0,
            buffer: RECEIVE_BUFFER.1,
            window_percent: Kernel::V6_1.window_percent(),
            initial_window: None,
            acknowledging: Acknowledging::Delayed,
            reading_rate: None,
            turns: None,
            host: None,
        }
    }

    /// A host whose window is what it is from the first segment on, as simulators have it that do not know how Linux has
    /// it grow. What came too early takes room in it.
    #[must_use]
    pub const fn fixed_window(window: ByteCount) -> Self {
        Self {
            buffer_default: window,
            buffer: window,
            window_percent: Percent::of::<100>(),
            initial_window: Some(u32::MAX),
            ..Self::linux()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nic_is_faster_than_the_path_that_it_feeds() {
        let nic = |mbit: u64| usual_nic_rate(DataRate::from_bps(mbit * 1_000_000)).bps() / 1_000_000;
        assert_eq!([100, 1_000, 9_999, 10_000, 100_000].map(nic), [10_000, 10_000, 10_000, 25_000, 200_000]);
        assert_eq!(nic(1_000_000), 1_000_000, "no NIC is faster than 800 Gbit/s");
    }
}
