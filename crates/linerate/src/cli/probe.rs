//! `linerate probe`.

use std::time::Duration;

use clap::{Args, Subcommand};
use model::spec::Family;
use units::ByteCount;

use super::values;

/// Measure RTT and loss, path MTU, hops, an HTTP download, delay by OWAMP and TWAMP, or rates by NDT7.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[command(subcommand)]
    pub what: Probe,
}

/// What is asked.
#[derive(Debug, Subcommand)]
pub enum Probe {
    #[command(flatten)]
    Path(PathProbe),
    /// Delay, loss and reordering of each direction, with a server of OWAMP (RFC 4656)
    #[command(after_help = "Examples:
  linerate probe owamp ps.example.org                     100 packets in each direction, in 10 s
  linerate probe owamp ps.example.org --forward -c 6000   forward only, 10 min
  linerate probe owamp ps.example.org:8861 --udp-port 8760
                                                          firewall: TCP 8861, UDP 8760 and 8761")]
    Owamp(OwampArgs),
    /// RTT, and loss of each direction, with a server of TWAMP (RFC 5357)
    #[command(after_help = "Examples:
  linerate probe twamp router.example.org                 100 packets in 10 s
  linerate probe twamp router.example.org -c 1000 -i 10ms --json
                                                          docs/formats/probe-twamp.schema.json")]
    Twamp(TwampArgs),
    /// NDT7, M-Lab's test in browsers: download and upload over one WebSocket each, kept as runs
    #[cfg(feature = "ndt7")]
    #[command(after_help = "Examples:
  linerate probe ndt dtn.example.org:8080              with `linerate serve --ndt7 8080` or an ndt-server
  linerate probe ndt ws://ndt.example.org --download   one direction
  linerate why last                                    what limited it")]
    Ndt(NdtArgs),
}

/// What is asked of a path or a server of files.
#[derive(Debug, Subcommand)]
pub enum PathProbe {
    /// RTT and loss by ICMP echo
    #[command(after_help = "Examples:
  linerate probe ping dtn.example.org                               10 echoes in 1 s
  linerate probe ping dtn.example.org --count 1000 --interval 5ms   1000 in 5 s: resolves a loss of 0.1 %")]
    Ping(PingArgs),
    /// Path MTU and the hop that limits it
    #[command(after_help = "Examples:
  linerate probe mtu dtn.example.org          by search, not by ICMP alone (RFC 8899)
  linerate probe mtu dtn.example.org --json   docs/formats/probe-mtu.schema.json")]
    Mtu(PathArgs),
    /// Hops of the path, by TTL
    #[command(after_help = "Examples:
  linerate probe hops dtn.example.org      the forward path
  linerate probe hops dtn.example.org -6   the path of IPv6")]
    Hops(PathArgs),
    /// HTTP download: connect time, time to first byte, goodput
    #[command(after_help = "Examples:
  linerate probe http http://archive.example.org/file           one download
  linerate probe http http://archive.example.org/file --count 5 5 downloads in sequence")]
    Http(HttpArgs),
}

/// Whom, and by which address.
#[derive(Debug, Args)]
pub struct PathArgs {
    /// Name or address of the host
    pub host: String,
    #[command(flatten)]
    pub way: WayArgs,
}

/// By which address, from where.
#[derive(Debug, Args)]
pub struct WayArgs {
    /// IPv4 only
    #[arg(short = '4', long)]
    pub ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long, conflicts_with = "ipv4")]
    pub ipv6: bool,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS")]
    pub netns: Option<String>,
}

impl WayArgs {
    /// The family that was asked for.
    pub const fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::Ipv4),
            (_, true) => Some(Family::Ipv6),
            (false, false) => None,
        }
    }
}

/// `linerate probe ping`.
#[derive(Debug, Args)]
pub struct PingArgs {
    /// Name or address of the host
    pub host: String,
    /// Number of echoes
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=65_536), value_name = "N")]
    pub count: u32,
    /// Interval between echoes
    #[arg(long, short, value_parser = values::span_above_zero, default_value = "100ms", value_name = "TIME")]
    pub interval: Duration,
    /// Payload of an echo
    #[arg(long, short, value_parser = values::echo_size, default_value = "56B", value_name = "SIZE")]
    pub size: ByteCount,
    #[command(flatten)]
    pub way: WayArgs,
}

/// `linerate probe http`.
#[derive(Debug, Args)]
pub struct HttpArgs {
    /// URL of the file (http only)
    #[arg(value_name = "URL", value_parser = values::http_url)]
    pub url: String,
    /// Number of downloads, in sequence
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N")]
    pub count: u32,
    #[command(flatten)]
    pub way: WayArgs,
}

/// `linerate probe owamp`.
#[derive(Debug, Args)]
pub struct OwampArgs {
    /// Name or address of the server, with its port unless that is 861
    #[arg(value_name = "HOST[:PORT]")]
    pub host: String,
    #[command(flatten)]
    pub session: SessionArgs,
    /// From this host only
    #[arg(long, conflicts_with = "reverse")]
    pub forward: bool,
    /// To this host only
    #[arg(long)]
    pub reverse: bool,
}

/// `linerate probe twamp`.
#[derive(Debug, Args)]
pub struct TwampArgs {
    /// Name or address of the server, with its port unless that is 862
    #[arg(value_name = "HOST[:PORT]")]
    pub host: String,
    #[command(flatten)]
    pub session: SessionArgs,
}

/// `linerate probe ndt`.
#[cfg(feature = "ndt7")]
#[derive(Debug, Args)]
pub struct NdtArgs {
    /// Server: ws://HOST:PORT, wss://HOST:PORT, HOST, HOST:PORT, or the address of one test as M-Lab's Locate gives it
    #[arg(value_name = "URL")]
    pub url: measure::ndt7::url::Ndt7Url,
    /// Authorities that sign the certificate of a wss:// server, in PEM [default: those of the system]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<std::path::PathBuf>,
    /// Download only
    #[arg(long, conflicts_with = "upload")]
    pub download: bool,
    /// Upload only
    #[arg(long)]
    pub upload: bool,
    /// Duration of each test; a server ends it after 10 s
    #[arg(long, short, value_parser = values::ndt_length, default_value = "10s", value_name = "TIME")]
    pub time: Duration,
    /// Congestion control of an upload, by its kernel name
    #[arg(long, short = 'C', value_name = "NAME")]
    pub congestion: Option<String>,
    /// Line rate of the path, where the NICs do not report it
    #[arg(long, value_parser = values::rate, value_name = "RATE")]
    pub expect: Option<units::DataRate>,
    /// Do not store runs
    #[arg(long)]
    pub no_archive: bool,
    #[command(flatten)]
    pub way: WayArgs,
}

/// What both protocols can be asked for.
#[derive(Debug, Args)]
pub struct SessionArgs {
    /// Packets in each direction
    #[arg(long, short, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub count: u32,
    /// Mean interval between packets
    #[arg(long, short, value_parser = values::span_above_zero, default_value = "100ms", value_name = "TIME")]
    pub interval: Duration,
    /// Equal intervals instead of exponential ones
    #[arg(long)]
    pub fixed: bool,
    /// Padding of a packet
    #[arg(long, short, value_parser = values::padding, default_value = "0B", value_name = "SIZE")]
    pub size: ByteCount,
    /// A packet that takes longer is lost
    #[arg(long, value_parser = values::span_above_zero, default_value = "2s", value_name = "TIME")]
    pub timeout: Duration,
    /// Local UDP port; OWAMP receives at the next one [default: any]
    #[arg(long, value_name = "PORT")]
    pub udp_port: Option<u16>,
    #[command(flatten)]
    pub way: WayArgs,
}
