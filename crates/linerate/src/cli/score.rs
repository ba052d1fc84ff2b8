//! `linerate lab score`.

use std::path::PathBuf;
use std::time::Duration;

use std::str::FromStr;

use clap::{Args, ValueEnum};

/// Say how good diagnoses are: play scenarios, diagnose what was measured, compare with the truth.
///
/// Every scenario file is played with several seeds; its round, which has nothing of the truth, is diagnosed as by `linerate
/// why`. What the emulation limited is played once more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab score scenarios/                          all files of a directory, three seeds each
  linerate lab score mine.toml --seeds 10                one file, ten times
  linerate lab score scenarios/ --virtual                the same in virtual time, in a minute
  linerate lab score --virtual --seeds 1..1000           a thousand generated incidents (docs/incidents.md)
  linerate lab score --virtual --seeds 1..1000 --shard 2/8 --json > part-2.json   an eighth of them
  linerate lab score scenarios/ --keep evidence/         go on where an earlier run was stopped
  linerate lab score mine.toml --budget 30s              with the tests that `linerate why` would ask for
  linerate lab score --virtual --seeds 1..100 --budget 60s   with a minute of tests that it asks for
  linerate lab score scenarios/ --evidence-from evidence/   play nothing: a new diagnosis of old rounds

docs/diagnosis.md says how the numbers are counted.")]
pub struct ScoreArgs {
    /// Scenario files, and directories with such files; generated incidents without
    #[arg(required_unless_present = "virtual_time", value_name = "DIR|FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Play in virtual time: simulated, in seconds, without root
    #[arg(long = "virtual", conflicts_with_all = ["evidence_from"])]
    pub virtual_time: bool,
    /// Compare the signs of virtual plays with those of the live ones that are kept here
    #[arg(long, requires_all = ["virtual_time", "scenarios"], value_name = "DIR")]
    pub fidelity: Option<PathBuf>,
    /// How often each is played: with the seeds from 1 to N; of generated incidents the seeds from A to B
    #[arg(long, default_value = "3", value_name = "N|A..B")]
    pub seeds: Seeds,
    /// Take half of the evidence from each generated incident (docs/incidents.md)
    #[arg(long, requires = "virtual_time", conflicts_with = "scenarios", value_name = "HOW MUCH")]
    pub withhold: Option<Withhold>,
    /// Play each generated incident without each of its faults as well, and score apart those that change a rate by a tenth
    #[arg(long, requires = "virtual_time", conflicts_with_all = ["scenarios", "withhold"])]
    pub without_faults: bool,
    /// Only one share of the generated incidents: 2/8 is the second of eight
    #[arg(long, requires = "virtual_time", conflicts_with = "scenarios", value_name = "I/N")]
    pub shard: Option<sweep::Share>,
    /// Test on while causes or places are too alike, for so long in each play; the tests of the scenario alone without
    #[arg(long, value_name = "TIME", value_parser = super::values::span, conflicts_with_all = ["withhold", "without_faults"])]
    pub budget: Option<Duration>,
    /// Judge with the files that `linerate lab learn` wrote into this folder
    #[arg(long, value_name = "FOLDER")]
    pub learnt: Option<PathBuf>,
    /// Keep the rounds here, and play only what is not there yet
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Play nothing, and diagnose the rounds that are here
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    pub evidence_from: Option<PathBuf>,
}

/// Draw incidents that nobody wrote, as scenario files: docs/incidents.md says from what.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab generate --seeds 17                    one, to read or to change
  linerate lab generate --seeds 1..100 -o incidents/  a hundred files, to play with `linerate lab run FILE --virtual`")]
pub struct GenerateArgs {
    /// The seeds: one, or from A to B
    #[arg(long, value_name = "N|A..B")]
    pub seeds: SeedRange,
    /// Write each as a file into this folder [default: all to stdout]
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

/// Learn from generated incidents, whose causes are known: how often each sign is seen with each cause, how far signs repeat each
/// other, and how often what is said with some probability is right. Writes learnt.toml and weights.toml, which the program is
/// built with when they lie in crates/diagnose/causes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  linerate lab learn -o learnt/                                     half an hour on two CPUs
  linerate lab learn --seeds 1000001..1000200 --calibrate 2000001..2000100 -o learnt/   a minute, to try it
  linerate lab learn --refine --seeds 1004001..1005000 -o learnt/   more incidents for what is known
  make learn                                                        the files of the repository, anew")]
pub struct LearnArgs {
    /// Incidents to learn from
    #[arg(long, default_value = "1000001..1004000", value_name = "A..B")]
    pub seeds: SeedRange,
    /// Incidents to calibrate probabilities with
    #[arg(long, default_value = "2000001..2002000", value_name = "A..B")]
    pub calibrate: SeedRange,
    /// Learn on from what this program was built with, in place of the mechanisms' own values: less is needed
    #[arg(long)]
    pub refine: bool,
    /// Learn from these scenario files as well, each played three times
    #[arg(long, value_name = "DIR|FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Learn from the live rounds of these files as well that `linerate lab score --keep` left here
    #[arg(long, requires = "scenarios", value_name = "DIR")]
    pub evidence_from: Option<PathBuf>,
    /// Write both files into this folder
    #[arg(long, short, value_name = "FOLDER")]
    pub output: PathBuf,
}

/// Put the scores of all shares together.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Scores of `linerate lab score --json`
    #[arg(required = true, value_name = "SCORE")]
    pub parts: Vec<PathBuf>,
}

/// How much evidence is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Withhold {
    /// About half
    Half,
}

/// How often scenarios are played, or which incidents are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeds {
    /// With the seeds from 1 to this.
    Count(u64),
    /// With these.
    Range(SeedRange),
}

impl Seeds {
    /// The range of seeds that this option names.
    pub fn range(self) -> SeedRange {
        match self {
            Self::Count(count) => SeedRange { from: 1, to: count },
            Self::Range(range) => range,
        }
    }
}

/// Seeds from one to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedRange {
    /// First seed to play.
    pub from: u64,
    /// Last seed to play, not below `from`.
    pub to: u64,
}

/// A text that is no range of seeds.
#[derive(Debug, PartialEq, Eq)]
pub struct NoSeeds;

impl std::fmt::Display for NoSeeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a count of seeds is 1 to 1000, a range of them `1..5000`, the first not above the last")
    }
}

impl std::error::Error for NoSeeds {}

impl FromStr for SeedRange {
    type Err = NoSeeds;

    fn from_str(text: &str) -> Result<Self, NoSeeds> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoSeeds);
        let range = Self { from: number(from)?, to: number(to)? };
        if range.from <= range.to { Ok(range) } else { Err(NoSeeds) }
    }
}

impl FromStr for Seeds {
    type Err = NoSeeds;

    fn from_str(text: &str) -> Result<Self, NoSeeds> {
        if text.contains("..") {
            return text.parse().map(Self::Range);
        }
        let count: u64 = text.parse().map_err(|_| NoSeeds)?;
        if (1..=MOST_PLAYS).contains(&count) { Ok(Self::Count(count)) } else { Err(NoSeeds) }
    }
}

/// Plays of one scenario at most.
const MOST_PLAYS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_count_or_a_range() {
        assert_eq!("3".parse(), Ok(Seeds::Count(3)));
        assert_eq!("5..9".parse(), Ok(Seeds::Range(SeedRange { from: 5, to: 9 })));
        assert_eq!("17".parse(), Ok(SeedRange { from: 17, to: 17 }));
        for text in ["0", "9..5", "..", "1..", "x", "1001"] {
            assert_eq!(text.parse::<Seeds>(), Err(NoSeeds), "{text}");
        }
    }
}
