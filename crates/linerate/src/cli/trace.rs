//! `linerate trace`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use linux::netns::NetnsRef;

use super::values;

/// Explain TCP transfers from packet captures: who had the time, what each event cost, what limited it, with the frames
/// that show it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate trace slow.pcap          the transfers of a capture, the costliest first
  linerate trace slow.pcap --flow 1 --plot slow.svg
  linerate trace slow.pcap --flow 1 --from 12s --to 13s --plot detail.png
  linerate trace at-client.pcap at-server.pcap --join
                                    what was lost, reordered, delayed between them
  linerate trace at-client.pcap at-server.pcap --join --plot both.svg
                                    both ends in one picture
  linerate trace slow.pcap --parquet slow.parquet
                                    a row for each transfer, and slow-events.parquet
  sudo linerate trace --follow -i eth0
                                    transfers as they pass, with their limit
  linerate trace --follow slow.pcap the same of a file that is still written
  ssh dtn1 tcpdump -i eth0 -s 128 -w - port 5201 | linerate trace -

pcap and pcapng, plain or compressed with gzip or zstd. Headers are enough:
`tcpdump -s 128`. Capture at the sender where you can. What is read and how it
is judged: docs/traces.md")]
pub struct TraceArgs {
    /// Captures; `-` is standard input
    #[arg(required_unless_present = "interface", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show one transfer in full, by its number in the list
    #[arg(long, value_name = "NUMBER")]
    pub flow: Option<usize>,
    /// Write a picture of the transfer: sequence numbers, RTT, flight, goodput (.svg, .png; .xpl for xplot, every packet)
    #[arg(long, value_name = "FILE", value_parser = values::trace_picture)]
    pub plot: Option<PathBuf>,
    /// Start of the picture, after the first data, as the times of events count. Once a large capture was drawn, parts of it
    /// are read from an index in $XDG_CACHE_HOME/linerate
    #[arg(long, value_name = "TIME", value_parser = values::span, requires = "plot")]
    pub from: Option<Duration>,
    /// End of the picture
    #[arg(long, value_name = "TIME", value_parser = values::span, requires = "plot")]
    pub to: Option<Duration>,
    /// Join two captures of the same connections, one nearer each end: loss, reordering and one-way delay between them
    #[arg(long, conflicts_with = "flow")]
    pub join: bool,
    /// One clock, or one kept by PTP or GNSS, took the times of both captures: no offset is estimated
    #[arg(long, requires = "join")]
    pub same_clock: bool,
    /// Write a row for each transfer to a Parquet file, and one for each event to NAME-events.parquet
    #[arg(long, value_name = "FILE", conflicts_with = "join")]
    pub parquet: Option<PathBuf>,
    /// Show what limits each transfer now, and explain them all at the end: of a FILE that somebody still writes, or of a
    /// device (-i, CAP_NET_RAW)
    #[arg(long, conflicts_with_all = ["join", "plot", "flow"])]
    pub follow: bool,
    /// Listen on a device
    #[arg(short, long, value_name = "DEV", requires = "follow", conflicts_with = "files")]
    pub interface: Option<String>,
    /// A network namespace by name, path or pid:N, instead of this one
    #[arg(long, value_name = "NETNS", requires = "interface")]
    pub netns: Option<NetnsRef>,
    /// How long one interval is
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval, requires = "follow")]
    pub interval: Duration,
    /// How long to follow [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero, requires = "follow")]
    pub duration: Option<Duration>,
}

/// Packets are handed over 20 ms after they have passed.
fn interval(text: &str) -> Result<Duration, String> {
    const ALLOWED: std::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3_600);
    let time = values::span_above_zero(text)?;
    if ALLOWED.contains(&time) { Ok(time) } else { Err("transfers are shown every 100 ms to 1 h".to_owned()) }
}
