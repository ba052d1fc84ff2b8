//! What is under way and what comes next, for people.

use mesh::run::{RunRow, RunState};

use super::Schedule;
use crate::api::runs::{MOST, RunInfo, RunStage, Runs};

impl Schedule {
    /// The runs that are not over.
    #[must_use]
    pub fn ahead(&self) -> Runs {
        let state = self.state();
        let staged = |run| stage(run).map(|stage| (stage, run));
        let mut runs: Vec<(RunStage, &RunRow)> = state.board.runs().filter_map(staged).collect();
        runs.sort_by_key(|(stage, run)| (*stage, run.not_before, run.deadline));
        let more = runs.len().saturating_sub(MOST) as u64;
        Runs { runs: runs.into_iter().take(MOST).map(|(stage, run)| info(stage, run)).collect(), more }
    }
}

/// [`None`] of a run that is over.
const fn stage(run: &RunRow) -> Option<RunStage> {
    match run.state {
        RunState::Leased { .. } => Some(RunStage::Running),
        RunState::Missing { .. } => Some(RunStage::Missing),
        RunState::Waiting => Some(RunStage::Waiting),
        RunState::Done { .. } | RunState::Closed { .. } => None,
    }
}

fn info(stage: RunStage, run: &RunRow) -> RunInfo {
    RunInfo {
        id: run.id.clone(),
        test: run.test.clone(),
        from: run.from.clone(),
        to: run.to.clone(),
        agent: run.agent.clone(),
        priority: run.priority,
        stage,
        not_before: run.not_before,
        keep: run.keep,
    }
}
