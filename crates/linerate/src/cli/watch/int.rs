//! `linerate watch int`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::values;

/// Collect in-band network telemetry: queue occupancy and latency of each switch that a packet passed, as the switches report
/// them (Telemetry Report v1.0 and v2.0, also as AmLight's switches send it).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate watch int                                       at port 5900, until Ctrl-C
  linerate watch int --listen 0.0.0.0:54321 --cell 80 --for 60s --json
  linerate watch int --send-test 127.0.0.1:5900 --count 1000
                                                           send made-up reports, to try a collector

Occupancy is in units of the switch (cells, bytes or packets): --cell says how many bytes one is. Gaps in the sequence
numbers are reports that were lost, and are counted for each switch.")]
pub struct IntArgs {
    /// Where reports come to
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:5900", conflicts_with = "send_test")]
    pub listen: SocketAddr,
    /// How long to collect [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span_above_zero)]
    pub duration: Option<Duration>,
    /// How long one interval is
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::span_above_zero)]
    pub interval: Duration,
    /// Bytes of one unit of occupancy
    #[arg(long, value_name = "BYTES")]
    pub cell: Option<u32>,
    /// Send made-up reports to a collector instead
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub send_test: Option<SocketAddr>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "send_test")]
    pub count: u32,
    /// In which format
    #[arg(long, value_name = "FORMAT", default_value = "v1", requires = "send_test")]
    pub format: ReportFormat,
}

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Telemetry Report v1.0 as AmLight's switches send it
    V1,
    /// Telemetry Report v2.0
    V2,
}
