//! How long a model of 6 hours at 21 gateways takes, from the command to the last byte.

use std::fs;
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;

use crate::actors::Actors;
use crate::contests::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for policy in ["load-80-20", "least-inflight"] {
        let file = folder.path().join(format!("{policy}.toml"));
        let text = format!("name = \"{policy}\"\nrepetitions = 1\npolicies = [\"{policy}\"]\n[set]\nhours = 6.0\n");
        fs::write(&file, text)?;
        let mut times = Vec::new();
        for run in 0..effort.choose(3, 11) {
            let output = folder.path().join(format!("{policy}-{run}.parquet"));
            let begin = Instant::now();
            let mut command = Command::new(actors.linerate());
            let done =
                command.args(["simulate", "gateways", "--quiet", "--jobs=1", "-o"]).arg(&output).arg(&file).output()?;
            times.push(begin.elapsed().as_secs_f64());
            ensure!(done.status.success(), "the model failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        rows.push(
            Row::new(format!("6 h at 21 gateways by {policy}, command to last byte"), Spread::of(times).median, "s")
                .target(Target::AtMost(2.0))
                .note("4 older and 17 newer gateways at 93 % of what they move"),
        );
    }
    Ok(rows)
}
