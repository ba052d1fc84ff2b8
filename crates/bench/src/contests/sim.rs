//! How long it takes to predict a transfer of 13 GiB over 209 ms at 100 Gbit/s, from the command to the last byte.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut times = Vec::new();
    let mut took = 0.0;
    for _ in 0..effort.choose(5, 21) {
        let begin = Instant::now();
        let output = Command::new(actors.linerate()).args(TRANSFER).output()?;
        times.push(begin.elapsed().as_secs_f64());
        ensure!(output.status.success(), "the simulation failed: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        took = report["took_us"].as_f64().context("a simulation says how long the transfer takes")? / 1e6;
    }
    Ok(vec![
        Row::new("13 GiB over 209 ms predicted, command to last byte", Spread::of(times).median, "s")
            .target(Target::AtMost(0.05))
            .note(format!("it takes {took:.2} s; between two real hosts it took 6.49 s")),
    ])
}

/// The transfer of an experiment with hosts 209 ms apart.
const TRANSFER: [&str; 22] = [
    "simulate",
    "flow",
    "--json",
    "--sample=1s",
    "--rate",
    "100Gbit/s",
    "--rtt",
    "209ms",
    "--mtu",
    "9200",
    "--bytes",
    "13GiB",
    "--congestion",
    "htcp",
    "--initial-window",
    "1000",
    "--wmem=1GiB",
    "--rmem=2GiB",
    "--cpu-rate",
    "60Gbit/s",
    "--queue",
    "20MB",
];
