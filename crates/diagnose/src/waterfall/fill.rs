//! How full something is that has a limit.

/// What is used of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub(super) used: u64,
    pub(super) limit: u64,
}

impl Fill {
    /// Whether it leaves no room for another burst.
    pub(super) fn is_full(self) -> bool {
        u128::from(self.used) * 100 >= u128::from(self.limit) * FULL_PERCENT
    }

    /// Without a limit nothing is.
    pub(super) fn thousandths(self) -> u64 {
        self.used.saturating_mul(1_000).checked_div(self.limit).unwrap_or(0)
    }
}

/// A window this full cannot take another burst of segments (64 KiB at most).
const FULL_PERCENT: u128 = 85;
