//! A loss that TCP noticed, and what it retransmitted.

use std::time::Duration;

use model::transfer::{LossEventKind, RetransmitRun};
use units::MonoTime;

/// When a sender took segments for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedLoss {
    pub(super) at: MonoTime,
    pub(super) kind: LossEventKind,
}

/// Retransmissions one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedRun {
    first: MonoTime,
    last: MonoTime,
    transmissions: u64,
}

impl TimedRun {
    /// As a transfer that began at a moment has it.
    pub(super) fn since(&self, start: MonoTime) -> RetransmitRun {
        let Self { first, last, transmissions } = *self;
        RetransmitRun { at: first.since(start), length: last.since(first), transmissions }
    }
}

/// Adds a retransmission to the last run, or begins one; of more than [`MOST_RUNS`] the rest is left out.
pub(super) fn retransmitted(runs: &mut Vec<TimedRun>, at: MonoTime) {
    if let Some(run) = runs.last_mut().filter(|run| at.since(run.last) <= APART) {
        run.last = run.last.max(at);
        run.transmissions += 1;
    } else if runs.len() < MOST_RUNS {
        runs.push(TimedRun { first: at, last: at, transmissions: 1 });
    }
}

/// Events are read ten times a second, so those of one loss may be two reads apart; the least timeout of TCP is 200 ms (`TCP_RTO_MIN`).
const APART: Duration = Duration::from_millis(300);
/// More would say the same.
const MOST_RUNS: usize = 64;
