//! `linerate simulate gateways`.

use std::path::PathBuf;

use clap::Args;

use super::super::sweep::PartArgs;

/// An experiment, or results of one.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Experiment file, a built-in one (ral-policies, ral-reports, ral-leaving, ral-load, ral-days, ral-weeks), or results (.parquet) of all shards
    #[arg(required_unless_present_any = ["policies", "from_log"])]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub part: PartArgs,
    /// Print number of runs and estimated time only
    #[arg(long)]
    pub dry_run: bool,
    /// Calibrate from records of the site: cmsd log, XRootD summary monitoring, FTS or Prometheus export; repeatable
    #[arg(long, value_name = "FILE")]
    pub from_log: Vec<PathBuf>,
    /// Write pictures to this directory: policies over what varies, and each policy's first run over time
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
    /// Print the table of policies
    #[arg(long)]
    pub policies: bool,
}
