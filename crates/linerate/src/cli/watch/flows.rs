//! `linerate watch flows`.

use std::time::Duration;

use clap::Args;
use linux::netns::NetnsRef;
use units::{ByteCount, DataRate};

use crate::cli::values;

/// Watch every TCP connection of this host, or of a network namespace, without test traffic: what moves how much, what
/// limits it, whose it is. Transfers that end are kept in the archive.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate watch flows                         until Ctrl-C; a table on a terminal, lines elsewhere
  linerate watch flows --once                  one interval
  linerate watch flows --for 1h --json         a JSON document an interval (docs/formats/flows.schema.json)
  sudo linerate watch flows --netns pid:4711   the connections of a container
  linerate watch transfers                     what has ended
  linerate why TRANSFER                        why one of them was not faster

A connection is asked for once an interval, the 20 busiest 10 times a second; the kernel sends the last word on each as it
ends (CAP_NET_ADMIN), so that totals are exact. docs/watching.md explains the columns.")]
pub struct FlowsArgs {
    /// How long to watch [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero, conflicts_with = "once")]
    pub duration: Option<Duration>,
    /// One interval, then the end
    #[arg(long)]
    pub once: bool,
    /// How long one interval is
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,
    /// A network namespace by name, path or pid:N, instead of this one
    #[arg(long, value_name = "NETNS")]
    pub netns: Option<NetnsRef>,
    /// Line rate of the paths, where the NIC reports none or too much
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub expect: Option<DataRate>,
    /// A connection that moved less is no transfer, and is not kept
    #[arg(long, value_name = "SIZE", default_value = "1MB", value_parser = values::bytes)]
    pub least: ByteCount,
    /// How many connections to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub top: u16,
    /// Keep no transfers
    #[arg(long)]
    pub no_archive: bool,
}

/// Walking over all connections takes some milliseconds; shorter intervals would measure the walking.
fn interval(text: &str) -> Result<Duration, String> {
    const ALLOWED: std::ops::RangeInclusive<Duration> = Duration::from_millis(200)..=Duration::from_secs(3_600);
    let time = values::span_above_zero(text)?;
    if ALLOWED.contains(&time) { Ok(time) } else { Err("connections are watched every 200 ms to 1 h".to_owned()) }
}
