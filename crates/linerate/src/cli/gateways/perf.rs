//! `linerate gateways perf`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use units::DataRate;

use super::super::values;

/// What a gateway reports of itself.
#[derive(Debug, Args)]
pub struct PerfArgs {
    /// Rate of this gateway's NIC: what is in flight is reported per rate
    #[arg(long, value_name = "RATE", required_unless_present = "modelled")]
    pub rate: Option<DataRate>,
    /// Policy whose numbers are reported
    #[arg(long, value_name = "NAME", default_value = "inflight-cmsd")]
    pub policy: String,
    /// TCP port of the service whose connections count
    #[arg(long, value_name = "PORT", default_value_t = 1094)]
    pub port: u16,
    /// Network device whose bytes count [default: all but lo]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Directory of the service's control group, for its memory and its limit [default: the memory of the host]
    #[arg(long, value_name = "FOLDER")]
    pub cgroup: Option<PathBuf>,
    /// Time between two lines
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::span)]
    pub every: Duration,
    /// Print so many lines [default: until cmsd ends]
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Gateway of a lab that shares the CPUs of this machine with others: its settings as a file
    #[arg(long, value_name = "FILE", hide = true)]
    pub modelled: Option<PathBuf>,
}
