//! `linerate gateways status`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gateways::status::report::Expected;
use units::{ByteCount, DataRate};

use super::super::values;

/// What gateways report, and what is wrong with them.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Gateways, each with the rate of its NIC where they differ
    #[arg(value_name = "HOST[=RATE]", value_parser = expected, required_unless_present_any = ["listen", "read"])]
    pub hosts: Vec<Expected>,
    /// Receive XRootD's summary monitoring (xrd.report) at this UDP address [default: ask each HOST by xrdfs]
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "read")]
    pub listen: Option<SocketAddr>,
    /// Read a recording: summary monitoring, cmsd's log, Prometheus exporter text or query JSON; repeatable
    #[arg(long, value_name = "FILE")]
    pub read: Vec<PathBuf>,
    /// Metric of a field: in-flight, begun, moved, refused, memory, memory-limit, load, deletion, since
    #[arg(long, value_name = "FIELD=METRIC")]
    pub metric: Vec<String>,
    /// Prometheus label that names a gateway
    #[arg(long, value_name = "LABEL", default_value = "instance")]
    pub label: String,
    /// Memory limit of a gateway's service, where no record has it
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub memory_limit: Option<ByteCount>,
    /// maxload of cms.sched, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub maxload: u8,
    /// Policy whose next choices are shown
    #[arg(long, value_name = "NAME", default_value = "inflight-cmsd")]
    pub policy: String,
    /// Time over which reports are collected
    #[arg(long = "for", value_name = "TIME", default_value = "6s", value_parser = values::span_above_zero)]
    pub time: Duration,
    /// Print again whenever that time has passed, until stopped
    #[arg(long, conflicts_with = "read")]
    pub watch: bool,
}

fn expected(text: &str) -> Result<Expected, String> {
    let (name, rate) = match text.split_once('=') {
        None => (text, None),
        Some((name, rate)) => (name, Some(rate.parse::<DataRate>().map_err(|error| error.to_string())?)),
    };
    if name.is_empty() || name.len() > 256 || name.starts_with('-') {
        return Err(
            "a gateway is a name or an address, such as gw1.example.org or gw1.example.org=9.6Gbit/s".to_owned()
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate, for a ratio")]
    let nic_gbit_s = rate.map(|rate| rate.bps() as f64 / 1e9);
    if nic_gbit_s == Some(0.0) {
        return Err("a NIC of rate 0 moves nothing".to_owned());
    }
    Ok(Expected { name: name.to_owned(), nic_gbit_s })
}
