//! A loss that TCP noticed.

use model::transfer::LossEventKind;
use units::MonoTime;

/// When a sender took segments for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedLoss {
    pub(super) at: MonoTime,
    pub(super) kind: LossEventKind,
}
