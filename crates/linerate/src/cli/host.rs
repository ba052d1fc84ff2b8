//! `linerate host`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use linux::netns::NetnsRef;

/// Know a host: its settings, where they come from, what it has counted.
#[derive(Debug, Args)]
pub struct HostArgs {
    #[command(subcommand)]
    pub action: HostAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum HostAction {
    /// Read all facts of this host, or of one whose outputs somebody saved
    Snapshot(SnapshotArgs),
    /// Say what costs rate on this host or on that of a snapshot, why, and how to mend it
    Audit(Box<super::audit::AuditArgs>),
}

/// Read all facts of this host that have to do with its network, each with where it was read. Takes no privilege; says
/// what more root would see.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host snapshot                            a summary of this host
  linerate host snapshot --json --out dtn1.json     everything, to keep and to compare
  linerate host snapshot --all-netns                containers and other namespaces as well
  linerate host snapshot --from sosreport-dtn1.tar.xz
  mkdir dtn1; ethtool -k eth0 > 'dtn1/ethtool -k eth0'; sysctl -a > 'dtn1/sysctl -a'
  linerate host snapshot --from dtn1                what a site that runs no program of ours sends")]
pub struct SnapshotArgs {
    /// Write the whole snapshot to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// A network namespace by name, path or pid:N, instead of this one; may be given several times
    #[arg(long, value_name = "NETNS", conflicts_with = "all_netns")]
    pub netns: Vec<NetnsRef>,
    /// All network namespaces that this process may enter
    #[arg(long)]
    pub all_netns: bool,
    /// Hosts that should be alike, as you call them, such as `dtn`
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// A directory of saved outputs (`ethtool -k eth0`, `sysctl -a`, `ip -d link`, `tc -s qdisc`), or an archive of
    /// sosreport, instead of this host
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["netns", "all_netns"])]
    pub from: Option<PathBuf>,
}
