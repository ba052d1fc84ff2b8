//! `linerate test`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use measure::tools::Tool;
use model::spec::{
    Direction, Dscp, Family, Limit, Offload, Protocol, ReceiveMethod, SendMethod, TestBinding, TestSpec,
};
use units::{ByteCount, DataRate, Mss};

use super::values;

/// Measure goodput, loss and RTT to HOST, which runs `linerate serve` or `iperf3 -s`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limit").args(["time", "bytes", "blocks"]),
    group = ArgGroup::new("way").args(["reverse", "bidir"]),
    group = ArgGroup::new("family").args(["ipv4", "ipv6"]),
    after_help = "Examples:
  linerate test dtn.example.org                       10 s of TCP to the peer
  linerate test dtn.example.org -R -P 4 -C cubic      4 streams from the peer, CUBIC
  linerate test dtn.example.org --bytes 13GiB         completion time of 13 GiB
  linerate test dtn.example.org -u --rate 1Gbit/s     UDP at a fixed rate
  linerate test dtn.example.org --plot path.svg       plot over time
  linerate test 10.0.0.2 --netns ingress_sbox         in a network namespace
  linerate test dtn.example.org --hops                test towards each hop

Rates, sizes and times have units: 10Gbit/s, 4MiB, 209ms. All options: linerate help test"
)]
#[expect(clippy::struct_excessive_bools, reason = "one flag each on the command line")]
pub struct TestArgs {
    /// Name or address of the peer
    #[arg(required_unless_present = "client", default_value = "", hide_default_value = true)]
    pub host: String,
    /// HOST, as iperf3 wants it
    #[arg(long, short = 'c', value_name = "HOST", conflicts_with = "host", hide = true)]
    pub client: Option<String>,
    /// The peer's port
    #[arg(long, short, default_value_t = measure::DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,

    /// Duration of the test [default: 10s]
    #[arg(long, short, value_parser = values::span_above_zero, value_name = "TIME", help_heading = "Duration and size")]
    pub time: Option<Duration>,
    /// Payload to transfer over all streams: measures the flow completion time
    #[arg(long, short = 'n', value_parser = values::bytes, value_name = "SIZE", help_heading = "Duration and size")]
    pub bytes: Option<ByteCount>,
    /// Number of writes or datagrams to send, over all streams
    #[arg(long, short = 'k', value_parser = clap::value_parser!(u64).range(1..), value_name = "N", help_heading = "Duration and size", hide_short_help = true)]
    pub blocks: Option<u64>,
    /// Parallel streams per direction
    #[arg(long, short = 'P', default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=128), value_name = "N", help_heading = "Duration and size")]
    pub streams: u16,
    /// Omit this time at the start from the totals (iperf3 peers; linerate detects the steady state)
    #[arg(long, short = 'O', value_parser = values::whole_seconds, default_value = "0s", value_name = "TIME", help_heading = "Duration and size", hide_short_help = true)]
    pub omit: Duration,

    /// Reverse: the peer sends
    #[arg(long, short = 'R', help_heading = "Direction and protocol")]
    pub reverse: bool,
    /// Both ends send at the same time
    #[arg(long, help_heading = "Direction and protocol")]
    pub bidir: bool,
    /// UDP instead of TCP
    #[arg(long, short, help_heading = "Direction and protocol")]
    pub udp: bool,
    /// IPv4 only
    #[arg(short = '4', long, help_heading = "Direction and protocol")]
    pub ipv4: bool,
    /// IPv6 only
    #[arg(short = '6', long, help_heading = "Direction and protocol")]
    pub ipv6: bool,

    /// Application rate limit per stream [UDP default: 1Mbit/s]
    #[arg(long, short = 'b', value_parser = values::rate, value_name = "RATE", help_heading = "Sender")]
    pub rate: Option<DataRate>,
    /// UDP without rate limit
    #[arg(long, requires = "udp", conflicts_with = "rate", help_heading = "Sender", hide_short_help = true)]
    pub flood: bool,
    /// Kernel pacing rate per stream (SO_MAX_PACING_RATE)
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Sender")]
    pub pace: Option<DataRate>,
    /// TCP congestion control [default: the sender's]
    #[arg(long, short = 'C', value_name = "NAME", help_heading = "Sender")]
    pub cca: Option<String>,
    /// Maximum segment size
    #[arg(long, short = 'M', value_parser = values::mss, value_name = "SIZE", help_heading = "Sender")]
    pub mss: Option<Mss>,
    /// Socket buffers at both ends [default: autotuning]
    #[arg(long, short = 'w', value_parser = values::bytes, value_name = "SIZE", help_heading = "Sender")]
    pub window: Option<ByteCount>,
    /// DSCP: 0 to 63, or ef, cs1, af41, …
    #[arg(long, value_parser = values::dscp, value_name = "DSCP", help_heading = "Sender", hide_short_help = true)]
    pub dscp: Option<Dscp>,
    /// Length of a write, or payload of a datagram [default: by path MTU]
    #[arg(long, short, value_parser = values::bytes, value_name = "SIZE", help_heading = "Sender", hide_short_help = true)]
    pub length: Option<ByteCount>,
    /// Send system call
    #[arg(long, default_value = "auto", value_name = "METHOD", help_heading = "Sender", hide_short_help = true)]
    pub send: SendArg,
    /// Receive system call
    #[arg(long, default_value = "auto", value_name = "METHOD", help_heading = "Sender", hide_short_help = true)]
    pub receive: ReceiveArg,
    /// Disable UDP GSO (UDP_SEGMENT)
    #[arg(long, help_heading = "Sender", hide_short_help = true)]
    pub no_gso: bool,
    /// Disable UDP GRO
    #[arg(long, help_heading = "Sender", hide_short_help = true)]
    pub no_gro: bool,

    /// Local address
    #[arg(long, short = 'B', value_name = "ADDRESS", help_heading = "Local end")]
    pub bind: Option<IpAddr>,
    /// Outgoing interface (SO_BINDTODEVICE)
    #[arg(long, value_name = "NAME", help_heading = "Local end", hide_short_help = true)]
    pub device: Option<String>,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS", help_heading = "Local end")]
    pub netns: Option<String>,
    /// CPUs to pin stream threads to, round robin: 2,3
    #[arg(long, value_delimiter = ',', value_name = "N", help_heading = "Local end", hide_short_help = true)]
    pub cpu: Vec<u16>,

    /// Length of a reported interval
    #[arg(long, short, value_parser = values::span_above_zero, default_value = "1s", value_name = "TIME", help_heading = "Recording")]
    pub interval: Duration,
    /// Interval of TCP_INFO samples at both ends
    #[arg(long, value_parser = values::sample_spacing, default_value = "10ms", value_name = "TIME", help_heading = "Recording", hide_short_help = true)]
    pub sample_every: Duration,
    /// Interval of latency probes during the test; 0s: none
    #[arg(long, value_parser = values::span, default_value = "10ms", value_name = "TIME", help_heading = "Recording", hide_short_help = true)]
    pub probe_every: Duration,
    /// Number of runs; reports their variation
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N", help_heading = "Duration and size")]
    pub repeat: u32,
    /// Compare with a stored run or repeated test (rank test)
    #[arg(long, value_name = "RUN", conflicts_with = "no_archive", help_heading = "Recording")]
    pub against: Option<String>,
    /// Line rate of the path, where interfaces report no link speed
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "Recording")]
    pub expect: Option<DataRate>,
    /// What a hub has signed for this test, in a file: for partners that an agent runs
    #[arg(long, value_name = "FILE", hide = true)]
    pub ticket: Option<PathBuf>,
    /// Print what the peer's own side saw as well
    #[arg(long, help_heading = "Recording")]
    pub get_server_output: bool,
    /// Plot the run over time as SVG or PNG
    #[arg(long, value_parser = values::picture, value_name = "FILE", help_heading = "Recording")]
    pub plot: Option<PathBuf>,
    /// Keep the headers of its packets, as pcap: `linerate trace` explains them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["udp", "hops"], help_heading = "Recording")]
    pub capture: Option<PathBuf>,
    /// Do not store the run
    #[arg(long, help_heading = "Recording")]
    pub no_archive: bool,
    /// Include the samples, as `linerate runs export` does
    #[arg(long, requires = "json", help_heading = "Recording", hide_short_help = true)]
    pub samples: bool,

    /// Connection timeout
    #[arg(long, value_parser = values::span_above_zero, default_value = "5s", value_name = "TIME", help_heading = "Waiting", hide_short_help = true)]
    pub connect_timeout: Duration,
    /// Longest wait while the peer serves other tests; 0s: none
    #[arg(long, value_parser = values::span, default_value = "5min", value_name = "TIME", help_heading = "Waiting", hide_short_help = true)]
    pub wait: Duration,

    /// Trace the path and test towards each hop: at which does it degrade?
    #[arg(long, conflicts_with_all = ["nagios", "tool", "repeat", "plot", "against", "samples", "reverse", "bidir"], help_heading = "Direction and protocol")]
    pub hops: bool,

    /// Run the test with this program instead [default: linerate]
    #[arg(long, value_parser = values::tool(), value_name = "PROGRAM", help_heading = "Direction and protocol")]
    pub tool: Option<Tool>,

    /// One line and exit codes of a Nagios plugin
    #[arg(long, conflicts_with = "json", help_heading = "Monitoring")]
    pub nagios: bool,
    /// WARNING below this goodput
    #[arg(long, requires = "nagios", value_parser = values::rate, value_name = "RATE", help_heading = "Monitoring", hide_short_help = true)]
    pub warning: Option<DataRate>,
    /// CRITICAL below this goodput
    #[arg(long, requires = "nagios", value_parser = values::rate, value_name = "RATE", help_heading = "Monitoring", hide_short_help = true)]
    pub critical: Option<DataRate>,
}

/// `--send`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SendArg {
    /// cheapest that works here
    Auto,
    /// write(2), copying, as most applications do
    Write,
    /// sendfile(2), as a file server does
    Sendfile,
    /// vmsplice(2) and splice(2)
    Splice,
    /// MSG_ZEROCOPY
    Zerocopy,
}

/// `--receive`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ReceiveArg {
    /// cheapest that works here
    Auto,
    /// recv(2), copying
    Copy,
    /// MSG_TRUNC: discard in the kernel
    Discard,
}

impl TestArgs {
    /// Name or address of the peer: that of `--client` before the argument HOST.
    pub fn peer(&self) -> &str {
        self.client.as_deref().unwrap_or(&self.host)
    }

    /// An option that would do nothing, and why.
    pub fn idle_option(&self) -> Option<(&'static str, &'static str)> {
        [
            (self.udp && self.cca.is_some(), "--cca", "datagrams have no congestion control"),
            (self.udp && self.mss.is_some(), "--mss", "datagrams have no segments; --length sets their size"),
            (!self.udp && self.no_gso, "--no-gso", "it is about datagrams; --udp sends them"),
            (!self.udp && self.no_gro, "--no-gro", "it is about datagrams; --udp sends them"),
        ]
        .into_iter()
        .find_map(|(idle, option, why)| idle.then_some((option, why)))
    }

    /// The specification that these arguments ask for.
    pub fn spec(&self) -> TestSpec {
        let protocol = if self.udp { Protocol::Udp } else { Protocol::Tcp };
        TestSpec {
            protocol,
            direction: match (self.reverse, self.bidir) {
                (true, _) => Direction::Reverse,
                (_, true) => Direction::Bidirectional,
                (false, false) => Direction::Forward,
            },
            limit: self.limit(),
            omit: self.omit,
            streams: self.streams,
            rate: self.rate_of(protocol),
            pace: self.pace,
            congestion_control: self.cca.clone(),
            mss: self.mss,
            window: self.window,
            dscp: self.dscp,
            length: self.length,
            send: self.send.into(),
            receive: self.receive.into(),
            udp_gso: offload_unless(self.no_gso),
            udp_gro: offload_unless(self.no_gro),
            family: match (self.ipv4, self.ipv6) {
                (true, _) => Some(Family::Ipv4),
                (_, true) => Some(Family::Ipv6),
                (false, false) => None,
            },
            place: TestBinding {
                bind: self.bind,
                device: self.device.clone(),
                netns: self.netns.clone(),
                cpus: self.cpu.clone(),
            },
            interval: self.interval,
            sample_every: self.sample_every,
            probe_every: self.probe_every,
            connect_timeout: self.connect_timeout,
        }
    }

    fn limit(&self) -> Limit {
        match (self.bytes, self.blocks, self.time) {
            (Some(bytes), ..) => Limit::Bytes(bytes),
            (_, Some(blocks), _) => Limit::Blocks(blocks),
            (_, _, Some(time)) => Limit::Time(time),
            (None, None, None) => TestSpec::default().limit,
        }
    }

    /// Datagrams have no congestion control, so they start at a rate that harms nobody, as iperf3's do.
    fn rate_of(&self, protocol: Protocol) -> Option<DataRate> {
        const HARMLESS: DataRate = DataRate::from_bps(1_000_000);
        match protocol {
            Protocol::Udp if !self.flood => Some(self.rate.unwrap_or(HARMLESS)),
            Protocol::Udp | Protocol::Tcp => self.rate,
        }
    }
}

fn offload_unless(off: bool) -> Offload {
    if off { Offload::Off } else { Offload::On }
}

impl From<SendArg> for SendMethod {
    fn from(arg: SendArg) -> Self {
        match arg {
            SendArg::Auto => Self::Auto,
            SendArg::Write => Self::Write,
            SendArg::Sendfile => Self::Sendfile,
            SendArg::Splice => Self::Splice,
            SendArg::Zerocopy => Self::Zerocopy,
        }
    }
}

impl From<ReceiveArg> for ReceiveMethod {
    fn from(arg: ReceiveArg) -> Self {
        match arg {
            ReceiveArg::Auto => Self::Auto,
            ReceiveArg::Copy => Self::Copy,
            ReceiveArg::Discard => Self::Discard,
        }
    }
}
