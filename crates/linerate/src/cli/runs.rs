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
        /// Maximum number listed
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
        /// Only runs with this peer
        #[arg(long, value_name = "HOST")]
        peer: Option<String>,
        /// Only failed runs
        #[arg(long)]
        failed: bool,
    },
    /// Show the result of a run
    Show {
        /// Run id, a unique prefix of it, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// Show every interval
        #[arg(long, short)]
        intervals: bool,
        /// Plot over time as SVG or PNG
        #[arg(long, value_parser = super::values::picture, value_name = "FILE")]
        plot: Option<PathBuf>,
    },
    /// Compare two runs or two repeated tests (rank test)
    Compare {
        /// First run: id, a unique prefix, or `last`
        a: String,
        /// Second run
        #[arg(default_value = "last")]
        b: String,
    },
    /// Export a run as JSON or CSV
    #[command(after_help = "Examples:
  linerate runs export last > run.json
  linerate runs export last --format samples-csv -o samples.csv")]
    Export {
        /// Run id, a unique prefix of it, or `last`
        #[arg(default_value = "last")]
        run: String,
        /// Format
        #[arg(long, default_value = "json")]
        format: ExportFormat,
        /// Output file [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Hold everything stored against its checksum, and say what is damaged
    Check,
    /// Remove runs
    Rm {
        /// Run ids or unique prefixes
        #[arg(required = true)]
        runs: Vec<String>,
        /// Do not ask; without a terminal nothing is asked
        #[arg(long, short)]
        yes: bool,
    },
}

/// What an export holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON with all samples
    Json,
    /// CSV, a row per interval
    Csv,
    /// CSV, a row per sample
    SamplesCsv,
}
