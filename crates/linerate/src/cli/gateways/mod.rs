//! `linerate gateways`, and `linerate simulate gateways`.

pub mod lab;
pub mod perf;
pub mod simulate;
pub mod status;

use clap::{Args, Subcommand};

/// Storage gateways behind a balancer: watched, tried on a real cluster, balanced by what is in flight.
#[derive(Debug, Args)]
pub struct GatewaysArgs {
    #[command(subcommand)]
    pub action: GatewaysAction,
}

/// What to do with gateways.
#[derive(Debug, Subcommand)]
pub enum GatewaysAction {
    /// Show what gateways report: in flight, rate, memory, refused; the spread, who is excluded and why
    #[command(after_help = "Examples:
  linerate gateways status gw1=6.4Gbit/s gw2=9.6Gbit/s gw3=9.6Gbit/s     asks each by xrdfs
  linerate gateways status gw1 gw2 gw3 --listen 0.0.0.0:9931 --watch     what xrd.report sends
  linerate gateways status --read summary.xml --read cmsd.log            a recording
  linerate gateways status --read metrics.json --metric in-flight=conns  an answer of Prometheus

At each gateway for --listen: xrd.report HOST:9931 every 10s all
JSON: docs/formats/gateways-status.schema.json.")]
    Status(Box<status::StatusArgs>),
    /// Try policies on a real XRootD cluster in namespaces of this machine, beside the model of it
    #[command(after_help = "Examples:
  linerate gateways lab --policies load-80-20,inflight-cmsd          two policies, three repetitions each
  linerate gateways lab mine.toml --repetitions 5 --json > lab.json  gateways and load of an experiment file
  linerate gateways lab --busy 2                                     gateway 2 reports full load for a while: catch-up

Needs root, and xrootd-server and xrootd-client of Debian: `scripts/setup gateways`.
JSON: docs/formats/gateways-lab.schema.json.")]
    Lab(lab::LabArgs),
    /// Print the five numbers of cms.perf each second: the program that cmsd calls at a gateway
    #[command(after_help = "Examples:
  cms.perf int 1s pgm /usr/local/bin/linerate gateways perf --rate 9.6Gbit/s --device eth0
  linerate gateways perf --rate 9.6Gbit/s --count 3                  what it would report

The number of open connections per rate comes first (runq of cms.sched), whatever a policy needs in the others.
docs/gateways.md has the configuration that goes with it.")]
    Perf(perf::PerfArgs),
    /// Print a policy as lines of cmsd's configuration
    Configuration {
        /// Policy (`linerate simulate gateways --policies`)
        #[arg(default_value = "inflight-cmsd")]
        policy: String,
    },
}
