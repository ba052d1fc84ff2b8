//! `linerate host snapshot`.

use std::path::PathBuf;

use clap::Args;
use linux::netns::NetnsRef;

/// Read all facts of this host that have to do with its network, each with where it was read. Takes no privilege; says
/// what more root would see.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host snapshot                            a summary of this host
  linerate host snapshot --json --out dtn1.json     everything, to keep and to compare
  linerate host snapshot --all-netns                containers and other namespaces as well
  linerate host snapshot --keep --group dtn         keep it in the archive
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
    /// Keep it in the archive too; `linerate host snapshots` lists what is kept, `linerate host diff` compares it
    #[arg(long)]
    pub keep: bool,
    /// What to call it there
    #[arg(long, value_name = "TEXT", requires = "keep")]
    pub label: Option<String>,
    /// A directory of saved outputs (`ethtool -k eth0`, `sysctl -a`, `ip -d link`, `tc -s qdisc`), or an archive of
    /// sosreport, instead of this host
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["netns", "all_netns"])]
    pub from: Option<PathBuf>,
}
