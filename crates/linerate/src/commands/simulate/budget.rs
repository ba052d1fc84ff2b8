//! How often a transfer is simulated again unasked: as long as nobody has to wait for it.

use sim::Outcome;

/// What it costs to simulate a transfer once more: steps of the simulator's clock.
#[derive(Debug, Clone, Copy)]
pub struct RunCost(u64);

impl RunCost {
    /// As much as it cost once. Flows that share a path count the steps of all of them.
    pub fn of(outcomes: &[Outcome]) -> Self {
        Self(outcomes.iter().map(|outcome| outcome.steps).max().unwrap_or_default())
    }

    /// Whether so many more runs, all together, take too little time to be waited for.
    pub fn allows(self, runs: u64) -> bool {
        self.0.saturating_mul(runs) <= MOST_STEPS
    }
}

/// Less than a second of one core: of the 12 to 24 million steps that the optimised simulator does in one, from losses on
/// 10 Gbit/s to a full path of 1 Gbit/s.
const MOST_STEPS: u64 = 9_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_for_all_runs_together() {
        assert!(RunCost(1_000_000).allows(9));
        assert!(!RunCost(1_000_000).allows(10));
        assert!(!RunCost(MOST_STEPS + 1).allows(1));
        assert!(!RunCost(u64::MAX).allows(u64::MAX));
    }
}
