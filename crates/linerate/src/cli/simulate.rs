//! `linerate simulate`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use path::elements::Burst;
use sim::Algorithm;
use sim::sender::Amount;
use sweep::narrowest::BurstQueue;
use units::{ByteCount, DataRate, Mtu};

use super::sweep::{MergeArgs, ShowArgs, SweepArgs};
use super::tune::TuneArgs;
use super::values;

/// Predict what a path should do.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    #[command(subcommand)]
    pub what: Simulate,
}

/// What is simulated.
#[derive(Debug, Subcommand)]
pub enum Simulate {
    /// One transfer: how long it takes, and what holds it back
    #[command(after_help = "Examples:
  linerate simulate flow --rate 10Gbit/s --rtt 100ms                      an untuned host over 100 ms: 60 s of cubic
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB   the same, tuned
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB --loss 0.00001 --congestion bbr
                                                                          one packet in 100,000 lost
  linerate simulate flow --rate 100Gbit/s --rtt 209ms --mtu 9200 --bytes 13GiB --congestion htcp \\
      --initial-window 1000 --wmem 1GiB --rmem 2GiB --processor-rate 60Gbit/s --queue 20MB \\
      --burst 100Gbit/s,1.5s,25ms --plot burst.svg                        a burst of 25 ms into the start of a transfer
  linerate simulate flow --rate 10Gbit/s --rtt 100ms --wmem 256MiB --rmem 512MiB --bytes 5GB --burst 10Gbit/s,2s,1s \\
      --burst-queue own                                                   what a queue of its own for the burst changes
  linerate simulate flow --rate 10Gbit/s --rtt 20ms --wmem 64MiB --rmem 128MiB --flows 4 --apart 2s
                                                                          four transfers, each 2 s after the last
  linerate simulate flow --rate 10Gbit/s --rtt 20ms --wmem 64MiB --rmem 128MiB --beside bbr,5s
                                                                          what BBR leaves to cubic
  linerate simulate flow --from-run last --wmem 64MiB                      the test that was run last, with a larger send buffer
  linerate simulate flow --from-run round.json --test \"a to b\"             one of a round
  linerate simulate flow --from-path path.toml --bytes 1GB --json         docs/formats/simulated-flow.schema.json

A file of --from-path has the elements of docs/path.md on the way there, and on the way back if that differs:
  chain = [{ port = { rate = \"10Gbit/s\", queue = { bytes = \"20MB\" } } }, { delay = { time = \"50ms\" } }]
  back = [{ delay = { time = \"50ms\" } }]")]
    Flow(Box<FlowArgs>),
    /// Many transfers, as a file says: what is varied, how often, and what is expected
    #[command(after_help = "Examples:
  linerate simulate sweep amlight --dry-run                   how many transfers, and how long they would take
  linerate simulate sweep amlight --plots figures             do them on all processors, and draw them
  linerate simulate sweep mine.toml --by congestion,rtt       a line for each algorithm and round trip
  linerate simulate sweep mine.toml --shard 2/8 -o part-2.parquet   the second of eight shares, for array schedulers

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
    /// Which settings of two hosts keep a deadline most often, where bursts come that nobody foresees
    #[command(after_help = "Examples:
  linerate simulate tune --rtt 209ms --rate 100Gbit/s --mtu 9000 --bytes 13GiB --deadline 7s \\
      --burst-rate 100Gbit/s --burst-length 25ms..2s --burst-start 1.5s..7.5s   hosts that nobody tuned
  linerate simulate tune amlight                              a question that comes with the program
  linerate simulate tune amlight --rtt 301ms --dry-run        the same over another path: what would be tried, how long
  linerate simulate tune amlight --vary congestion --vary wmem=256MiB..2047MiB --keep rmem
  linerate simulate tune mine.toml --budget 2min --fixes plans --device eth0
  linerate host fix plans/sender.toml --dry-run               at the sender: what that would change

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
    /// Put the results of all shares of a sweep together
    #[command(after_help = "Examples:
  linerate simulate merge part-*.parquet -o amlight.parquet
  linerate simulate merge part-*.parquet -o amlight.parquet --by congestion,rtt --json   docs/formats/sweep.schema.json")]
    Merge(MergeArgs),
    /// Show the result of a sweep again: other lines, or its figures
    #[command(after_help = "Examples:
  linerate simulate show amlight.parquet --by congestion,rtt,burst-length
  linerate simulate show amlight.parquet --plots figures
  linerate simulate show mine.parquet --with mine.toml        after an expectation or a figure was changed")]
    Show(ShowArgs),
}

/// A transfer.
#[derive(Debug, Clone, Args)]
pub struct FlowArgs {
    #[command(flatten)]
    pub path: PathArgs,
    #[command(flatten)]
    pub hosts: HostArgs,
    #[command(flatten)]
    pub others: OtherArgs,
    /// Take path and settings from a test that was run: a name of `runs list`, `last`, a round, or a file of either. What is
    /// typed besides counts for more
    #[arg(long, value_name = "RUN|FILE", conflicts_with = "from_path")]
    pub from_run: Option<String>,
    /// Which test, where --from-run names a round [default: its first transfer]
    #[arg(long, value_name = "LABEL", requires = "from_run")]
    pub test: Option<String>,
    /// How much is sent
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, conflicts_with = "time")]
    pub bytes: Option<ByteCount>,
    /// For how long is sent [default: 60s, where no --bytes are given]
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero)]
    pub time: Option<Duration>,
    /// After which time a transfer of --bytes is given up
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = values::span_above_zero)]
    pub patience: Duration,
    /// Where all chance comes from: the same gives the same run
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Spacing of the samples in --json and --plot
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = values::span_above_zero)]
    pub sample: Duration,
    /// Write a picture of it: a name that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub plot: Option<PathBuf>,
}

/// Transfers beside it, between hosts like these over the same path.
#[derive(Debug, Clone, Args)]
pub struct OtherArgs {
    /// How many transfers like this one there are [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub flows: Option<u16>,
    /// How much later each of them begins than the one before
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = values::span)]
    pub apart: Duration,
    /// One more, by another congestion control: its name, when it begins, and how much or for how long it sends
    #[arg(long, value_name = "NAME[,START[,AMOUNT]]", value_parser = beside)]
    pub beside: Vec<Beside>,
}

/// A transfer beside another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    pub algorithm: Algorithm,
    pub start: Duration,
    /// As much as the other where nothing is said.
    pub amount: Option<Amount>,
}

/// What is between the hosts.
#[derive(Debug, Clone, Args)]
pub struct PathArgs {
    /// A file with the elements of the path, in place of --rate, --rtt, --queue, --loss and --burst
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "rtt", "queue", "loss", "burst"])]
    pub from_path: Option<PathBuf>,
    /// The rate of the narrowest link
    #[arg(long, value_parser = values::rate, required_unless_present_any = ["from_path", "from_run"])]
    pub rate: Option<DataRate>,
    /// The round trip of an empty path
    #[arg(long, value_name = "TIME", value_parser = values::span_above_zero, required_unless_present_any = ["from_path", "from_run"])]
    pub rtt: Option<Duration>,
    /// What waits before the narrowest link at most [default: 50 ms of it]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub queue: Option<ByteCount>,
    /// The probability with which a packet is lost on the way there, 0 to 1
    #[arg(long, value_name = "PROBABILITY", value_parser = probability)]
    pub loss: Option<f64>,
    /// Other traffic into the same queue: its rate, when it begins after the connection is asked for, and how long it lasts
    #[arg(long, value_name = "RATE,START,LENGTH", value_parser = burst)]
    pub burst: Vec<Burst>,
    /// The queue of the bursts: shared with the transfer, or their own
    #[arg(long, value_enum, default_value_t = BurstQueueChoice::Shared, conflicts_with = "from_path")]
    pub burst_queue: BurstQueueChoice,
    /// The part of the link that the bursts' own queue has while the transfer has something to send
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
    /// The congestion control [default: cubic]
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    pub congestion: Option<Algorithm>,
    /// The largest IP packet [default: 1500]
    #[arg(long, value_name = "BYTES", value_parser = mtu)]
    pub mtu: Option<Mtu>,
    /// Segments in flight at first (`initcwnd` of the route) [default: 10]
    #[arg(long, value_name = "SEGMENTS")]
    pub initial_window: Option<NonZeroU32>,
    /// Segments that the receiver offers at first (`initrwnd` of the route) [default: what the kernel does]
    #[arg(long, value_name = "SEGMENTS")]
    pub receiver_initial_window: Option<NonZeroU32>,
    /// The most the send buffer grows to (`tcp_wmem`, third value) [default: 4MiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub wmem: Option<ByteCount>,
    /// The most the receive buffer grows to (`tcp_rmem`, third value) [default: 6MiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub rmem: Option<ByteCount>,
    /// What the receive buffer begins with (`tcp_rmem`, second value) [default: 128KiB]
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub rmem_default: Option<ByteCount>,
    /// How the application writes: polls, as iperf3, which uses two thirds of the send buffer; or blocks [default: polls]
    #[arg(long, value_enum)]
    pub writer: Option<WriterChoice>,
    /// How fast the application has data [default: as fast as it can write]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub application_rate: Option<DataRate>,
    /// How fast one processor sends [default: no bound]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub processor_rate: Option<DataRate>,
    /// The rate of the sender's adapter [default: that of the path; 100Gbit/s with --from-path]
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub adapter_rate: Option<DataRate>,
    /// Spread what is sent, as the fq qdisc does (BBR does so by itself)
    #[arg(long)]
    pub fq: bool,
    /// Never send faster than this, as fq with its maxrate
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    pub pace: Option<DataRate>,
    /// Send each segment by itself (`ethtool -K tso off gso off`)
    #[arg(long)]
    pub no_offload: bool,
    /// Ask for congestion marks (`tcp_ecn` = 1)
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

/// A probability.
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

/// `bbr`, `bbr,5s`, `bbr,5s,20s` or `bbr,5s,1GB`.
fn beside(text: &str) -> Result<Beside, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let (name, start, amount) = match parts[..] {
        [name] => (name, None, None),
        [name, start] => (name, Some(start), None),
        [name, start, amount] => (name, Some(start), Some(amount)),
        _ => return Err("write a name, a start and an amount: bbr,5s,20s or bbr,5s,1GB".to_owned()),
    };
    Ok(Beside {
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
