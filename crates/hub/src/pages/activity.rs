//! What agents measure at this moment, and how far the present period of the plan is.

use std::sync::PoisonError;
use std::time::Duration;

use mesh::clock;
use mesh::incident::Metric;
use mesh::run::{RunRow, RunState};
use units::WallTime;
use web::source::SourceError;
use web::source::activity::{ActiveRun, Activity, MOST_RUNS, RunProgress};

use super::latest::Progress;
use super::{HubSource, broken};
use crate::schedule::planned::Planned;

impl HubSource {
    /// Runs that are not over; [`None`] before the first plan.
    pub(super) fn now_measured(&self) -> Result<Option<Activity>, SourceError> {
        let Some(planned) = self.planned()? else { return Ok(None) };
        let now = linux::clock::wall_now();
        let open = self.store.open_runs(MOST_READ).map_err(|error| broken(&error))?;
        let begun = open.rows.iter().filter(|row| progress(row) != RunProgress::Waiting).count();
        let running = open.rows.iter().filter(|row| progress(row) == RunProgress::Running).count();
        let Progress { measured, known, .. } = self.progress(&planned, now)?;
        let mut runs: Vec<ActiveRun> = open.rows.into_iter().filter(|row| !row.is_over()).map(active).collect();
        runs.sort_by_key(|run| (run.progress, run.due));
        runs.truncate(MOST_RUNS);
        let all_open = usize::try_from(open.all).unwrap_or(usize::MAX);
        Ok(Some(Activity {
            runs,
            running,
            waiting: all_open.saturating_sub(begun),
            measured,
            known,
            period_s: planned.period().as_secs(),
        }))
    }
}

impl HubSource {
    fn progress(&self, planned: &Planned, now: WallTime) -> Result<Progress, SourceError> {
        let mut counted = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |progress: &Progress| {
            let counts_for = if progress.known > MANY { MANY_COUNTED_FOR } else { COUNTED_FOR };
            clock::between(progress.at, now) < counts_for
        };
        if let Some(progress) = counted.filter(is_fresh) {
            return Ok(progress);
        }
        let series = self.known(planned, now)?;
        let since = clock::earlier(now, planned.period());
        let (mut measured, mut known) = (0, 0);
        for (key, recent) in series.since(WallTime::default()) {
            if matches!(key.metric, Metric::Goodput | Metric::DownloadRate) {
                known += 1;
                measured += usize::from(recent.at >= since);
            }
        }
        drop(series);
        Ok(*counted.insert(Progress { measured, known, at: now }))
    }
}

fn active(row: RunRow) -> ActiveRun {
    ActiveRun { progress: progress(&row), test: row.test, from: row.from, to: row.to, due: row.not_before }
}

const fn progress(row: &RunRow) -> RunProgress {
    match row.state {
        RunState::Leased { .. } => RunProgress::Running,
        RunState::Missing { .. } => RunProgress::Missing,
        _ => RunProgress::Waiting,
    }
}

/// Two heavy runs of each of a thousand hosts are under way at most, and of those that wait a page lists some.
const MOST_READ: usize = 600;
/// Pairs of which counting takes as long as the rest of a page.
const MANY: usize = 100_000;
const MANY_COUNTED_FOR: Duration = Duration::from_secs(60);
const COUNTED_FOR: Duration = Duration::from_secs(2);
