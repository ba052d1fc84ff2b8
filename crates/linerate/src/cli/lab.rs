//! `linerate lab`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::values;

use super::score::{GenerateArgs, LearnArgs, MergeArgs, ScoreArgs};

/// Networks of namespaces on this machine, over modelled paths with known faults.
#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    pub action: LabAction,
}

/// What to do with labs.
#[derive(Debug, Subcommand)]
pub enum LabAction {
    /// Say what this machine can do, and what that matters; or what is wrong with a scenario file
    Check(CheckArgs),
    /// List the scenarios that come with the program, and the labs that are running
    List,
    /// Play a scenario: its network comes up, its faults come and go, its tests run, and all is gone
    Run(RunArgs),
    /// Say how good diagnoses are: play scenarios, diagnose what was measured, compare with the truth
    Score(ScoreArgs),
    /// Put the scores of all shares together
    Merge(MergeArgs),
    /// Draw incidents that nobody wrote, as scenario files
    Generate(GenerateArgs),
    /// Learn from generated incidents how causes show, and what a probability is worth
    Learn(LearnArgs),
    /// Make the network of a scenario, and keep it
    Up(UpArgs),
    /// Run a program in a host of a lab
    Exec(ExecArgs),
    /// End a lab, with everything that runs in it
    Down {
        /// The lab [default: the only one that you have started]
        lab: Option<String>,
        /// All labs that you have started, from this state directory
        #[arg(long, conflicts_with = "lab")]
        all: bool,
    },
}

/// Say what this machine can do of what labs need. With a scenario: say all that is wrong with its file, play it in virtual
/// time, and warn of faults that no test complains of.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab check              what this machine can do
  linerate lab check my.toml      a file of your own, without rights and without a network")]
pub struct CheckArgs {
    /// A file, or a name of the library
    #[arg(value_name = "FILE|NAME")]
    pub scenario: Option<String>,
    /// Random seed of the play; equal seeds give equal plays
    #[arg(long, default_value_t = 1, value_name = "N", requires = "scenario")]
    pub seed: u64,
}

/// Make the network of a scenario, and keep it until `linerate lab down`. Its services answer and its faults come and go at
/// their times; its tests are not run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab up healthy-100ms                     a scenario of the library (`linerate lab list`)
  linerate lab up my.toml --seed 7 --as mine        a file, with another random seed, under another name
  linerate lab exec client -- ping -c 3 server      look at it with any tool
  linerate lab exec client -- linerate test server  a test partner listens on every host
  linerate lab down                                 end it")]
pub struct UpArgs {
    /// A file, or a name of the library
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    /// Random seed; equal seeds give equal losses
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// What to call the lab [default: the scenario's name]
    #[arg(long = "as", value_name = "LAB")]
    pub name: Option<String>,
    /// Have the queues of its paths report to a collector, as switches do: INT, for `linerate watch int`
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub int: Option<std::net::SocketAddrV4>,
    /// Report one in so many groups of packets that leave a queue
    #[arg(long, value_name = "N", default_value = "1", requires = "int")]
    pub int_every: std::num::NonZeroU32,
    /// Stay, and end the lab with this process
    #[arg(long)]
    pub foreground: bool,
    /// Be the process that keeps the lab for another one
    #[arg(long, hide = true)]
    pub keeper: bool,
}

/// Run a program in a host of a lab: in its network, with its name and its /etc/hosts. The exit code is the program's.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab exec client -- ping -c 3 server
  linerate lab exec healthy-100ms/client -- ss -ti
  linerate lab exec client -- bash")]
pub struct ExecArgs {
    /// The host, with its lab where several have one of that name
    #[arg(value_name = "[LAB/]HOST")]
    pub host: String,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// Play a scenario: make its network, run its tests while its faults come and go, tell the truth about it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab run healthy-100ms                         a scenario of the library (`linerate lab list`)
  linerate lab run my.toml --seed 7                      a file, with another random seed
  linerate lab run random-loss-1e-4 --log truth.jsonl    each lost packet, with its reason
  linerate lab run policer --why --budget 20s            what is wrong, where; tests on until that is certain
  linerate lab run policer --virtual --why               the same, simulated: in a second, on any machine

With --why and --json the diagnosis is printed instead: docs/formats/examination.schema.json.")]
pub struct RunArgs {
    /// A file, or a name of the library
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    /// Random seed; equal seeds give equal losses
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Play in virtual time: simulated, in seconds, without root; its runs are not kept in the archive
    #[arg(long = "virtual", conflicts_with = "log")]
    pub virtual_time: bool,
    /// How fast the clock of the paths goes, in percent of real time; 50 halves rates and doubles delays [default: as fast as
    /// this machine, watched for 2 s before, has time for]
    #[arg(long, value_name = "PERCENT", conflicts_with = "virtual_time", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub pace: Option<u8>,
    /// Write what happened to single packets, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write what a diagnosis may see, as JSON: tests, samples, the facts of all hosts, and nothing of the truth
    #[arg(long, value_name = "FILE", conflicts_with = "no_archive")]
    pub evidence: Option<PathBuf>,
    /// Do not keep the runs of the tests
    #[arg(long)]
    pub no_archive: bool,
    /// Say what is wrong and where, and test on while the network is up, until that is certain
    #[arg(long)]
    pub why: bool,
    /// Time for the tests of --why [default: 30s]
    #[arg(long, requires = "why", value_parser = values::span, value_name = "TIME")]
    pub budget: Option<Duration>,
}
