//! `linerate import`.

use std::path::PathBuf;

use clap::Args;
use units::DataRate;

use super::declared::DeclaredArgs;
use super::values;

/// Read what iperf3, nuttcp and other tools have printed, show what it says, and store each test as a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate import result.json                     output of `iperf3 -J`
  iperf3 -c dtn.example.org -J | linerate import -
  linerate import --no-archive ticket-4711.txt    a pasted terminal with several tests
  linerate import --rtt 190ms la-serena.log       with what the log does not say

The formats, and what they cannot tell: docs/formats/import.md")]
pub struct ImportArgs {
    /// Input files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Do not store the runs
    #[arg(long)]
    pub no_archive: bool,
    /// Goodput that the tests should have reached
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "What the log does not say")]
    pub expect: Option<DataRate>,
    #[command(flatten)]
    pub declared: DeclaredArgs,
}
