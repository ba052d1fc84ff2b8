//! `linerate import`.

use std::path::PathBuf;

use clap::Args;

/// Read what iperf3 or nuttcp have printed, say what it says, and keep each test as a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate import result.json                     what `iperf3 -J` has printed
  iperf3 -c dtn.example.org -J | linerate import -
  linerate import --no-archive ticket-4711.txt    a pasted terminal with several tests

The formats, and what they cannot tell: docs/formats/import.md")]
pub struct ImportArgs {
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Do not keep the runs
    #[arg(long)]
    pub no_archive: bool,
}
