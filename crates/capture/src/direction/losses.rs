//! Which segments were lost and which passed, with what had been sent before them: the input of the policer test.

use std::collections::VecDeque;
use std::ops::Range;

/// A segment that was retransmitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub(crate) sent_ns: i64,
    /// Bytes on the wire before it, retransmissions included.
    pub(crate) sent_before: u64,
    pub(crate) from: u64,
    pub(crate) bytes: u32,
    /// Its RTT over the least, at the time of the loss.
    pub(crate) queue_ns: i64,
    pub(crate) retransmitted_ns: i64,
    pub(crate) is_spurious: bool,
    /// By how much the original came later than its path takes, where it arrived behind its copy: that is measured.
    pub(crate) late_ns: Option<i64>,
    /// It was lost before the capture: `sent_before` of others does not count it.
    pub(crate) was_unseen: bool,
}

/// A segment that arrived, or the retransmission of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) sent_ns: i64,
    /// Bytes on the wire before it, retransmissions included.
    pub(crate) sent_before: u64,
    /// Its RTT, where no hole was open before it.
    pub(crate) rtt_ns: Option<i64>,
    /// The sender's time stamp, where it has one.
    pub(crate) stamp: Option<u32>,
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct LossRecord {
    pub(crate) losses: Vec<Loss>,
    pub(crate) passes: Vec<Pass>,
    stride: u32,
    since: u32,
    /// The last retransmissions, to find those that a DSACK names.
    recent: VecDeque<usize>,
}

impl Default for LossRecord {
    fn default() -> Self {
        Self { losses: Vec::new(), passes: Vec::new(), stride: 1, since: 0, recent: VecDeque::new() }
    }
}

const MAX_LOSSES: usize = 8_192;
const MAX_PASSES: usize = 8_192;
const MAX_RECENT: usize = 4_096;
/// A second arrival that is so much later than the copy would be is that of the original.
const LEAST_BEHIND_NS: i64 = 5_000_000;

impl LossRecord {
    pub(crate) fn lost(&mut self, loss: Loss) {
        if self.losses.len() < MAX_LOSSES {
            if self.recent.len() >= MAX_RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(self.losses.len());
            self.losses.push(loss);
        }
    }

    #[inline]
    pub(crate) fn passed(&mut self, pass: Pass) {
        self.since += 1;
        if self.since < self.stride {
            return;
        }
        self.since = 0;
        if self.passes.len() >= MAX_PASSES {
            let mut keep = false;
            self.passes.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.passes.push(pass);
    }

    /// Whether later losses had no room.
    pub(crate) fn is_full(&self) -> bool {
        self.losses.len() >= MAX_LOSSES
    }

    /// Segments for each pass that is kept.
    pub(crate) fn stride(&self) -> u32 {
        self.stride
    }

    /// A DSACK names bytes that arrived twice; what it reports left the sender an RTT before, at `left_ns`, if nothing delayed
    /// it. Returns when the retransmissions of them were sent.
    pub(crate) fn arrived_twice(&mut self, bytes: Range<u64>, left_ns: i64) -> impl Iterator<Item = i64> {
        let Range { start: from, end: to } = bytes;
        let mut times = Vec::new();
        for index in self.recent.iter().rev() {
            let Some(loss) = self.losses.get_mut(*index) else { continue };
            if loss.from < to && from < loss.from + u64::from(loss.bytes) && !loss.is_spurious {
                loss.is_spurious = true;
                let is_original = left_ns - loss.retransmitted_ns > LEAST_BEHIND_NS;
                loss.late_ns = is_original.then_some(left_ns - loss.sent_ns);
                times.push(loss.retransmitted_ns);
                if loss.from <= from && to <= loss.from + u64::from(loss.bytes) {
                    break;
                }
            }
        }
        times.into_iter()
    }
}
