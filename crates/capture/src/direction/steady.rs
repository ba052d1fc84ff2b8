//! The level at which a writer is woken whose flight hardly drains.

use super::refill::UsualLevel;
use super::wake::Burst;

/// A level that bursts agree on to an acknowledgment or two, behind pauses in which many were not answered. While a writer's kernel paces what
/// it wrote before, nearly as much leaves as is acknowledged, and a flight that hardly drains shows the level all the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SteadyLevel {
    left: UsualLevel,
    /// Bursts that an acknowledgment released, as a level of one among those that none did.
    released: UsualLevel,
}

impl SteadyLevel {
    pub(super) fn take(&mut self, burst: Burst, is_at_once: bool) {
        let acknowledged = burst.peak.saturating_sub(burst.after) / u64::from(burst.roomy.max(1));
        self.left.take(burst.after.cast_signed(), 2 * acknowledged);
        self.released.take(if is_at_once { 0 } else { i64::MAX }, 0);
    }

    pub(super) fn is_found(&self) -> bool {
        self.left.is_mostly() && self.released.is_mostly() && self.released.is_at(0)
    }
}
