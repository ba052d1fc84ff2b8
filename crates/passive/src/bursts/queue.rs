//! The buffer before a slower link that packets would have filled.

use std::time::Duration;

use model::bursts::QueueNeed;
use units::{ByteCount, DataRate};

/// A queue that nothing leaves but at the rate of the link. Model: the packets of a bucket come at once at its start, so that
/// the most is at most one bucket too much.
#[derive(Debug, Clone, Copy)]
pub(super) struct VirtualQueue {
    rate: DataRate,
    stands: u64,
    most: u64,
}

impl VirtualQueue {
    pub(super) fn new(rate: DataRate) -> Self {
        Self { rate, stands: 0, most: 0 }
    }

    /// Packets come, so long after the last ones.
    pub(super) fn push(&mut self, bytes: u64, since: Duration) {
        let left = (self.rate * since).get();
        self.stands = self.stands.saturating_sub(left).saturating_add(bytes);
        self.most = self.most.max(self.stands);
    }

    pub(super) fn need(self) -> QueueNeed {
        QueueNeed { rate: self.rate, most: ByteCount::new(self.most) }
    }
}
