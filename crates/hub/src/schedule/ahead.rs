//! What is under way and what comes next, for people.

use mesh::run::{RunRow, RunState};

use super::Schedule;
use crate::api::runs::{MOST, RunInfo, RunProgress, Runs};

impl Schedule {
    /// The runs that are not over.
    #[must_use]
    pub fn ahead(&self) -> Runs {
        let state = self.state();
        let with_progress = |run| progress(run).map(|progress| (progress, run));
        let mut runs: Vec<(RunProgress, &RunRow)> = state.board.runs().filter_map(with_progress).collect();
        runs.sort_by_key(|(progress, run)| (*progress, run.not_before, run.deadline));
        let more = runs.len().saturating_sub(MOST) as u64;
        Runs { runs: runs.into_iter().take(MOST).map(|(progress, run)| info(progress, run)).collect(), more }
    }
}

/// [`None`] of a run that is over.
const fn progress(run: &RunRow) -> Option<RunProgress> {
    match run.state {
        RunState::Leased { .. } => Some(RunProgress::Running),
        RunState::Missing { .. } => Some(RunProgress::Missing),
        RunState::Waiting => Some(RunProgress::Waiting),
        RunState::Done { .. } | RunState::Closed { .. } => None,
    }
}

fn info(progress: RunProgress, run: &RunRow) -> RunInfo {
    RunInfo {
        id: run.id.clone(),
        test: run.test.clone(),
        from: run.from.clone(),
        to: run.to.clone(),
        agent: run.agent.clone(),
        priority: run.priority,
        progress,
        not_before: run.not_before,
        keep: run.keep,
    }
}
