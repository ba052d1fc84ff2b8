//! What is simulated, and what came of it.

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
