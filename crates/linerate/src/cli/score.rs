//! `linerate lab score`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Say how good diagnoses are: play scenarios, diagnose what was measured, compare with the truth.
///
/// Every scenario file is played with several seeds; its round, which has nothing of the truth, is diagnosed as by `linerate
/// why`. What the emulation limited is played once more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab score scenarios/                          all files of a directory, three seeds each
  linerate lab score mine.toml --seeds 10                one file, ten times
  linerate lab score scenarios/ --keep evidence/         go on where an earlier run was stopped
  linerate lab score mine.toml --budget 30s              with the tests that `linerate why` would ask for
  linerate lab score scenarios/ --evidence-from evidence/   play nothing: a new diagnosis of old rounds

docs/diagnosis.md says how the numbers are counted.")]
pub struct ScoreArgs {
    /// Scenario files, and directories with such files
    #[arg(required = true, value_name = "DIR|FILE")]
    pub scenarios: Vec<PathBuf>,
    /// How often each is played: with the seeds from 1 to N
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Test on while causes or places are too alike, for so long in each play; the tests of the scenario alone without
    #[arg(long, value_name = "TIME", value_parser = super::values::span)]
    pub budget: Option<Duration>,
    /// Keep the rounds here, and play only what is not there yet
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Play nothing, and diagnose the rounds that are here
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    pub evidence_from: Option<PathBuf>,
}
