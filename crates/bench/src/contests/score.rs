//! How good diagnoses are: `linerate lab score` over the scenarios of this repository. It takes an hour, and runs only where
//! it is asked for.

use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use diagnose::score::Score;
use diagnose::score::summary::CountOf;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let seeds: u32 = effort.choose(1, 3);
    // The runs of a bench are nobody's to find among their own.
    let archive = std::env::temp_dir().join(format!("linerate-bench-score-{}.db", std::process::id()));
    let mut command = Command::new(actors.linerate());
    command.args(["lab", "score", "--json", "--seeds", &seeds.to_string(), "--archive"]).arg(&archive).arg(scenarios);
    let output = command.stderr(Stdio::inherit()).output().context("linerate cannot be started");
    for suffix in ["", "-wal", "-shm"] {
        // Only what was made is there.
        let _ = std::fs::remove_file(format!("{}{suffix}", archive.display()));
    }
    let output = output?;
    ensure!(output.status.success(), "`linerate lab score` failed: {}", output.status);
    let score: Score = serde_json::from_slice(&output.stdout)?;
    #[expect(clippy::cast_precision_loss, reason = "a count is shown")]
    let missing = Row::new("plays that could not be judged", score.missing.len() as f64, "");
    let brier = score.brier.map(|brier| Row::new("Brier score of the first names", brier, ""));
    let rows = [
        percent("named first", score.first, Target::AtLeast(90.0)),
        percent("among the first three", score.among_three, Target::AtLeast(98.0)),
        percent("host or segment", score.place, Target::AtLeast(95.0)),
        percent("false alarms", score.false_alarms, Target::AtMost(0.0)),
        percent("innocents blamed", score.innocents_blamed, Target::AtMost(0.0)),
        missing.target(Target::AtMost(0.0)),
    ];
    Ok(rows.into_iter().chain(brier).collect())
}

/// None of none is no score.
fn percent(what: &str, part: CountOf, target: Target) -> Row {
    match part.share() {
        Some(share) => Row::new(what, share * 100.0, "%").target(target).note(format!("{} of {}", part.count, part.of)),
        None => Row::failed(what, &anyhow::anyhow!("no play tells")),
    }
}
