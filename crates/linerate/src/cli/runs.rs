//! `linerate runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// List, show, export and remove stored runs.
#[derive(Debug, Args)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub action: RunsAction,
}

/// What to do with runs. A run is named by its id, the start of it, or `last`.
#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// List runs, the newest first
    List {
        /// Most to list
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
        /// Only with this peer
        #[arg(long, value_name = "HOST")]
        peer: Option<String>,
        /// Only those that failed
        #[arg(long)]
        failed: bool,
    },
    /// Show a run as it was shown when it ended
    Show {
        /// Its id, the start of it, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// With each interval
        #[arg(long, short)]
        intervals: bool,
        /// Draw it over time too, as SVG or PNG
        #[arg(long, value_parser = super::values::picture, value_name = "FILE")]
        plot: Option<PathBuf>,
    },
    /// Show what differs between two runs, or between two repeated tests, and whether it is more than noise
    Compare {
        /// The first one: its id, the start of it, or `last`
        a: String,
        /// The second one
        #[arg(default_value = "last")]
        b: String,
    },
    /// Write a run out, for other programs or another machine
    #[command(after_help = "Examples:
  linerate runs export last > run.json
  linerate runs export last --format samples-csv -o samples.csv")]
    Export {
        /// Its id, the start of it, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// What to write
        #[arg(long, default_value = "json")]
        format: ExportFormat,
        /// File to write [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove runs
    Rm {
        /// Their ids, or the starts of them
        #[arg(required = true)]
        runs: Vec<String>,
    },
}

/// What an export holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything, samples included
    Json,
    /// One line an interval
    Csv,
    /// One line a sample
    SamplesCsv,
}
