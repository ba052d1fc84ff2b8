//! `linerate serve`.

use std::net::IpAddr;
use std::time::Duration;

use clap::Args;
use ipnet::IpNet;
use units::DataRate;

use super::values;

/// Be a test partner, for linerate and for iperf3. One test at a time; others wait in a queue.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate serve                                             anyone may test
  linerate serve --allow 192.0.2.0/24 --max-rate 10Gbit/s    only this network, at most this rate
  linerate serve --once                                      end after one test
  linerate serve --once --within 1min                        or after a minute without one")]
pub struct ServeArgs {
    /// Port for control, data and latency probes
    #[arg(long, short, default_value_t = measure::DEFAULT_PORT)]
    pub port: u16,
    /// Local address [default: all, IPv6 and IPv4]
    #[arg(long, short = 'B', value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS")]
    pub netns: Option<String>,
    /// Processors for the streams, dealt out in turn: 2,3
    #[arg(long, value_delimiter = ',', value_name = "N")]
    pub cpu: Vec<u16>,
    /// End after one test
    #[arg(long, short = '1')]
    pub once: bool,
    /// End where no test has begun within this time
    #[arg(long, requires = "once", value_parser = values::span_above_zero, value_name = "TIME")]
    pub within: Option<Duration>,
    /// Do not keep runs
    #[arg(long)]
    pub no_archive: bool,

    /// Networks that may test; may be given more than once [default: all]
    #[arg(long, value_name = "CIDR", value_delimiter = ',', help_heading = "Limits")]
    pub allow: Vec<IpNet>,
    /// Highest rate of a test, over all streams
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Limits")]
    pub max_rate: Option<DataRate>,
    /// Highest rate of a test over UDP, over all streams
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Limits")]
    pub max_udp_rate: Option<DataRate>,
    /// Longest test
    #[arg(long, value_parser = values::span_above_zero, default_value = "1h", value_name = "TIME", help_heading = "Limits")]
    pub max_time: Duration,
    /// Most streams in one direction
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=128), value_name = "N", help_heading = "Limits")]
    pub max_streams: u16,
    /// Most tests that may wait
    #[arg(long, default_value_t = 16, value_name = "N", help_heading = "Limits")]
    pub max_queue: u16,
}
