//! One place in a schedule.

use std::time::Duration;

use crate::pairs::Pair;
use crate::task::Weight;

/// A test of one pair, and when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The test, by its number in the plan.
    pub test: usize,
    /// Host that asks and host that answers, by number in the plan.
    pub pair: Pair,
    /// When it begins, after the start of the round.
    pub begins: Duration,
    /// How much time is kept for it, without the rest behind it.
    pub lasts: Duration,
    /// What it does to others.
    pub weight: Weight,
}
