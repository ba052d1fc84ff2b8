//! `linerate host diff`, `linerate host snapshots`, `linerate host bless`.

use clap::Args;

/// Show what is set otherwise: between two hosts, between two times of one host, between a host and its baseline, or among
/// all hosts of a group. Counters and what changes by itself are never compared; what is not known is told apart. The
/// most telling difference comes first: rare, read by a severe rule, and clear.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host diff dtn1.json dtn2.json           two snapshots
  linerate host diff baseline                      this host, and what it should be (`linerate host bless`)
  linerate host diff dtn1@2026-11-20 dtn1@latest   kept snapshots of one host, at two times
  linerate host diff 12 this                       a kept snapshot by its number, and this host
  linerate host diff --group vmhost snapshots/     who is the odd one among hosts that should be alike

A snapshot is a file, a directory of saved outputs or an archive of sosreport; the number of a kept one; HOST@latest,
HOST@baseline, HOST@TIME (2026-11-20, 2026-11-20T14:30, or 3h for three hours ago); `baseline`; or `this`.

Ends with 10 where something differs, so that cron can tell.")]
pub struct DiffArgs {
    /// What to compare; one alone is compared with this host. With --group: files, and directories of files
    #[arg(value_name = "SNAPSHOT")]
    pub sides: Vec<String>,
    /// Hosts of this group only, as `linerate host snapshot --group` calls it; without files, the newest kept snapshot of each
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Show every difference
    #[arg(long)]
    pub all: bool,
}

/// List kept snapshots, the newest first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host snapshot --keep --label 'before the upgrade'
  linerate host snapshots --host dtn1
  linerate host snapshots --prune 30      remove all but the newest 30 of each host, and those that are blessed")]
pub struct SnapshotsArgs {
    /// Only of this host
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Only of hosts of this group
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Most to list
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: u32,
    /// Remove all but so many of each host instead, the newest and the blessed ones excepted
    #[arg(long, value_name = "N", conflicts_with_all = ["host", "group"], value_parser = clap::value_parser!(u32).range(1..))]
    pub prune: Option<u32>,
}

/// Say that a snapshot is what its host should be: the baseline that `linerate host diff baseline` compares with. A host has
/// one; the one before is an ordinary snapshot again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host bless this --label commissioned     this host as it is now
  linerate host bless dtn1.json                     a snapshot from a file is kept, too
  linerate host bless --remove dtn1                 dtn1 has no baseline any more")]
pub struct BlessArgs {
    /// The snapshot: a file, the number of a kept one, HOST@latest, HOST@TIME, or `this`
    #[arg(value_name = "SNAPSHOT", required_unless_present = "remove")]
    pub snapshot: Option<String>,
    /// What to call it
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Leave a host without a baseline
    #[arg(long, value_name = "HOST", conflicts_with_all = ["snapshot", "label"])]
    pub remove: Option<String>,
}
