//! `linerate view`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Show rounds, runs and hosts as pages in a browser, on this machine: grids, diagnoses, samples, history. Reads files or
/// an archive, and changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate view                       what the archive has
  linerate view last                  the newest round of the archive
  linerate lab run policer --virtual --evidence round.json; linerate view round.json
  linerate view results/              rounds, exported runs and snapshots of hosts (JSON) of a folder
  linerate view other.db              another archive
  linerate view /var/lib/linerate/hub what a hub on this machine has: incidents, grid, pairs, runs, hosts

Each page has its JSON under /view/v1: docs/formats/web.md. Every user of this machine can open the pages while it runs.")]
pub struct ViewArgs {
    /// A round, an exported run or a snapshot (JSON), a folder of those, an archive, the directory of a hub, or the name of a round or run in the archive
    /// [default: the archive]
    #[arg(value_name = "ROUND|RUN|DIR|ARCHIVE")]
    pub what: Option<PathBuf>,
    /// Address to listen on; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
}
