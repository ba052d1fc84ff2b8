//! `linerate serve`.

use std::net::{IpAddr, SocketAddr};
#[cfg(feature = "ndt7")]
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ipnet::IpNet;
use measure::one_way::socket::PortRange;
use units::DataRate;

use super::values;

/// Serve tests to linerate and iperf3 clients, one at a time; further clients wait in a queue.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate serve                                             serve everyone
  linerate serve --allow 192.0.2.0/24 --max-rate 10Gbit/s    one network, rate limited
  linerate serve --once                                      exit after one test
  linerate serve --once --within 1min                        or after 1 min without a test
  linerate serve --owamp --twamp                             answer owping and twping too
  linerate serve --owamp 8861 --udp-ports 8760-8799          at a port that needs no privilege")]
pub struct ServeArgs {
    /// Port for control, data and STAMP probes
    #[arg(long, short, default_value_t = measure::DEFAULT_PORT)]
    pub port: u16,
    /// Local address [default: all, IPv6 and IPv4]
    #[arg(long, short = 'B', value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS")]
    pub netns: Option<String>,
    /// CPUs to pin stream threads to, round robin: 2,3
    #[arg(long, value_delimiter = ',', value_name = "N")]
    pub cpu: Vec<u16>,
    /// Serve NDT7, M-Lab's test in browsers, over ws:// at TCP port PORT [default: 80]; its tests take turns with the others
    #[cfg(feature = "ndt7")]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "80", conflicts_with_all = ["once", "max_rate"])]
    pub ndt7: Option<u16>,
    /// The same over wss:// [default: 443]; pages that came by https can open nothing else
    #[cfg(feature = "ndt7")]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "443", requires_all = ["ndt7_cert", "ndt7_key"],
        conflicts_with_all = ["once", "max_rate"])]
    pub ndt7_tls: Option<u16>,
    /// Certificate for wss://, with those that it was signed by behind it, in PEM
    #[cfg(feature = "ndt7")]
    #[arg(long, value_name = "FILE", requires = "ndt7_tls")]
    pub ndt7_cert: Option<PathBuf>,
    /// Key of that certificate, in PEM
    #[cfg(feature = "ndt7")]
    #[arg(long, value_name = "FILE", requires = "ndt7_tls")]
    pub ndt7_key: Option<PathBuf>,
    /// Serve numbers for Prometheus at http://ADDRESS:PORT/metrics, to whoever asks
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Exit after one test
    #[arg(long, short = '1')]
    pub once: bool,
    /// Exit if no test begins within this time of the start
    #[arg(long, value_parser = values::span_above_zero, value_name = "TIME")]
    pub within: Option<Duration>,
    /// Do not store runs
    #[arg(long)]
    pub no_archive: bool,

    /// Serve OWAMP at TCP port PORT [default: 861; ports below 1024 need root or CAP_NET_BIND_SERVICE]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "861", help_heading = "Test packets")]
    pub owamp: Option<u16>,
    /// Serve TWAMP at TCP port PORT [default: 862]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "862", help_heading = "Test packets")]
    pub twamp: Option<u16>,
    /// UDP ports of test packets, which a firewall must let through
    #[arg(long, value_name = "FIRST-LAST", value_parser = values::ports, default_value = "8760-9960", help_heading = "Test packets")]
    pub udp_ports: PortRange,

    /// Client networks that may test, repeatable [default: all]
    #[arg(long, value_name = "CIDR", value_delimiter = ',', help_heading = "Limits")]
    pub allow: Vec<IpNet>,
    /// Rate limit of a test over all streams
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Limits")]
    pub max_rate: Option<DataRate>,
    /// Rate limit of a UDP test over all streams
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Limits")]
    pub max_udp_rate: Option<DataRate>,
    /// Maximum duration of a test
    #[arg(long, value_parser = values::span_above_zero, default_value = "1h", value_name = "TIME", help_heading = "Limits")]
    pub max_time: Duration,
    /// Maximum streams per direction
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=128), value_name = "N", help_heading = "Limits")]
    pub max_streams: u16,
    /// Maximum tests in the queue
    #[arg(long, default_value_t = 16, value_name = "N", help_heading = "Limits")]
    pub max_queue: u16,
}
