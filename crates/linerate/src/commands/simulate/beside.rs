//! `simulate flow --beside RUN`: what a run measured, laid over what is simulated.

use std::time::Duration;

use model::measurement::{DirectionTotal, Interval};
use model::played::Finding;
use model::run::Run;
use model::series::RunSamples;
use report::timeline::Timeline;
use serde::Serialize;

use super::source::{Source, chosen};
use crate::exit::{Complaint, Exit};

/// A transfer that was measured.
#[derive(Serialize)]
pub struct Measured {
    pub total: DirectionTotal,
    /// In steps of time, the first from the start of the transfer.
    pub intervals: Vec<Interval>,
}

/// What a run measured, or one test of a round; in longer steps where it was kept without samples.
pub fn measured(source: &Source, name: &str, test: Option<&str>) -> anyhow::Result<Measured> {
    let found = match source {
        Source::Round(round) => match &chosen(round, test)?.finding {
            Finding::Run(run) => of_run(run, &RunSamples::default()),
            _ => None,
        },
        Source::Run { run, samples, .. } => of_run(run, samples),
    };
    found.ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("{name} measured no transfer over TCP that could be laid beside"))
            .hint("`linerate runs list` shows what was measured")
            .into()
    })
}

fn of_run(run: &Run, samples: &RunSamples) -> Option<Measured> {
    let measurement = run.measurement.as_ref()?;
    let total = measurement.totals.iter().max_by_key(|total| total.goodput)?;
    let step = (total.elapsed / MOST_STEPS).max(SHORTEST_STEP);
    let sampled =
        Timeline::new(&samples.streams, total.heading).map(|timeline| timeline.intervals(step, total.elapsed));
    let kept = || measurement.intervals.iter().filter(|interval| interval.heading == total.heading).cloned().collect();
    Some(Measured { total: total.clone(), intervals: sampled.unwrap_or_else(kept) })
        .filter(|of| !of.intervals.is_empty())
}

/// More would not be seen in a picture.
const MOST_STEPS: u32 = 200;
/// Shorter steps show the rhythm of samples, and not that of the transfer.
const SHORTEST_STEP: Duration = Duration::from_millis(50);
