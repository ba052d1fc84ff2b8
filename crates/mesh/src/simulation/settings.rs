//! What is simulated, and what came of it.

use path::Seed;
use path::random::SeededRng;

use super::ledger::Violation;

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Hosts with an agent each.
    pub agents: usize,
    /// Hubs on one database.
    pub hubs: usize,
    /// For how long things go wrong, in minutes.
    pub minutes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { agents: 4, hubs: 2, minutes: 40 }
    }
}

impl Settings {
    /// Meshes of all sizes: 2 to 5 agents, 1 to 3 hubs, 10 to 30 minutes, another with each seed.
    #[must_use]
    pub fn of_size(seed: Seed) -> Self {
        let mut rng = SeededRng::new(seed.part(SIZE));
        let mut draw = |below| usize::try_from(rng.below(below)).unwrap_or(0);
        Self { agents: 2 + draw(4), hubs: 1 + draw(3), minutes: 10 * (1 + draw(3) as u64) }
    }
}

/// Sizes are drawn apart from what happens.
const SIZE: u64 = 0x517e;

/// What came of a simulation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// What must never be, and was.
    pub violations: Vec<Violation>,
    /// Runs that were planned.
    pub planned: usize,
    /// Of those, carried out.
    pub carried_out: usize,
    /// Results stored.
    pub stored: usize,
    /// Closed without a result, with a reason.
    pub closed: usize,
    /// Faults that struck.
    pub faults: usize,
    /// Leases that were over before a result came.
    pub expired: usize,
}

impl Summary {
    /// Adds what came of another simulation.
    pub fn add(&mut self, other: Self) {
        self.violations.extend(other.violations);
        self.planned += other.planned;
        self.carried_out += other.carried_out;
        self.stored += other.stored;
        self.closed += other.closed;
        self.faults += other.faults;
        self.expired += other.expired;
    }
}

/// Why nothing was simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The plan is none.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// It does not fit.
    #[error(transparent)]
    Unfit(#[from] crate::fit::Unfit),
}
