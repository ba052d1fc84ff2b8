//! `linerate plan`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use plan::downloads::FileHost;

use super::values;

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
    /// Write a plan that fetches one file from each site every week, directly and through a proxy
    Downloads(DownloadsArgs),
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

/// Write a plan to standard output that has each site fetch the same file by HTTP, directly from its servers and through a proxy. The page
/// `/downloads` of the hub has its history: which site became slower, since when, and whether the proxy is why. A site needs an agent, a
/// server does not.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  linerate plan downloads --file /dataPortal/cube.fits --site arc-na --site arc-eu \\
      --server na-arc-1.example.org:8088 --server na-arc-2.example.org:8088 --proxy archive.example.org > weekly.toml
  linerate hub plan /var/lib/linerate/hub weekly.toml")]
pub struct DownloadsArgs {
    /// The file, as it stands in its URL behind the name of the server
    #[arg(long, value_name = "PATH")]
    pub file: String,
    /// Host with an agent that fetches it, repeatable
    #[arg(long, required = true, value_name = "HOST")]
    pub site: Vec<FileHost>,
    /// Server that has it, repeatable
    #[arg(long, required = true, value_name = "HOST[:PORT]")]
    pub server: Vec<FileHost>,
    /// Proxy that passes it on, repeatable
    #[arg(long, value_name = "HOST[:PORT]")]
    pub proxy: Vec<FileHost>,
    /// Time from one download to the next of the same site and server
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = values::span_above_zero)]
    pub every: Duration,
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
