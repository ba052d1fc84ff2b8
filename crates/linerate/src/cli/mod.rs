//! What a person may type. Parsing records and checks single values; it does nothing.

pub mod demo;
pub mod helper;
pub mod host;
pub mod import;
pub mod lab;
pub mod probe;
pub mod round;
pub mod runs;
pub mod score;
pub mod serve;
pub mod simulate;
pub mod sweep;
pub mod test;
pub mod tune;
pub mod values;
pub mod why;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Measures bulk data paths, and says where the rate went.
#[derive(Debug, Parser)]
#[command(
    name = "linerate",
    version,
    about,
    after_help = "Start with `linerate serve` on one host and `linerate test HOST` on another.",
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// The file in which runs are kept [default: archive.db in $XDG_STATE_HOME/linerate]
    #[arg(long, global = true, env = "LINERATE_ARCHIVE", value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Print one JSON document (or one a line) on standard output; its schema is under docs/formats/
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing besides the result
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the path to a host
    #[command(visible_alias = "t")]
    Test(Box<test::TestArgs>),
    /// Ask the path to a host small questions: round trips, packet sizes, hops, a file
    Probe(probe::ProbeArgs),
    /// Be a test partner, for linerate and for iperf3
    Serve(Box<serve::ServeArgs>),
    /// List, show, export and remove stored runs
    Runs(runs::RunsArgs),
    /// Read what iperf3 or nuttcp have printed, and keep it as runs
    Import(import::ImportArgs),
    /// Know a host: its settings, where they come from, what it has counted
    Host(host::HostArgs),
    /// Change settings of this host for others, and take them back
    Helper(helper::HelperArgs),
    /// Plans of many hosts, each testing each, and the grid of what came of it
    Round(round::RoundArgs),
    /// Say what is wrong, where, and how sure that is
    Why(why::WhyArgs),
    /// Predict what a path should do
    Simulate(simulate::SimulateArgs),
    /// Networks of this machine's own, over modelled paths, with known faults
    Lab(lab::LabArgs),
    /// Tell an incident on this machine: measured, diagnosed, mended, measured again
    Demo(demo::DemoArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Directory to write to; standard output gets the main page where absent
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
