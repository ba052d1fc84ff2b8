//! `linerate simulate`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use path::elements::Burst;
use sim::sender::Amount;
use sim::tap::TapPoint;
use sim::{Algorithm, Kernel, UnknownRelease};
use sweep::bottleneck::BurstQueue;
use units::{ByteCount, DataRate, Mtu};

use super::gateways::simulate::ExperimentArgs;
use super::sweep::{MergeArgs, ShowArgs, SweepArgs};
use super::tune::TuneArgs;
use super::values;

/// Simulate TCP, as Linux implements it, over a modelled path.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    #[command(subcommand)]
    pub what: Simulate,
}

/// What is simulated.
#[derive(Debug, Subcommand)]
pub enum Simulate {
    /// One flow: completion time, goodput and what limits it
    #[command(after_help = "Examples:
  linerate simulate flow --rate 10Gbit/s --rtt 100ms                      untuned hosts, RTT 100 ms: 60 s of cubic
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB   the same, tuned
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB --loss 0.00001 --congestion bbr
                                                                          one packet in 100,000 lost
  linerate simulate flow --rate 100Gbit/s --rtt 209ms --mtu 9200 --bytes 13GiB --congestion htcp \\
      --initial-window 1000 --wmem 1GiB --rmem 2GiB --cpu-rate 60Gbit/s --queue 20MB \\
      --burst 100Gbit/s,1.5s,25ms --plot burst.svg                        a burst of 25 ms into the start of a transfer
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB --bytes 5GB --burst 10Gbit/s,2s,1s \\
      --burst-queue own                                                   what a queue of its own for the burst changes
  linerate simulate flow --rate 10Gbit/s --rtt 20ms --wmem 64MiB --rmem 128MiB --flows 4 --apart 2s
                                                                          four transfers, each 2 s after the last
  linerate simulate flow --rate 10Gbit/s --rtt 20ms --wmem 64MiB --rmem 128MiB --cross-flow bbr,5s
                                                                          what BBR leaves to cubic
  linerate simulate flow --from-run last --wmem 64MiB                      the last test, with a larger send buffer
  linerate simulate flow --beside last --plot both.svg                     the last test, measured and simulated
  linerate simulate flow --from-run round.json --test \"a to b\"             one test of a round
  linerate simulate flow --rate 1Gbit/s --rtt 40ms --loss 0.0001 --pcap lossy.pcap   a capture for `linerate trace lossy.pcap`
  linerate simulate flow --from-path path.toml --bytes 1GB --json         docs/formats/simulated-flow.schema.json

A file of --from-path has the elements of docs/path.md on the forward path, and on the reverse path if that differs:
  chain = [{ port = { rate = \"10Gbit/s\", queue = { bytes = \"20MB\" } } }, { delay = { time = \"50ms\" } }]
  back = [{ delay = { time = \"50ms\" } }]")]
    Flow(Box<FlowArgs>),
    /// A sweep: many flows over a range of parameters, from a file
    #[command(after_help = "Examples:
  linerate simulate sweep amlight --dry-run                   number of flows and estimated time
  linerate simulate sweep amlight --plots figures             run on all CPUs and plot
  linerate simulate sweep mine.toml --by congestion,rtt       a row per congestion control and RTT
  linerate simulate sweep mine.toml --shard 2/8 -o part-2.parquet   shard 2 of 8, for array schedulers

Ctrl-C keeps what is done; the same command goes on from there. The result is a Parquet file.
An experiment (docs/formats/sweep.md):
  name = \"queues\"
  repetitions = 5
  [set]
  rate = \"10Gbit/s\"
  rtt = \"100ms\"
  bytes = \"10GB\"
  wmem = \"1GiB\"
  rmem = \"2GiB\"
  congestion = [\"cubic\", \"bbr\"]
  queue = { from = \"10MB\", to = \"50MB\", step = \"10MB\" }")]
    Sweep(Box<SweepArgs>),
    /// Search the host settings that meet a deadline most often under random bursts
    #[command(after_help = "Examples:
  linerate simulate tune --rtt 209ms --rate 100Gbit/s --mtu 9000B --bytes 13GiB --deadline 7s \\
      --burst-rate 100Gbit/s --burst-length 25ms..2s --burst-start 1.5s..7.5s   hosts that nobody tuned
  linerate simulate tune amlight                              a built-in question
  linerate simulate tune amlight --rtt 301ms --dry-run        another RTT: what would be tried, and the time it takes
  linerate simulate tune amlight --vary congestion --vary wmem=256MiB..2047MiB --keep rmem
  linerate simulate tune mine.toml --budget 2min --fixes plans --device eth0
  linerate host fix plans/sender.toml --dry-run               at the sender: what would change

A value such as 25ms..2s or 25ms,100ms,2s is drawn for each transfer; all settings see the same draws. What may be changed
stands after --vary; without it all that `host fix` can set is. A question as a file (docs/tuning.md):
  name = \"nightly\"
  [set]
  rate = \"10Gbit/s\"
  rtt = \"100ms\"
  bytes = \"10GB\"
  deadline = \"15s\"
  burst-rate = \"10Gbit/s\"
  burst-length = [\"50ms\", \"500ms\"]
  burst-start = { from = \"0s\", to = \"10s\" }
  [vary]
  congestion = [\"cubic\", \"bbr\"]
  wmem = { from = \"4MiB\", to = \"512MiB\" }
  rmem = \"usual\"")]
    Tune(Box<TuneArgs>),
    /// Storage gateways behind a balancer: which policy holds, and how much of the cluster may leave
    #[command(after_help = "Examples:
  linerate simulate gateways ral-policies --dry-run           a built-in experiment: number of runs and estimated time
  linerate simulate gateways ral-policies --plots figures     all policies on gateways as RAL had them, and pictures
  linerate simulate gateways mine.toml --shard 2/8 -o part-2.parquet   shard 2 of 8, for array schedulers
  linerate simulate gateways part-*.parquet -o all.parquet    the results of all shards as one
  linerate simulate gateways mine.toml --from-log cmsd.log --from-log summary.xml   sizes and load from a site's records
  linerate simulate gateways --policies                       the table of policies

Ctrl-C keeps what is done; the same command goes on from there. The result is a Parquet file.
An experiment (docs/gateways.md):
  name = \"fuzz\"
  repetitions = 20
  policies = [\"load-80-20\", \"affinity-randomized\", \"least-inflight\"]
  baseline = \"affinity-randomized\"
  [set]
  hours = 6.0
  gateways = [{ count = 4, nic-gbit-s = 6.4 }, { count = 17, nic-gbit-s = 9.6 }]
  [set.transfers]
  offered-gbit-s = 176.0
  [vary]
  \"reports.fuzz\" = [5, 10, 20]")]
    Gateways(Box<ExperimentArgs>),
    /// Merge the results of all shards of a sweep
    #[command(after_help = "Examples:
  linerate simulate merge part-*.parquet -o amlight.parquet
  linerate simulate merge part-*.parquet -o amlight.parquet --by congestion,rtt --json   docs/formats/sweep.schema.json")]
    Merge(MergeArgs),
    /// Show the result of a sweep again, with other rows or figures
    #[command(after_help = "Examples:
  linerate simulate show amlight.parquet --by congestion,rtt,burst-length
  linerate simulate show amlight.parquet --plots figures
  linerate simulate show mine.parquet --with mine.toml        with changed expectations or figures")]
    Show(ShowArgs),
}

/// Options of one simulated transfer.
#[derive(Debug, Clone, Args)]
pub struct FlowArgs {
    #[command(flatten)]
    pub path: PathArgs,
    #[command(flatten)]
    pub hosts: HostArgs,
    #[command(flatten)]
    pub others: OtherArgs,
    /// Path and settings of a run: an id of `runs list`, `last`, a round, or a file; options override them
    #[arg(long, value_name = "RUN|FILE", conflicts_with = "from_path")]
    pub from_run: Option<String>,
    /// Lay cwnd, RTT and goodput of a run over the simulated ones; without a path it is simulated as --from-run of that run
    #[arg(long, value_name = "RUN|FILE", conflicts_with = "flows", conflicts_with = "cross_flow")]
    pub beside: Option<String>,
    /// Test of the round given by --from-run or --beside [default: its first flow]
    #[arg(long, value_name = "LABEL")]
    pub test: Option<String>,
    /// Bytes to send
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, conflicts_with = "time")]
    pub bytes: Option<ByteCount>,
    /// Time to send for [default: 60s, where no --bytes are given]
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero)]
    pub time: Option<Duration>,
    /// Time after which a transfer of --bytes is given up
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = values::span_above_zero)]
    pub patience: Duration,
    /// Random seed; equal seeds give equal runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seeds to run, from --seed on; the spread of their results is printed [default: 10 where they take no time, else 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: Option<u32>,
    /// Sampling interval of --json and --plot
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = values::span_above_zero)]
    pub sample: Duration,
    /// Write a chart: a name that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub plot: Option<PathBuf>,
    /// Write a packet capture of headers (pcap): `linerate trace` explains it
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Host at which --pcap captures
    #[arg(long, value_name = "HOST", value_enum, default_value_t = CapturedHost::Sender, requires = "pcap")]
    pub pcap_at: CapturedHost,
}

/// Where packets are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CapturedHost {
    Sender,
    Receiver,
}

impl From<CapturedHost> for TapPoint {
    fn from(host: CapturedHost) -> Self {
        match host {
            CapturedHost::Sender => Self::Sender,
            CapturedHost::Receiver => Self::Receiver,
        }
    }
}

/// Transfers beside it, between hosts like these over the same path.
#[derive(Debug, Clone, Args)]
pub struct OtherArgs {
    /// Number of equal flows [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub flows: Option<u16>,
    /// Delay between the starts of --flows
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = values::span)]
    pub apart: Duration,
    /// One more flow by another congestion control: its name, start, and bytes or time
    #[arg(long, value_name = "NAME[,START[,AMOUNT]]", value_parser = cross_flow)]
    pub cross_flow: Vec<CrossFlow>,
}

/// A flow of another congestion control on the same path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossFlow {
    pub algorithm: Algorithm,
    pub start: Duration,
    /// As much as the other where nothing is said.
    pub amount: Option<Amount>,
}

/// What is between the hosts.
#[derive(Debug, Clone, Args)]
pub struct PathArgs {
    /// File with the path's elements, in place of --rate, --rtt, --queue, --loss and --burst
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "rtt", "queue", "loss", "burst"])]
    pub from_path: Option<PathBuf>,
    /// Bottleneck rate
    #[arg(long, value_parser = values::rate, required_unless_present_any = ["from_path", "from_run", "beside"])]
    pub rate: Option<DataRate>,
    /// RTT without queueing
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero, required_unless_present_any = ["from_path", "from_run", "beside"])]
    pub rtt: Option<Duration>,
    /// Bottleneck queue limit [default: 50 ms at line rate]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub queue: Option<ByteCount>,
    /// Random loss probability on the forward path, 0 to 1
    #[arg(long, value_name = "PROBABILITY", value_parser = probability)]
    pub loss: Option<f64>,
    /// Cross-traffic burst into the bottleneck queue: rate, start after the SYN, length
    #[arg(long, value_name = "RATE,START,LENGTH", value_parser = burst)]
    pub burst: Vec<Burst>,
    /// Queue of the bursts: shared with the flow, or their own
    #[arg(long, value_enum, default_value_t = BurstQueueChoice::Shared, conflicts_with = "from_path")]
    pub burst_queue: BurstQueueChoice,
    /// Share of the link that the bursts' own queue has while the flow has data to send
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = own_queue, conflicts_with = "from_path")]
    pub burst_share: BurstQueue,
}

/// Where bursts wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BurstQueueChoice {
    Shared,
    Own,
}

/// The two hosts.
#[derive(Debug, Clone, Args)]
pub struct HostArgs {
    /// Congestion control [default: cubic]
    #[arg(long, alias = "cca", short_alias = 'C', value_name = "NAME", value_parser = algorithm)]
    pub congestion: Option<Algorithm>,
    /// MTU [default: 1500]
    #[arg(long, value_name = "BYTES", value_parser = mtu)]
    pub mtu: Option<Mtu>,
    /// Initial congestion window (`initcwnd` of the route) [default: 10]
    #[arg(long, value_name = "SEGMENTS")]
    pub initial_window: Option<NonZeroU32>,
    /// Initial receive window (`initrwnd` of the route) [default: the kernel's]
    #[arg(long, value_name = "SEGMENTS")]
    pub receiver_initial_window: Option<NonZeroU32>,
    /// Maximum send buffer (`tcp_wmem`, third value) [default: 4MiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub wmem: Option<ByteCount>,
    /// Maximum receive buffer (`tcp_rmem`, third value) [default: 6MiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub rmem: Option<ByteCount>,
    /// Initial receive buffer (`tcp_rmem`, second value) [default: 128KiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub rmem_default: Option<ByteCount>,
    /// Kernel release of both hosts: 5.10, 6.1, 6.6 or later [default: 6.1]
    #[arg(long, value_name = "RELEASE", value_parser = kernel)]
    pub kernel: Option<Kernel>,
    /// How the application writes: polls (as iperf3: a third of the send buffer has to be free) or blocks [default: polls]
    #[arg(long, value_enum)]
    pub writer: Option<WriterChoice>,
    /// Rate at which the application has data [default: unlimited]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub application_rate: Option<DataRate>,
    /// Rate at which one CPU can send [default: unlimited]
    #[arg(long = "cpu-rate", alias = "processor-rate", value_name = "RATE", value_parser = values::rate)]
    pub processor_rate: Option<DataRate>,
    /// Link rate of the sending NIC [default: next common speed above --rate, at least 10Gbit/s; 100Gbit/s with --from-path]
    #[arg(long = "nic-rate", alias = "adapter-rate", value_name = "RATE", value_parser = values::rate)]
    pub adapter_rate: Option<DataRate>,
    /// Pace with the fq qdisc (BBR paces by itself)
    #[arg(long)]
    pub fq: bool,
    /// Maximum pacing rate (fq `maxrate`)
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub pace: Option<DataRate>,
    /// Disable TSO/GSO (`ethtool -K tso off gso off`)
    #[arg(long)]
    pub no_offload: bool,
    /// Negotiate ECN (`tcp_ecn` = 1)
    #[arg(long)]
    pub ecn: bool,
}

/// A part of the link.
fn own_queue(text: &str) -> Result<BurstQueue, String> {
    BurstQueue::own(probability(text)?).map_err(str::to_owned)
}

/// How an application writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WriterChoice {
    Polls,
    Blocks,
}

/// A number from 0 to 1.
fn probability(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number; write 0.0001 for one in 10,000"))?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err("a probability lies between 0 and 1 (1 % is 0.01)".to_owned())
    }
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    text.parse().map_err(|error: sim::congestion::UnknownAlgorithm| error.to_string())
}

fn kernel(text: &str) -> Result<Kernel, String> {
    text.parse().map_err(|error: UnknownRelease| error.to_string())
}

/// `bbr`, `bbr,5s`, `bbr,5s,20s` or `bbr,5s,1GB`.
fn cross_flow(text: &str) -> Result<CrossFlow, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let (name, start, amount) = match parts[..] {
        [name] => (name, None, None),
        [name, start] => (name, Some(start), None),
        [name, start, amount] => (name, Some(start), Some(amount)),
        _ => return Err("write a name, a start and an amount: bbr,5s,20s or bbr,5s,1GB".to_owned()),
    };
    Ok(CrossFlow {
        algorithm: algorithm(name)?,
        start: start.map_or(Ok(Duration::ZERO), values::span)?,
        amount: amount.map(lasting).transpose()?,
    })
}

/// A time, or bytes.
fn lasting(text: &str) -> Result<Amount, String> {
    let time = values::span_above_zero(text).map(Amount::Time);
    let found = time.or_else(|_| values::bytes(text).map(Amount::Bytes));
    found.map_err(|_| format!("`{text}` is neither a time nor a number of bytes; write 20s or 1GB"))
}

/// Bytes, with or without a unit, as settings of hosts are written.
fn mtu(text: &str) -> Result<Mtu, String> {
    let bytes = text.trim_end_matches(" B").trim_end_matches('B').trim();
    let bytes = bytes.parse().map_err(|_| format!("`{text}` is no number of bytes; write 1500 or 9000"))?;
    Mtu::new(bytes).map_err(|error| error.to_string())
}

/// `100Gbit/s,1.5s,25ms`.
fn burst(text: &str) -> Result<Burst, String> {
    let parts: Vec<&str> = text.split(',').collect();
    let [rate, start, length] = parts[..] else {
        return Err("a burst has a rate, a beginning and a length: 100Gbit/s,1.5s,25ms".to_owned());
    };
    Ok(Burst {
        rate: values::rate(rate)?,
        start: values::span(start)?,
        length: Some(values::span_above_zero(length)?),
        period: None,
        jitter: Duration::ZERO,
    })
}
