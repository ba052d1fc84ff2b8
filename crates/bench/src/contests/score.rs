//! How good diagnoses are: `linerate lab score` over the scenarios of this repository. It takes an hour, and runs only where
//! it is asked for.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use diagnose::score::Score;
use diagnose::score::summary::Part;

use crate::actors::Actors;
use crate::contests::Effort;
use crate::outcome::{Row, Target};

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let seeds: u32 = effort.choose(1, 3);
    let mut command = Command::new(actors.linerate());
    command.args(["lab", "score", "--json", "--seeds", &seeds.to_string(), scenarios]).stderr(Stdio::inherit());
    let output = command.output().context("linerate cannot be started")?;
    ensure!(output.status.success(), "`linerate lab score` failed: {}", output.status);
    let score: Score = serde_json::from_slice(&output.stdout)?;
    let percent = |what: &str, part: Part| {
        let row = Row::new(what, part.share().unwrap_or_default() * 100.0, "%");
        row.note(format!("{} of {}", part.count, part.of))
    };
    Ok(vec![
        percent("named first", score.first).target(Target::AtLeast(90.0)),
        percent("among the first three", score.among_three).target(Target::AtLeast(98.0)),
        percent("host or segment", score.place).target(Target::AtLeast(95.0)),
        percent("false alarms", score.false_alarms).target(Target::AtMost(0.0)),
        Row::new("Brier score of the first names", score.brier.unwrap_or_default(), ""),
    ])
}
