//! `linerate trace`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

/// Explain TCP transfers from packet captures: who had the time, what each event cost, what limited it, with the frames
/// that show it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate trace slow.pcap                      the transfers of a capture, the costliest first
  linerate trace slow.pcap --flow 1 --plot slow.svg
  linerate trace slow.pcap --flow 1 --from 12s --to 13s --plot detail.png
  linerate trace at-client.pcap at-server.pcap --join      what was lost, reordered, delayed between the two
  ssh dtn1 tcpdump -i eth0 -s 128 -w - port 5201 | linerate trace -

pcap and pcapng, plain or compressed with gzip or zstd. Headers are enough: `tcpdump -s 128`. Capture at the sender
where you can. What is read and how it is judged: docs/traces.md")]
pub struct TraceArgs {
    /// Captures; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show one transfer in full, by its number in the list
    #[arg(long, value_name = "NUMBER")]
    pub flow: Option<usize>,
    /// Write a picture of the transfer: sequence numbers, RTT, flight, goodput (.svg, .png; .xpl for xplot, every packet)
    #[arg(long, value_name = "FILE", value_parser = values::trace_picture)]
    pub plot: Option<PathBuf>,
    /// Start of the picture, after the first packet of the connection
    #[arg(long, value_name = "TIME", value_parser = values::span, requires = "plot")]
    pub from: Option<Duration>,
    /// End of the picture
    #[arg(long, value_name = "TIME", value_parser = values::span, requires = "plot")]
    pub to: Option<Duration>,
    /// Join two captures of the same connections, one nearer each end: loss, reordering and one-way delay between them
    #[arg(long, conflicts_with_all = ["flow", "plot"])]
    pub join: bool,
    /// One clock, or one kept by PTP or GNSS, took the times of both captures: no offset is estimated
    #[arg(long, requires = "join")]
    pub same_clock: bool,
}
