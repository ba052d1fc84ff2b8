//! `linerate host drops`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use linux::netns::NetnsRef;

use crate::cli::values;

/// Watch where this host loses packets: devices, drivers, CPUs, queues, sockets. Ends with what grew, what goes
/// together, and what is not known. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate host drops --for 60s                      this host, second by second, until a minute has passed
  linerate host drops --interval 10s --json >> dtn1.jsonl
  linerate host drops dtn1.jsonl dtn2.jsonl          what was recorded on two hosts, side by side
  linerate host drops --for 10min --with dtn2        this host and, over ssh, another one at the same time
  sudo linerate host drops --for 5min --frames       the VLAN whose frames are dropped

As root it also reports the kernel's reason for each dropped packet, and counts every retransmitted segment.")]
pub struct DropsArgs {
    /// Lines that `--json` recorded, instead of watching this host; several hosts are compared
    #[arg(value_name = "FILE", conflicts_with_all = ["duration", "netns", "frames", "with"])]
    pub recorded: Vec<PathBuf>,
    /// How long to watch [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero)]
    pub duration: Option<Duration>,
    /// How long one interval is
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,
    /// A network namespace by name, path or pid:N, instead of this one; may be given several times
    #[arg(long, value_name = "NETNS")]
    pub netns: Vec<NetnsRef>,
    /// Count received frames by VLAN and protocol as well, to find those that are dropped. Takes CAP_NET_RAW. While it
    /// listens, the kernel does not count untagged frames that nobody handles as dropped
    #[arg(long)]
    pub frames: bool,
    /// Another host, watched at the same time, or a file of lines that `--json` recorded; may be given several times
    #[arg(long, value_name = "HOST|FILE")]
    pub with: Vec<String>,
    /// The command that reaches a host; it is given the host's name and one line for a shell, as ssh is
    #[arg(long, value_name = "COMMAND", default_value = "ssh", env = "LINERATE_TRANSPORT")]
    pub transport: String,
}

/// Reading all counters takes some milliseconds; shorter intervals would measure the reading.
fn interval(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(50);
    let time = values::span_above_zero(text)?;
    if time < LEAST {
        return Err(format!("counters are read every {} or slower", units::duration::show(LEAST)));
    }
    Ok(time)
}
