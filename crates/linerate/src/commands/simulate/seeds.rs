//! `simulate flow` with several seeds: how far its numbers are chance.

use path::Seed;
use sim::flow::FlowError;
use sim::spread::{Spread, Total};

use super::budget::RunCost;
use crate::cli::Common;
use crate::cli::simulate::FlowArgs;

/// What further seeds give; [`None`] where one was asked for, or where another gives the same.
pub fn over(
    common: &Common,
    args: &FlowArgs,
    first: Total,
    cost: RunCost,
    run: impl Fn(Seed) -> Result<Total, FlowError>,
) -> anyhow::Result<Option<Spread>> {
    let seeds = args.seeds.unwrap_or_else(|| usual(common, cost));
    if seeds == 1 {
        return Ok(None);
    }
    Spread::over(seeds, Seed(args.seed), first, run).map_err(|error| super::flow::complaint(&error))
}

/// A person who did not ask gets ten, where that is not waited for; a program gets what it asked for.
fn usual(common: &Common, cost: RunCost) -> u32 {
    const USUAL: u32 = 10;
    let is_waited_for = !cost.allows(u64::from(USUAL - 1));
    if common.json || common.quiet || is_waited_for { 1 } else { USUAL }
}
