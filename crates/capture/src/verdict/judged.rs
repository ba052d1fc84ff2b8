//! A direction as the rules see it.

use crate::direction::Direction;
use crate::direction::owner::Owner;

/// Owners with less of the time are not worth a verdict.
pub(super) const LEAST_SHARE: f64 = 0.05;

/// Fewer frames of one rate are chance.
const LEAST_FRAMES: u64 = 200;

/// A direction, with what several rules need of it.
pub(super) struct Judged<'a> {
    pub(super) direction: &'a Direction,
    pub(super) total_ns: i64,
    pub(super) rtt_ns: i64,
    pub(super) mss: u64,
    /// The capture lacks too much for verdicts on loss.
    pub(super) lacks_packets: bool,
}

impl Judged<'_> {
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn share(&self, owner: Owner) -> f64 {
        if self.total_ns <= 0 { 0.0 } else { self.direction.budget.spent_ns(owner) as f64 / self.total_ns as f64 }
    }

    /// The delay of queues, where half of the RTTs have so much; whether that is more than a host makes by itself.
    pub(super) fn has_queue(&self, queue_ns: i64) -> bool {
        queue_ns > (self.rtt_ns / 20).max(1_000_000)
    }

    /// Most of what was sent left in frames of a pacing rate, and no bottleneck gives less than that: nothing was lost, and there is no queue.
    pub(super) fn is_paced(&self) -> bool {
        let Some(frames) = self.direction.frames() else { return false };
        let (paced, all) = (u64::from(frames.paced), u64::from(frames.paced) + u64::from(frames.others));
        if self.direction.counts.retransmits > 0 {
            return false;
        }
        let is_long = paced >= LEAST_FRAMES && frames.paced_ns.saturating_mul(2) >= self.total_ns;
        let queue_ns = self.direction.queue_quantile_ns(0.5).unwrap_or(0);
        is_long && paced * 10 >= all * 8 && !self.has_queue(queue_ns) && !self.direction.has_filled_bottleneck()
    }

    /// Share of the time in which losses were repaired.
    pub(super) fn repair_share(&self) -> f64 {
        self.share(Owner::Recovery) + self.share(Owner::Timeout)
    }
}
