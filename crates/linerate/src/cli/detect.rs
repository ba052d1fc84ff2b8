//! `linerate detect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values;

/// Find changes in a series of results: steps, slow drifts, more spread, changed shares of two levels.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate detect rates.csv --plot rates.svg        columns: time, and one of numbers
  linerate detect perfsonar.csv --value goodput_bps --time ts
  linerate detect loss.csv --scale difference

Exit code 10 says that something changed. Method and how good it is: docs/detection.md")]
pub struct DetectArgs {
    /// CSV file with a header line
    pub file: PathBuf,
    /// Column of values [default: the only one that holds numbers]
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,
    /// Column of times: seconds since 1970 or RFC 3339 [default: time, timestamp, date, datetime, ts or at]
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// How values are compared
    #[arg(long, value_enum, default_value = "ratio")]
    pub scale: ScaleArg,
    /// Which rule judges
    #[arg(long, value_enum, default_value = "linerate")]
    pub rule: RuleArg,
    /// Plot results, levels and changes to this SVG or PNG file
    #[arg(long, value_parser = values::picture, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// On which scale values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// By ratio: rates, RTTs
    Ratio,
    /// By difference: loss, counts
    Difference,
}

/// Whose rule decides what counts as a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleArg {
    /// Screen, placement and classification of linerate
    Linerate,
    /// WLCG's alarm for lower throughput
    Wlcg,
    /// SLAC's plateau detector
    Slac,
}
