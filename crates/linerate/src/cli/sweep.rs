//! `linerate simulate sweep`, `merge` and `show`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use sweep::Share;

/// An experiment that is to be simulated.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Sweep file (docs/formats/sweep.md), or a built-in one: amlight
    pub file: PathBuf,
    #[command(flatten)]
    pub part: PartArgs,
    /// Print number of flows and estimated time only
    #[arg(long)]
    pub dry_run: bool,
    /// Allow more than 10000 flows
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Which part of an experiment is simulated, and where its result goes.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// Output file [default: NAME.parquet]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Simulate one shard only: 2/8 is the second of 8
    #[arg(long, value_name = "I/N", value_parser = share)]
    pub shard: Option<Share>,
    /// Parallel simulations [default: one per CPU]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,
}

/// Results that are put together.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results of all shards
    #[arg(required = true, value_name = "RESULT")]
    pub parts: Vec<PathBuf>,
    /// Output file
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// A result that is read again.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Result of a sweep or a merge
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,
    /// Figures and expectations from this sweep file, otherwise unchanged
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How a result is shown.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// Group rows by these parameters, or `variant` [default: all that vary]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub by: Option<Vec<String>>,
    /// Write the figures of the sweep to this directory
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
}

fn share(text: &str) -> Result<Share, String> {
    text.parse().map_err(|error: sweep::share::NoShare| error.to_string())
}
