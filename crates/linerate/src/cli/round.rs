//! `linerate round`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values;

/// Plans of many hosts, each testing each, and the grid of what came of it.
#[derive(Debug, Args)]
pub struct RoundArgs {
    #[command(subcommand)]
    pub action: RoundAction,
}

/// What to do with rounds.
#[derive(Debug, Subcommand)]
pub enum RoundAction {
    /// Say what a plan would do: how long, how busy each host, which test when. Nothing is sent
    Show(ShowArgs),
    /// Turn a plan into a psConfig template of perfSONAR, or a template into a plan
    Convert(ConvertArgs),
    /// Show the grid of a round: who sends in rows, who receives in columns
    Grid(GridArgs),
}

/// Say what a plan would do: how long, how busy each host, which test when. Nothing is sent. No host and no shared
/// segment ever has two heavy tests at once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate round show mesh.toml              how long, and how busy each host
  linerate round show mesh.toml --times      each test with its time as well
  linerate round show esnet.json             a psConfig template does as well
  linerate round show mesh.toml --json       for programs: docs/formats/schedule.schema.json

docs/formats/plan.md has the format of plans.")]
pub struct ShowArgs {
    /// A plan (TOML) or a psConfig template (JSON)
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
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
  linerate round grid round.json                    on the terminal
  linerate round grid round.json --svg grid.svg     as a picture, or with a name in .png
  linerate round grid round.json --csv > grid.csv   a line for each pair

docs/rounds.md tells how to read it.")]
pub struct GridArgs {
    /// A stored round (docs/formats/round.schema.json)
    #[arg(value_name = "ROUND")]
    pub round: PathBuf,
    /// Draw it, as SVG or PNG by the file's name
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub svg: Option<PathBuf>,
    /// Print a line for each pair instead, for spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}
