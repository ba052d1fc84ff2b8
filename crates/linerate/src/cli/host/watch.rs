//! `linerate host watch`.

use std::time::Duration;

use clap::Args;

use crate::cli::values;

/// Watch this host and enter in its change log what is set otherwise: sysctls, features, rings, queues, interrupts, routes,
/// disciplines, devices; when, from what to what, and by whom where the kernel tells. Runs until it is stopped. As root it
/// is told who writes to /proc and /sys; any user can watch.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host watch                            until Ctrl-C; `linerate host log` shows what was entered
  linerate host watch --all-netns --print        containers and other namespaces as well, each change on a line
  linerate host watch --archive /var/lib/linerate/archive.db    as a service does: docs/change-log.md has the unit

What changed while nobody watched is found at the start, against what the last watcher knew, or else against the newest
kept snapshot of this host.")]
pub struct WatchArgs {
    /// How often everything is read and compared, for what comes without an event
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = values::watch_interval)]
    pub interval: Duration,
    /// All network namespaces that this process may enter, with those that come
    #[arg(long)]
    pub all_netns: bool,
    /// Print each entry when it is in the log (with --json: as JSON, one a line)
    #[arg(long)]
    pub print: bool,
}
