//! What a person may type. Parsing records and checks single values; it does nothing.

#[cfg(feature = "hub")]
pub mod agent;
pub mod check;
pub mod declared;
pub mod demo;
pub mod detect;
#[cfg(test)]
mod documented;
pub mod examples;
pub mod gateways;
pub mod habits;
pub mod helper;
pub mod host;
#[cfg(feature = "hub")]
pub mod hub;
#[cfg(feature = "hub")]
pub mod hub_directory;
pub mod import;
pub mod lab;
#[cfg(feature = "hub")]
pub mod people;
pub mod plan;
pub mod probe;
#[cfg(feature = "hub")]
pub mod replay;
#[cfg(feature = "hub")]
pub mod report;
pub mod round;
pub mod runs;
pub mod score;
pub mod serve;
pub mod simulate;
pub mod sweep;
pub mod test;
#[cfg(feature = "hub")]
pub mod top;
pub mod trace;
pub mod tune;
pub mod values;
#[cfg(feature = "web")]
pub mod view;
pub mod watch;
pub mod why;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};

/// Measure a path, find what limits it, fix it and prove it.
#[derive(Debug, Parser)]
#[command(
    disable_help_flag = true,
    name = "linerate",
    version,
    about,
    after_help = "Start with `linerate serve` on one host and `linerate test HOST` on another."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
    /// Print help
    #[arg(long, short, global = true, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Archive of runs [default: $XDG_STATE_HOME/linerate/archive.db]
    #[arg(long, global = true, env = "LINERATE_ARCHIVE", value_name = "FILE", value_parser = values::archive_file())]
    pub archive: Option<PathBuf>,
    /// Print JSON, one document a line (schemas: docs/formats/)
    #[arg(long, global = true)]
    pub json: bool,
    /// Print the result only
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl Common {
    /// The archive that was named, by the option or the variable. An empty variable is as none.
    pub fn archive(&self) -> Option<&Path> {
        self.archive.as_deref().filter(|file| !file.as_os_str().is_empty())
    }
}

/// What to do. The options of a command are put together only where they are asked for: those of all take milliseconds.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Measure goodput, loss and RTT to a host, and say where the rate went
    #[command(visible_alias = "t")]
    Test(Box<test::TestArgs>),
    /// RTT and loss (ping), path MTU, hops, HTTP download: no partner needed
    Probe(probe::ProbeArgs),
    /// Serve tests to linerate and iperf3 clients
    Serve(Box<serve::ServeArgs>),
    /// List, show, export and remove stored runs
    Runs(runs::RunsArgs),
    /// Import output of iperf3 and nuttcp as runs
    Import(import::ImportArgs),
    /// Audit, compare, watch and fix the settings of a host
    Host(host::HostArgs),
    /// Run the privileged process that applies and reverts fixes
    Helper(helper::HelperArgs),
    /// Run a plan of tests between many hosts and show the matrix of results
    Round(round::RoundArgs),
    /// Run a hub: agents connect to it, carry out its plan and deliver results
    #[cfg(feature = "hub")]
    Hub(hub::HubArgs),
    /// Run tests for a hub, within this host's own limits
    #[cfg(feature = "hub")]
    Agent(Box<agent::AgentArgs>),
    /// Show a hub's grid, incidents and runs on this terminal as they change
    #[cfg(feature = "hub")]
    Top(top::TopArgs),
    /// Write and check plans that a hub runs for good
    Plan(plan::PlanArgs),
    /// Diagnose a run or a round: causes ranked, with location and probability
    Why(why::WhyArgs),
    /// Write the post-mortem of an incident of a hub, and bring it up to date
    #[cfg(feature = "hub")]
    Report(report::ReportArgs),
    /// Tell Nagios, Icinga or Checkmk how a hub's mesh or the runs of an archive are
    Check(check::CheckArgs),
    /// Show rounds, runs and hosts as pages in a browser on this machine
    #[cfg(feature = "web")]
    View(view::ViewArgs),
    /// Watch real traffic without testing: connections, what limits each, finished transfers
    Watch(watch::WatchArgs),
    /// Explain TCP transfers from packet captures: who had the time, what each event cost, why
    Trace(trace::TraceArgs),
    /// Find changes in a series of results: steps, drifts, spread, shares of two levels
    Detect(detect::DetectArgs),
    /// Simulate TCP over a modelled path: one flow, sweeps, tuning
    Simulate(simulate::SimulateArgs),
    /// Storage gateways behind cmsd: policies on a real cluster, numbers for cms.perf
    Gateways(gateways::GatewaysArgs),
    /// Emulate networks with known faults in namespaces on this machine
    Lab(lab::LabArgs),
    /// Reproduce an incident here: measured, diagnosed, fixed, measured again
    Demo(demo::DemoArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Output directory [default: the main page on standard output]
        directory: Option<PathBuf>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
