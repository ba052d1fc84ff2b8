//! Losses of a flow's start: slow start doubles the rate until a queue overflows, whatever the path loses later.

use std::time::Duration;

use model::measurement::{DirectionTotal, Interval};
use model::run::Run;
use units::ByteCount;

/// A flow that lost nearly all that it lost while it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossOfStart {
    /// When its start was over, from the first byte on.
    pub until: Duration,
    /// Segments retransmitted until then.
    pub first: u64,
    /// Segments retransmitted from then on.
    pub later: u64,
    /// Payload from then on.
    pub bytes: ByteCount,
    /// How long the rest took.
    pub rest: Duration,
}

impl LossOfStart {
    /// That of one direction over TCP; `None` where intervals do not show it, losses go on, or the sender was sampled.
    #[must_use]
    pub fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        // Samples of a sender's kernel tell its start from what follows better than intervals do, and have readers of their own.
        run.spec.sample_every.is_zero().then_some(())?;
        let found = run.measurement.as_ref()?;
        let intervals: Vec<&Interval> = found.intervals.iter().filter(|of| of.heading == total.heading).collect();
        let all = total.retransmits.filter(|count| count.get() > 0)?.get();
        let counts: Vec<u64> =
            intervals.iter().map(|of| of.retransmits.map(|count| count.get())).collect::<Option<_>>()?;
        // Another count of all would mean that intervals are missing.
        (intervals.len() >= FEWEST && counts.iter().sum::<u64>() == all).then_some(())?;
        // A few that are lost later do not make the first ones steady.
        let mut later = all;
        let is_most = |count: &u64| {
            later -= count;
            later * FEW <= all
        };
        let at = counts.iter().position(is_most)?;
        let end = intervals[at].end;
        let rest = intervals.last()?.end.checked_sub(end)?;
        let is_start = end <= LONGEST && rest >= end * LONGER;
        is_start.then(|| Self {
            until: end,
            first: all - later,
            later,
            bytes: ByteCount::new(intervals[at + 1..].iter().map(|of| of.bytes.get()).sum()),
            rest,
        })
    }
}

/// Of fewer intervals the first is no start.
const FEWEST: usize = 5;
/// Of so many retransmits one may come later.
const FEW: u64 = 20;
/// The start of a flow over the longest of paths that people use.
const LONGEST: Duration = Duration::from_secs(6);
/// What follows the start has to be longer by this factor.
const LONGER: u32 = 3;
