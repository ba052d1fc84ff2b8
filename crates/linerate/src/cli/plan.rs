//! `linerate plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Write and check plans that a hub runs for good.
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(subcommand)]
    pub action: PlanAction,
}

/// What to do with a plan.
#[derive(Debug, Subcommand)]
pub enum PlanAction {
    /// Write a first plan, from snapshots of the hosts
    Init(InitArgs),
    /// Say whether a plan fits, what would, and what a day of it looks like
    Check(CheckArgs),
}

/// Write a first plan to standard output, from what hosts know of themselves: address and link speed towards the world, group, NIC.
/// What no host knows is a note on standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate plan init a.json b.json c.json > mesh.toml    snapshots that `linerate host snapshot --json` wrote
  linerate plan init . dtn-west dtn-east > mesh.toml     this host, and the newest kept snapshots of two others
  linerate plan check mesh.toml

docs/mesh.md says how plans are run, docs/formats/plan.md what may stand in them.")]
pub struct InitArgs {
    /// Hosts: files of snapshots, names of hosts with a kept snapshot, `.` for this host
    #[arg(value_name = "HOST", required = true)]
    pub hosts: Vec<String>,
}

/// Say whether a plan that runs for good fits: hours of each host and shared link, bytes of each budget, and what would fit
/// where it does not. Nothing is sent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate plan check mesh.toml            what it needs of a day, and the busiest hosts
  linerate plan check mesh.toml --times    each run of a day with its time
  linerate plan check mesh.toml --json     for programs: docs/formats/plan-check.schema.json

Ends with 10 where it does not fit. docs/mesh.md says how plans are run.")]
pub struct CheckArgs {
    /// A plan (TOML) or a psConfig template (JSON)
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// List each run of the day with its time
    #[arg(long)]
    pub times: bool,
    /// Seed of the random starts; equal seeds give equal days
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
