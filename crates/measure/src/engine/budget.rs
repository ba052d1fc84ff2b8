//! How much may still be sent, over all streams of one direction.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use model::spec::Limit;

/// A shared amount from which senders claim before they send, so that a fast stream takes over what a slow one leaves.
#[derive(Debug)]
pub struct Budget {
    left: Option<AtomicU64>,
    unit: Unit,
}

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Blocks,
}

impl Budget {
    /// The budget of a test; endless where time is the limit. `whole` is the size of the blocks that the receiver counts,
    /// where it counts nothing less: an amount of bytes is rounded up to these.
    #[must_use]
    pub fn of(limit: Limit, whole: Option<NonZeroU64>) -> Self {
        match (limit, whole) {
            (Limit::Time(_), _) => Self { left: None, unit: Unit::Bytes },
            (Limit::Bytes(bytes), None) => Self { left: Some(AtomicU64::new(bytes.get())), unit: Unit::Bytes },
            (Limit::Bytes(bytes), Some(block)) => {
                Self { left: Some(AtomicU64::new(bytes.get().div_ceil(block.get()))), unit: Unit::Blocks }
            }
            (Limit::Blocks(blocks), _) => Self { left: Some(AtomicU64::new(blocks)), unit: Unit::Blocks },
        }
    }

    /// Claims up to `wanted` bytes, sent in blocks of `block`; zero where nothing is left.
    #[must_use]
    pub fn claim(&self, wanted: usize, block: usize) -> usize {
        let Some(left) = &self.left else { return wanted };
        match self.unit {
            Unit::Bytes => take(left, wanted),
            Unit::Blocks => take(left, wanted.div_ceil(block)).saturating_mul(block),
        }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }
}

/// Takes up to `wanted` from `left` and returns what was taken.
fn take(left: &AtomicU64, wanted: usize) -> usize {
    let wanted = wanted as u64;
    let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(wanted)));
    let before = before.unwrap_or_default();
    usize::try_from(before.min(wanted)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use units::ByteCount;

    use super::*;

    #[test]
    fn what_is_claimed_adds_up_to_the_limit() {
        let budget = Budget::of(Limit::Bytes(ByteCount::new(2_500)), None);
        assert_eq!([0; 4].map(|_: i32| budget.claim(1_000, 1_000)), [1_000, 1_000, 500, 0]);
        assert!(budget.is_spent());
    }

    #[test]
    fn blocks_are_whole() {
        let budget = Budget::of(Limit::Blocks(3), None);
        assert_eq!([0; 3].map(|_: i32| budget.claim(2_000, 1_000)), [2_000, 1_000, 0]);
    }

    #[test]
    fn bytes_are_rounded_up_to_whole_blocks_where_nothing_less_is_counted() {
        let budget = Budget::of(Limit::Bytes(ByteCount::new(2_500)), NonZeroU64::new(1_000));
        assert_eq!([0; 4].map(|_: i32| budget.claim(1_000, 1_000)), [1_000, 1_000, 1_000, 0]);
        assert!(budget.is_spent());
    }

    #[test]
    fn time_has_no_budget() {
        let budget = Budget::of(Limit::Time(std::time::Duration::ZERO), None);
        assert_eq!(budget.claim(77, 1), 77);
        assert!(!budget.is_spent());
    }
}
