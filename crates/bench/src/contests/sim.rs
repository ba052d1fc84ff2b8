//! What it takes to predict a transfer of 13 GiB over 209 ms at 100 Gbit/s, from the command to the last byte: time, instructions, memory;
//! and what ten such transfers through one queue take beside one.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::contests::snapshot::most_resident;
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
    let mut flow = Command::new(actors.linerate());
    flow.args(TRANSFER);
    let mut rows = vec![
        Row::new("13 GiB over 209 ms predicted, command to last byte", Spread::of(times).median, "s")
            .target(Target::AtMost(0.05))
            .note(format!("it takes {took:.2} s; between two real hosts it took 6.49 s")),
        Row::new("resident memory, at most", most_resident(flow)?, "MB").target(Target::AtMost(16.0)),
    ];
    rows.extend(counted(actors).unwrap_or_else(|error| vec![Row::failed("instructions of it", &error)]));
    Ok(rows)
}

/// Instructions, which no other load of the machine changes.
fn counted(actors: &Actors) -> anyhow::Result<Vec<Row>> {
    let one = instructions(actors, "1")?;
    let ten = instructions(actors, "10")?;
    Ok(vec![
        Row::new("instructions of it", one / 1e6, "million").note("counted by cachegrind"),
        Row::new("instructions of ten through one queue, by those of one", ten / one, "").target(Target::AtMost(10.0)),
    ])
}

/// Instructions of a prediction with so many flows, by valgrind's cachegrind.
fn instructions(actors: &Actors, flows: &str) -> anyhow::Result<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(actors.linerate()).args(TRANSFER).args(["--flows", flows]);
    let output = command.output().context("valgrind cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("refs:"));
    let (_, count) = count.with_context(|| format!("valgrind counted nothing: {said}"))?;
    count.trim().replace(',', "").parse().with_context(|| format!("`{count}` is no count of instructions"))
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
