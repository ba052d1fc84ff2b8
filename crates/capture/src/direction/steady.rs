//! The level at which a writer is woken whose flight hardly drains.

use super::pause::Burst;
use super::refill::UsualLevel;

/// A level that bursts agree on to an acknowledgment or two, behind pauses in which many were not answered. While a writer's kernel paces what
/// it wrote before, nearly as much leaves as is acknowledged, and a flight that hardly drains shows the level all the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SteadyLevel {
    left: UsualLevel,
    /// Bursts that an acknowledgment released, as a level of one among those that none did.
    released: UsualLevel,
}

/// What ended a pause.
#[derive(Debug, Clone, Copy)]
pub(super) enum PauseEnd {
    /// An acknowledgment right before the burst.
    ByAcknowledgment,
    /// Nothing that was seen.
    Otherwise,
}

impl SteadyLevel {
    pub(super) fn take(&mut self, burst: Burst, end: PauseEnd) {
        let acknowledged = burst.peak.saturating_sub(burst.after) / u64::from(burst.roomy.max(1));
        self.left.take(burst.after.cast_signed(), 2 * acknowledged);
        let level = match end {
            PauseEnd::ByAcknowledgment => 0,
            PauseEnd::Otherwise => i64::MAX,
        };
        self.released.take(level, 0);
    }

    pub(super) fn is_found(&self) -> bool {
        self.left.is_mostly() && self.released.is_mostly() && self.released.is_at(0)
    }
}

saved!(SteadyLevel { left, released });
