//! `linerate test`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use model::spec::{Direction, Dscp, Family, Limit, Offload, Place, Protocol, ReceiveMethod, SendMethod, TestSpec};
use units::{ByteCount, DataRate, Mss};

use super::values;

/// Measure the path to HOST, which runs `linerate serve` or `iperf3 -s`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("limit").args(["time", "bytes", "blocks"]),
    group = ArgGroup::new("way").args(["reverse", "bidir"]),
    group = ArgGroup::new("family").args(["ipv4", "ipv6"]),
    after_help = "Examples:
  linerate test dtn.example.org                       ten seconds towards the peer
  linerate test dtn.example.org -R -P 4 -C cubic      four streams from the peer, CUBIC
  linerate test dtn.example.org --bytes 13GiB         how long do 13 GiB take?
  linerate test dtn.example.org -u --rate 1Gbit/s     datagrams at a fixed rate
  linerate test dtn.example.org --plot path.svg       what happened when, as a picture
  linerate test 10.0.0.2 --netns ingress_sbox         from inside a container's network
  linerate test dtn.example.org --hops                at which hop does it become bad?

Rates, sizes and times carry their unit: 10Gbit/s, 4MiB, 209ms."
)]
#[expect(clippy::struct_excessive_bools, reason = "one flag each on the command line")]
pub struct TestArgs {
    /// Name or address of the peer
    pub host: String,
    /// The peer's port
    #[arg(long, short, default_value_t = measure::DEFAULT_PORT)]
    pub port: u16,

    /// Stop after this time [default: 10s]
    #[arg(long, short, value_parser = values::span_above_zero, value_name = "TIME", help_heading = "How much")]
    pub time: Option<Duration>,
    /// Stop after this much payload, over all streams; the result is the flow completion time
    #[arg(long, short = 'n', value_parser = values::bytes, value_name = "SIZE", help_heading = "How much")]
    pub bytes: Option<ByteCount>,
    /// Stop after this many writes or datagrams, over all streams
    #[arg(long, short = 'k', value_parser = clap::value_parser!(u64).range(1..), value_name = "N", help_heading = "How much")]
    pub blocks: Option<u64>,
    /// Parallel streams in each direction
    #[arg(long, short = 'P', default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=128), value_name = "N", help_heading = "How much")]
    pub streams: u16,
    /// Leave this time at the start out of the peer's totals (iperf3 peers; steady state is found without it)
    #[arg(long, short = 'O', value_parser = values::whole_seconds, default_value = "0s", value_name = "TIME", help_heading = "How much")]
    pub omit: Duration,

    /// The peer sends
    #[arg(long, short = 'R', help_heading = "Which way")]
    pub reverse: bool,
    /// Both send at once
    #[arg(long, help_heading = "Which way")]
    pub bidir: bool,
    /// Datagrams instead of a stream
    #[arg(long, short, help_heading = "Which way")]
    pub udp: bool,
    /// Only IPv4
    #[arg(short = '4', long, help_heading = "Which way")]
    pub ipv4: bool,
    /// Only IPv6
    #[arg(short = '6', long, help_heading = "Which way")]
    pub ipv6: bool,

    /// Cap kept by the sending program, for each stream [UDP default: 1Mbit/s]
    #[arg(long, short = 'b', value_parser = values::rate, value_name = "RATE", help_heading = "How the sender behaves")]
    pub rate: Option<DataRate>,
    /// Send datagrams as fast as this host can
    #[arg(long, requires = "udp", conflicts_with = "rate", help_heading = "How the sender behaves")]
    pub flood: bool,
    /// Cap kept by the kernel's pacing, for each stream
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "How the sender behaves")]
    pub pace: Option<DataRate>,
    /// Congestion control [default: the sender's own]
    #[arg(long, short = 'C', value_name = "NAME", help_heading = "How the sender behaves")]
    pub cca: Option<String>,
    /// Largest segment
    #[arg(long, short = 'M', value_parser = values::mss, value_name = "SIZE", help_heading = "How the sender behaves")]
    pub mss: Option<Mss>,
    /// Socket buffers at both ends [default: the kernel tunes them]
    #[arg(long, short = 'w', value_parser = values::bytes, value_name = "SIZE", help_heading = "How the sender behaves")]
    pub window: Option<ByteCount>,
    /// Code point of every packet: 0 to 63, or ef, cs1, af41, …
    #[arg(long, value_parser = values::dscp, value_name = "DSCP", help_heading = "How the sender behaves")]
    pub dscp: Option<Dscp>,
    /// One write, or one datagram's payload [default: chosen for the path]
    #[arg(long, short, value_parser = values::bytes, value_name = "SIZE", help_heading = "How the sender behaves")]
    pub length: Option<ByteCount>,
    /// How the sender hands data to its kernel
    #[arg(long, default_value = "auto", value_name = "METHOD", help_heading = "How the sender behaves")]
    pub send: SendArg,
    /// How the receiver takes data from its kernel
    #[arg(long, default_value = "auto", value_name = "METHOD", help_heading = "How the sender behaves")]
    pub receive: ReceiveArg,
    /// Do not let the kernel cut datagrams from larger sends
    #[arg(long, help_heading = "How the sender behaves")]
    pub no_gso: bool,
    /// Do not let the kernel merge datagrams before they are received
    #[arg(long, help_heading = "How the sender behaves")]
    pub no_gro: bool,

    /// Local address
    #[arg(long, short = 'B', value_name = "ADDRESS", help_heading = "From where")]
    pub bind: Option<IpAddr>,
    /// Device that every packet leaves by
    #[arg(long, value_name = "NAME", help_heading = "From where")]
    pub device: Option<String>,
    /// Network namespace: a name, a path, or pid:N of a process
    #[arg(long, value_name = "NS", help_heading = "From where")]
    pub netns: Option<String>,
    /// Processors for the streams, dealt out in turn: 2,3
    #[arg(long, value_delimiter = ',', value_name = "N", help_heading = "From where")]
    pub cpu: Vec<u16>,

    /// Time between reported intervals
    #[arg(long, short, value_parser = values::span_above_zero, default_value = "1s", value_name = "TIME", help_heading = "What is recorded")]
    pub interval: Duration,
    /// Time between samples of the kernel's state of each stream, at both ends
    #[arg(long, value_parser = values::sample_spacing, default_value = "10ms", value_name = "TIME", help_heading = "What is recorded")]
    pub sample_every: Duration,
    /// Time between latency probes beside the flow; 0s for none
    #[arg(long, value_parser = values::span, default_value = "10ms", value_name = "TIME", help_heading = "What is recorded")]
    pub probe_every: Duration,
    /// Run the test so many times and say how much the results vary
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), value_name = "N", help_heading = "How much")]
    pub repeat: u32,
    /// Compare with a stored run, or with all runs of a repeated test
    #[arg(long, value_name = "RUN", conflicts_with = "no_archive", help_heading = "What is recorded")]
    pub against: Option<String>,
    /// The line rate of the path, where the devices cannot tell it
    #[arg(long, value_parser = values::rate, value_name = "RATE", help_heading = "What is recorded")]
    pub expect: Option<DataRate>,
    /// Draw the run over time, as SVG or PNG; each run of a repeated test gets its number: path-1.svg
    #[arg(long, value_parser = values::picture, value_name = "FILE", help_heading = "What is recorded")]
    pub plot: Option<PathBuf>,
    /// Do not keep the run
    #[arg(long, help_heading = "What is recorded")]
    pub no_archive: bool,
    /// Print the samples as well, in the form of `linerate runs export`
    #[arg(long, requires = "json", help_heading = "What is recorded")]
    pub samples: bool,

    /// How long to wait for the peer to answer
    #[arg(long, value_parser = values::span_above_zero, default_value = "5s", value_name = "TIME", help_heading = "Waiting")]
    pub connect_timeout: Duration,
    /// How long to wait in the queue of a peer that runs another test; 0s for not at all
    #[arg(long, value_parser = values::span, default_value = "5min", value_name = "TIME", help_heading = "Waiting")]
    pub wait: Duration,

    /// Trace the way, test towards each hop what can be tested there, and say at which it becomes bad
    #[arg(long, conflicts_with_all = ["nagios", "tool", "repeat", "plot", "against", "samples", "reverse", "bidir"], help_heading = "Which way")]
    pub hops: bool,

    /// Let another installed program run the test; the peer runs its server [default: linerate itself]
    #[arg(long, value_name = "PROGRAM", help_heading = "Which way")]
    pub tool: Option<ToolArg>,

    /// Print one line for a monitoring system and use its exit codes
    #[arg(long, conflicts_with = "json", help_heading = "Monitoring")]
    pub nagios: bool,
    /// WARNING where the goodput is below this
    #[arg(long, requires = "nagios", value_parser = values::rate, value_name = "RATE", help_heading = "Monitoring")]
    pub warning: Option<DataRate>,
    /// CRITICAL where the goodput is below this
    #[arg(long, requires = "nagios", value_parser = values::rate, value_name = "RATE", help_heading = "Monitoring")]
    pub critical: Option<DataRate>,
}

/// `--tool`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ToolArg {
    /// iperf3, to `iperf3 -s` or `linerate serve`
    Iperf3,
    /// nuttcp, to `nuttcp -S`
    Nuttcp,
}

impl From<ToolArg> for measure::tools::Tool {
    fn from(arg: ToolArg) -> Self {
        match arg {
            ToolArg::Iperf3 => Self::Iperf3,
            ToolArg::Nuttcp => Self::Nuttcp,
        }
    }
}

/// `--send`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SendArg {
    /// The cheapest that works here
    Auto,
    /// Copy every byte, as most applications do
    Write,
    /// From memory without a copy, as a file server does
    Sendfile,
    /// Lend pages to the kernel
    Splice,
    /// MSG_ZEROCOPY: lend memory until the peer has acknowledged
    Zerocopy,
}

/// `--receive`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ReceiveArg {
    /// The cheapest that works here
    Auto,
    /// Into memory, as applications do
    Copy,
    /// Drop the payload unread
    Discard,
}

impl TestArgs {
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
            place: Place {
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
