//! `simulate flow` with several seeds: how far its numbers are chance.

use path::Seed;
use sim::flow::{FlowError, Outcome};
use sim::spread::{Spread, Total};

use crate::cli::Common;
use crate::cli::simulate::FlowArgs;

/// Steps of the clock that the first seed took.
#[derive(Debug, Clone, Copy)]
pub struct Steps(u64);

impl Steps {
    /// Those of each flow are of all that share the path.
    pub fn of(outcomes: &[Outcome]) -> Self {
        Self(outcomes.iter().map(|outcome| outcome.steps).max().unwrap_or_default())
    }
}

/// What further seeds give; [`None`] where one was asked for, or where another gives the same.
pub fn over(
    common: &Common,
    args: &FlowArgs,
    first: Total,
    steps: Steps,
    run: impl Fn(Seed) -> Result<Total, FlowError>,
) -> anyhow::Result<Option<Spread>> {
    let seeds = args.seeds.unwrap_or_else(|| usual(common, steps));
    if seeds == 1 {
        return Ok(None);
    }
    Spread::over(seeds, Seed(args.seed), first, run).map_err(|error| super::flow::complaint(&error))
}

/// A person who did not ask gets ten, where that is not waited for; a program gets what it asked for.
fn usual(common: &Common, steps: Steps) -> u32 {
    const USUAL: u32 = 10;
    // Less than a second of one core for all of them.
    const MOST_STEPS: u64 = 1_000_000;
    if common.json || common.quiet || steps.0 > MOST_STEPS { 1 } else { USUAL }
}
