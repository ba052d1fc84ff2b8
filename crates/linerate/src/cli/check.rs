//! `linerate check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

/// Tell a monitoring system (Nagios, Icinga, Checkmk) how a mesh or the runs of an archive are: one line with performance data, and
/// a code. Of a hub: its incidents and series. Of an archive: each peer's goodput against its own history.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate check https://hub.example.net:8443 --token view.token
  linerate check /var/lib/linerate/hub --host dtn-east
  linerate check                                what the archive of this user has
  linerate check other.db --stale-after 12h

Codes of monitoring systems: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
  CRITICAL  an open incident that nobody has acknowledged, or goodput that fell and stayed low
  WARNING   one that is acknowledged or fixed and not verified, a series that is suspect or stale
  UNKNOWN   no results, or a hub that does not answer")]
pub struct CheckArgs {
    /// Address of a hub, its directory on this host, or an archive [default: the archive]
    #[arg(value_name = "HUB|ARCHIVE")]
    pub what: Option<PathBuf>,
    /// File with a token from `linerate hub token --for view`, where a hub is named by its address
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,
    /// Judge incidents and series of one host alone
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Without a result for so long, runs of an archive are stale
    #[arg(long, value_name = "TIME", default_value = "36h", value_parser = values::span_above_zero)]
    pub stale_after: Duration,
}
