//! What is promised of gateways: how long a model of 6 hours at 21 gateways takes, from the command to the last byte, and what
//! our policies do at 93 % of what unequal gateways move, beside XRootD's own best.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for policy in ["load-80-20", "least-inflight"] {
        let file = written(
            folder.path().join(format!("{policy}.toml")),
            &format!("repetitions = 1\npolicies = [\"{policy}\"]\n"),
        )?;
        let mut times = Vec::new();
        for run in 0..effort.choose(3, 11) {
            let output = folder.path().join(format!("{policy}-{run}.parquet"));
            let begin = Instant::now();
            simulate(actors, &file, &output)?;
            times.push(begin.elapsed().as_secs_f64());
        }
        rows.push(
            Row::new(format!("6 h at 21 gateways by {policy}, command to last byte"), Spread::of(times).median, "s")
                .target(Target::AtMost(2.0))
                .note("4 older and 17 newer gateways at 93 % of what they move"),
        );
    }
    rows.extend(promised(actors, folder.path(), effort.choose(5, 100))?);
    Ok(rows)
}

/// Our policies at 93 % of the capacity, on the same files as `affinity-randomized` of XRootD 5.7.
fn promised(actors: &Actors, folder: &Path, seeds: u32) -> anyhow::Result<Vec<Row>> {
    let head = format!(
        "repetitions = {seeds}\npolicies = [\"affinity-randomized\", \"inflight-cmsd\", \"least-inflight\"]\n\
         baseline = \"affinity-randomized\"\n"
    );
    let file = written(folder.join("promised.toml"), &head)?;
    let printed = simulate(actors, &file, &folder.join("promised.parquet"))?;
    let report: Value = serde_json::from_str(&printed).context("the report is no JSON")?;
    let mut rows = Vec::new();
    for policy in ["inflight-cmsd", "least-inflight"] {
        let lines = report["lines"].as_array().context("the report has lines")?;
        let line = lines.iter().find(|line| line["policy"] == policy).context("the report has the policy")?;
        let measure = |name: &str, part: &str| -> anyhow::Result<f64> {
            let measures = line["measures"].as_array().context("a line has measures")?;
            let found = measures.iter().find(|measure| measure["name"] == name);
            found.and_then(|measure| measure["mean"][part].as_f64()).with_context(|| format!("{policy}: no {name}"))
        };
        let mean =
            |name: &str| -> anyhow::Result<String> { Ok(format!("mean {:.4}, {seeds} seeds", measure(name, "mean")?)) };
        let gain = |part: &str| line["goodput_gain"][part].as_f64().context("a gain of goodput");
        rows.push(
            Row::new(format!("{policy} at 93 %: most restarts of a run"), measure("restarts", "largest")?, "")
                .target(Target::AtMost(0.0))
                .note(mean("restarts")?),
        );
        rows.push(
            Row::new(format!("{policy} at 93 %: spread, upper end of 95 %"), measure("spread_in_flight", "high")?, "")
                .target(Target::AtMost(0.15))
                .note(mean("spread_in_flight")?),
        );
        rows.push(
            Row::new(
                format!("{policy} at 93 %: deletion p95, upper end"),
                measure("deletion_p95_ratio", "high")?,
                "x idle",
            )
            .target(Target::AtMost(1.2))
            .note(mean("deletion_p95_ratio")?),
        );
        rows.push(
            Row::new(format!("{policy} at 93 %: goodput gain, lower end"), 100.0 * gain("low")?, "%")
                .target(Target::AtLeast(0.0))
                .note(format!("mean {:.2} % of affinity-randomized, seed by seed", 100.0 * gain("mean")?)),
        );
    }
    Ok(rows)
}

fn written(file: PathBuf, head: &str) -> anyhow::Result<PathBuf> {
    let name = file.file_stem().unwrap_or_default().display();
    let text = format!("name = \"{name}\"\n{head}[set]\nhours = 6.0\n[vary]\nutilisation = [0.93]\n");
    fs::write(&file, text)?;
    Ok(file)
}

/// Runs an experiment, and returns its report as JSON.
fn simulate(actors: &Actors, file: &Path, output: &Path) -> anyhow::Result<String> {
    let mut command = Command::new(actors.linerate());
    command.args(["simulate", "gateways", "--quiet", "--json", "--jobs=1", "-o"]).arg(output).arg(file);
    let done = command.output()?;
    ensure!(done.status.success(), "the model failed: {}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8(done.stdout)?)
}
