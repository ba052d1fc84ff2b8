//! `linerate why`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use units::DataRate;

use super::declared::DeclaredArgs;
use super::values;

/// Say what is wrong, where, and how sure that is: of a round with the facts of its hosts, of stored runs, or of storage
/// gateways. Nothing is measured, unless with --test.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab run policer --evidence round.json; linerate why round.json
  linerate round mesh.toml; linerate why last   the round that has just ended
  linerate why client.log server.log ping.txt   logs of iperf3, nuttcp, ping, mtr, ss, ... seen together
  linerate why last owamp.json bursts.json      a run, and what `probe` and `watch` printed with --json
  iperf3 -c dtn.example.org | linerate why --rtt 190ms -
  linerate why slow.pcap                        a packet capture: what limited its transfers
  ssh dtn1 cat slow.pcap.zst | linerate why -   the same from standard input
  linerate gateways status GW1 GW2 GW3 --json > gw.json; linerate why gw.json
  linerate why 01KX 01KY                        two stored runs, or transfers that were watched
  linerate why --explain shallow-queue          one cause in full; docs/causes.md has all
  linerate why --test dtn.example.org           this host and HOST, which runs `linerate serve`
  linerate why --test mesh.toml --budget 60s    the hosts of a plan: its round, then the most informative tests
  linerate why --test mesh.toml last            the last round, then the most informative tests

With --test it runs further tests, the most informative first, until one cause at one place stands out or the time is over;
with --json it prints docs/formats/examination.schema.json.

Missing evidence counts neither for nor against a cause. Exit code 10: a problem was found.")]
pub struct WhyArgs {
    /// Logs of other tools and documents of linerate (`-` is standard input), a packet capture, a file with a round, a status or recordings of gateways, a
    /// round or runs of the archive by their names
    #[arg(value_name = "FILE|ROUND|RUN|PLAN|HOST", required_unless_present = "explain")]
    pub what: Vec<String>,
    /// Print one cause of the catalogue in full, and diagnose nothing
    #[arg(long, value_name = "CAUSE", conflicts_with = "what")]
    pub explain: Option<String>,
    /// Test: a plan (and a round of it that is known already), or this host and HOST
    #[arg(long, conflicts_with = "explain", help_heading = "Testing on")]
    pub test: bool,
    /// Time for tests beyond those of the first round [default: 30s]
    #[arg(long, requires = "test", value_parser = values::span, value_name = "TIME", help_heading = "Testing on")]
    pub budget: Option<Duration>,
    /// Goodput that a test should reach [default: what is known of its path, its hosts and its peers]
    #[arg(long, value_parser = values::rate, value_name = "RATE")]
    pub expect: Option<DataRate>,
    /// The port at which HOST serves
    #[arg(long, short, requires = "test", value_name = "PORT", help_heading = "Testing on")]
    pub port: Option<u16>,
    /// Write the round, with what was tested later, to a file
    #[arg(long, short, requires = "test", value_name = "FILE", help_heading = "Testing on")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub declared: DeclaredArgs,
}
