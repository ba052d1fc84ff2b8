//! Which segments were lost and which passed, with what had been sent before them: the input of the policer test.

use std::collections::VecDeque;

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

    /// A DSACK names bytes that arrived twice. Returns when the retransmissions of them were sent.
    pub(crate) fn arrived_twice(&mut self, from: u64, to: u64) -> impl Iterator<Item = i64> {
        let mut times = Vec::new();
        for index in self.recent.iter().rev() {
            let Some(loss) = self.losses.get_mut(*index) else { continue };
            if loss.from < to && from < loss.from + u64::from(loss.bytes) && !loss.is_spurious {
                loss.is_spurious = true;
                times.push(loss.retransmitted_ns);
                if loss.from <= from && to <= loss.from + u64::from(loss.bytes) {
                    break;
                }
            }
        }
        times.into_iter()
    }
}
