//! `linerate watch drops`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use linux::netns::NetnsRef;

use crate::cli::values;

/// Watch what this host drops and retransmits for good: `linerate host drops` at a slower pace, with metrics for Prometheus and
/// a picture of drops by counter and retransmits by peer and hour.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate watch drops --for 24h --plot drops.svg
  linerate watch drops --prometheus /var/lib/node_exporter/textfile/linerate.prom
  linerate watch drops --prometheus -            metrics on standard output, each interval
  sudo linerate watch drops --for 24h --frames   the VLAN whose frames are dropped, at the end
  linerate watch drops --json >> drops.jsonl     a line an interval (docs/formats/drops.schema.json)

`linerate host drops drops.jsonl` says what goes together in what was recorded.")]
pub struct DropsArgs {
    /// How long to watch [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero)]
    pub duration: Option<Duration>,
    /// How long one interval is
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::watch_interval)]
    pub interval: Duration,
    /// A network namespace by name, path or pid:N, instead of this one; may be given several times
    #[arg(long, value_name = "NETNS")]
    pub netns: Vec<NetnsRef>,
    /// Count received frames by VLAN and protocol as well, to find those that are dropped. Takes CAP_NET_RAW. While it
    /// listens, the kernel does not count untagged frames that nobody handles as dropped
    #[arg(long)]
    pub frames: bool,
    /// Write metrics for Prometheus to a file, whole each time (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// Write a picture at the end, .svg or .png
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub plot: Option<PathBuf>,
}
