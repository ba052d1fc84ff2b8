//! `linerate why`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use units::DataRate;

use super::values;

/// Say what is wrong, where, and how sure that is: of a round with the facts of its hosts, or of stored runs. Nothing is
/// measured, unless with --test.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab run policer --evidence round.json; linerate why round.json
  linerate round mesh.toml; linerate why last   the round that has just ended
  linerate why 01KX 01KY                        two stored runs, seen together
  linerate why --explain shallow-queue          one cause in full; docs/causes.md has all
  linerate why --test dtn.example.org           this host and one that runs `linerate serve`
  linerate why --test mesh.toml --budget 60s    the hosts of a plan: its round first, then what tells most
  linerate why --test mesh.toml last            the round that has just ended, and then what tells most

With --test it tests on, for as long as a test would tell enough and there is time, until one cause at one place stands
out; with --json it prints docs/formats/examination.schema.json.

What is not known speaks neither for nor against a cause. Ends with 10 where something is wrong.")]
pub struct WhyArgs {
    /// A file with a round, a round of the archive, or runs of it, by their names or the beginnings of them
    #[arg(value_name = "FILE|ROUND|RUN|PLAN|HOST", required_unless_present = "explain")]
    pub what: Vec<String>,
    /// Print one cause of the catalogue in full, and diagnose nothing
    #[arg(long, value_name = "CAUSE", conflicts_with = "what")]
    pub explain: Option<String>,
    /// Test: a plan (and a round of it that is known already), or this host and HOST
    #[arg(long, conflicts_with = "explain", help_heading = "Testing on")]
    pub test: bool,
    /// Time for tests besides those of the first round [default: 30s]
    #[arg(long, requires = "test", value_parser = values::span, value_name = "TIME", help_heading = "Testing on")]
    pub budget: Option<Duration>,
    /// What the path to HOST should do [default: what the cards at its ends can]
    #[arg(long, requires = "test", value_parser = values::rate, value_name = "RATE", help_heading = "Testing on")]
    pub expect: Option<DataRate>,
    /// The port at which HOST serves
    #[arg(long, short, requires = "test", value_name = "PORT", help_heading = "Testing on")]
    pub port: Option<u16>,
    /// Write the round, with what was tested besides, to a file
    #[arg(long, short, requires = "test", value_name = "FILE", help_heading = "Testing on")]
    pub output: Option<PathBuf>,
}
