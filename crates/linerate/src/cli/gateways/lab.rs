//! `linerate gateways lab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::super::values;

/// Policies on a real cluster.
#[derive(Debug, Args)]
pub struct LabArgs {
    /// Experiment file whose gateways and load are used, or a built-in one [default: five gateways, 93 % of their capacity]
    pub file: Option<PathBuf>,
    /// Policies [default: all that XRootD 5.5.3 can be configured to]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Runs of each policy, each with files of its own
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repetitions: u32,
    /// Time of a run that is counted
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::span)]
    pub time: Duration,
    /// Time before that
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = values::span)]
    pub warm_up: Duration,
    /// Divide rates and sizes of the model by this
    #[arg(long, value_name = "FACTOR", default_value_t = 400.0)]
    pub scale: f64,
    /// Have this gateway report full load for 15 s, and say what it gets when it is back
    #[arg(long, value_name = "GATEWAY")]
    pub busy: Option<usize>,
    /// Random seed; equal seeds want equal files
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}
