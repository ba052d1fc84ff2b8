//! `linerate hub replay`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

/// Write a hub's history of a scenario in virtual time: rounds in which nothing is wrong, then its faults, then rounds without them. The hub
/// that is made so has judged and explained all of it as if agents had measured it, and shows it like any other. Takes seconds, no
/// rights and no network.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate hub replay hub nrao-overlay-offload
  linerate view hub                                    incidents, grids and histories, in a browser
  linerate report hub I1798000000-1234 --html report.html

Exit code 10: the faults are in the history, and no incident names their cause.")]
pub struct ReplayArgs {
    /// Directory of the hub, which must not be there yet
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// A file with faults, or a name of the library (`linerate lab list`)
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    /// Time from one round to the next
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = values::span_above_zero)]
    pub every: Duration,
    /// Rounds before anything is wrong
    #[arg(long, value_name = "COUNT", default_value_t = 28, value_parser = clap::value_parser!(u32).range(12..=2000))]
    pub before: u32,
    /// Rounds with the faults
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=2000))]
    pub during: u32,
    /// Rounds after the fix, without the faults
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(0..=2000))]
    pub after: u32,
    /// Random seed; equal seeds give equal rounds
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
