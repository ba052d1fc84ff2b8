//! `linerate simulate sweep`, `merge` and `show`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use sweep::Share;

/// An experiment that is to be simulated.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The file of the experiment (docs/formats/sweep.md), or the name of one that comes with this program: amlight
    pub file: PathBuf,
    /// Where the result goes [default: the name of the experiment, .parquet, in this folder]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only one share of the transfers: 2/8 is the second of eight
    #[arg(long, value_name = "I/N", value_parser = share)]
    pub shard: Option<Share>,
    /// How many transfers are simulated at once [default: one for each processor]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,
    /// Only say how many transfers these are, and how long they would take
    #[arg(long)]
    pub dry_run: bool,
    /// Do as many as the file asks for, even more than 10,000
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Results that are put together.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The results of all shares
    #[arg(required = true, value_name = "RESULT")]
    pub parts: Vec<PathBuf>,
    /// Where the whole result goes
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// A result that is read again.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The result of a sweep or of a merge
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,
    /// Take figures and expectations from this file, in which nothing else may have changed
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How a result is shown.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// Parameters whose values have a line each, and perhaps `variant`; all others are thrown together [default: all that vary]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub by: Option<Vec<String>>,
    /// Draw the figures of the experiment into this folder
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
}

fn share(text: &str) -> Result<Share, String> {
    text.parse().map_err(|error: sweep::share::NoShare| error.to_string())
}
