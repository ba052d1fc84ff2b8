//! A direction as the rules see it.

use crate::direction::Direction;
use crate::direction::owner::Owner;

/// Owners with less of the time are not worth a verdict.
pub(super) const LEAST_SHARE: f64 = 0.05;

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

    /// Share of the time in which losses were repaired.
    pub(super) fn repair_share(&self) -> f64 {
        self.share(Owner::Recovery) + self.share(Owner::Timeout)
    }
}
