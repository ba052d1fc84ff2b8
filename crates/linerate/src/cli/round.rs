//! `linerate round`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::values;

/// Run a plan of many hosts, each testing each, and show the grid of what came of it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  linerate round init . dtn1 dtn2 > mesh.toml    a first plan: this host and two others
  linerate round mesh.toml                       run it, and keep what came of it
  linerate round mesh.toml --dry-run             how long, how busy each host; nothing is sent
  linerate round mesh.toml --output round.json   for `linerate why round.json`, here or elsewhere
  linerate round list                            the rounds that are kept
  linerate round grid last                       the grid of the newest
  linerate why last                              what is wrong, where, and how sure that is

docs/rounds.md explains how to read it, docs/formats/plan.md has the format of plans."
)]
pub struct RoundArgs {
    #[command(subcommand)]
    pub action: Option<RoundAction>,
    #[command(flatten)]
    pub run: RunArgs,
}

/// What is run, and how.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A plan (TOML) or a psConfig template (JSON)
    #[arg(value_name = "PLAN", required = true)]
    pub plan: Option<PathBuf>,
    /// Say what would be done, and do nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Write the round to a file as well, with the samples of its runs
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How long a host may take to answer, and a test longer than it should; one that hangs costs a fifth more
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::span_above_zero)]
    pub patience: Duration,
    /// How much longer than planned the round may take; what has not begun by then is left out
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = values::span)]
    pub overtime: Duration,
    /// Go on with the last round of this plan that was interrupted: what it has measured is not measured again
    #[arg(long, conflicts_with_all = ["no_archive", "dry_run"])]
    pub resume: bool,
    /// Time to repeat tests that a host's own load has disturbed; 0s repeats none
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = values::span)]
    pub repeats: Duration,
    /// Keep neither the round nor its runs
    #[arg(long)]
    pub no_archive: bool,
}

/// What else to do with rounds.
#[derive(Debug, Subcommand)]
pub enum RoundAction {
    /// Write a first plan: each of these hosts tests each
    Init(InitArgs),
    /// Say what a plan would do, or what a round was
    Show(ShowArgs),
    /// List the rounds that are kept
    List(ListArgs),
    /// Turn a plan into a psConfig template of perfSONAR, or a template into a plan
    Convert(ConvertArgs),
    /// Show the grid of a round: who sends in rows, who receives in columns
    Grid(GridArgs),
    /// Say whether what was slow in one round is fixed in a later one
    Compare(CompareArgs),
}

/// Write a first plan to standard output: each host tests each other, with the usual tests. Nothing is sent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round init . dtn-west measure@dtn-east > mesh.toml    this host, and two that ssh reaches
  linerate round init lab:west lab:east > mesh.toml              hosts of a lab that is running
  linerate round init . --hosts-from mesh.json > partners.toml   this host, and the hosts of a psConfig template
  linerate round mesh.toml --dry-run                             what it would do

docs/formats/plan.md says what else may stand in a plan.")]
pub struct InitArgs {
    /// Hosts: HOST or USER@HOST for ssh, `.` for this host, lab:HOST for one of a running lab
    #[arg(value_name = "HOST", required = true, num_args = 1..)]
    pub hosts: Vec<String>,
    /// Partners that these hosts ask for echoes, path MTU and hops: records of perfSONAR's lookup service, a psConfig template, or a
    /// host a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub hosts_from: Option<PathBuf>,
}

/// List the rounds that are kept, the newest first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round list           the newest twenty
  linerate round list --json    a line each: docs/formats/round-summary.schema.json")]
pub struct ListArgs {
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    pub limit: u32,
}

/// Say what a plan would do: how long, how busy each host, which test when. Nothing is sent. No host and no shared
/// segment ever has two heavy tests at once. Of a round that was run, say what each test has found.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round show mesh.toml              how long, and how busy each host
  linerate round show mesh.toml --times      each test with its time as well
  linerate round show esnet.json             a psConfig template does as well
  linerate round show mesh.toml --json       for programs: docs/formats/schedule.schema.json
  linerate round show last                   what each test of the newest round has found

docs/formats/plan.md has the format of plans.")]
pub struct ShowArgs {
    /// A plan (TOML), a psConfig template (JSON), or a round: its name, the beginning of it, `last`, or a file
    #[arg(value_name = "PLAN|ROUND")]
    pub what: PathBuf,
    /// List each test with its time
    #[arg(long)]
    pub times: bool,
}

/// Turn a plan into a psConfig template of perfSONAR, or a template into a plan. What the other format cannot say is told
/// on standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round convert mesh.toml > mesh.json      for the agents of perfSONAR
  linerate round convert esnet.json > esnet.toml    to run their mesh from here")]
pub struct ConvertArgs {
    /// A plan (TOML) or a psConfig template (JSON)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Show the grid of a round: who sends in rows, who receives in columns; each cell is how much of what it should do a pair
/// does, from A (at least 90 %) to F (less than 10 %).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round grid last                          on the terminal
  linerate round grid round.json --svg grid.svg     as a picture, or with a name in .png
  linerate round grid round.json --csv > grid.csv   a line for each pair

docs/rounds.md explains how to read it.")]
pub struct GridArgs {
    /// A round: its name, the beginning of it, `last`, or a file (docs/formats/round.schema.json)
    #[arg(value_name = "ROUND")]
    pub round: PathBuf,
    /// Draw it, as SVG or PNG by the file's name
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub svg: Option<PathBuf>,
    /// Print a line for each pair instead, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// Say whether what was slow in one round is fixed in a later one: pair by pair, and by a rank test over all of them. Pairs
/// that were not slow are held against each other as well, since a fix that costs them something is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round mesh.toml; linerate host fix RULE; linerate round mesh.toml
  linerate round compare 01M7 last                the round before the fix, and the newest
  linerate round compare before.json after.json   from files

Ends with 10 where it is not shown to be fixed.")]
pub struct CompareArgs {
    /// The round before: its name, the beginning of it, or a file
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The round after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Confidence level: at 0.95 noise passes as a change in 1 of 20 cases
    #[arg(long, value_name = "PART", default_value_t = 0.95, value_parser = values::confidence)]
    pub confidence: f64,
}
