//! The numbers of a line.

use std::time::Duration;

use units::{ByteCount, DataRate};

use crate::parsed::{Datagrams, PrintedAmount};

/// A line with numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Numbers {
    /// Payload received.
    pub(crate) bytes: ByteCount,
    pub(crate) elapsed: Duration,
    pub(crate) rate: DataRate,
    /// Per cent of a processor at both ends; only the summary has them.
    pub(crate) shares: Option<(u32, u32)>,
    pub(crate) retransmits: Option<u64>,
    pub(crate) cwnd: Option<PrintedAmount>,
    pub(crate) rtt: Option<Duration>,
    pub(crate) datagrams: Option<Datagrams>,
    /// Payload sent.
    pub(crate) sent: Option<ByteCount>,
    pub(crate) jitter: Option<Duration>,
}

/// Windows are printed in whole KB.
pub(super) fn window(kilobytes: u64) -> Option<PrintedAmount> {
    Some(PrintedAmount { bytes: ByteCount::new(kilobytes.checked_mul(1024)?), within: 1024 })
}

/// Counts of each stream: `5+0+7`.
pub(super) fn list_sum(text: &str) -> Option<u64> {
    text.split('+').try_fold(0_u64, |sum, part| sum.checked_add(part.parse().ok()?))
}
