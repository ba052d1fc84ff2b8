//! How long it takes to know this host, and what that takes: from the command to the last byte of the snapshot.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let (mut times, mut resident) = (Vec::new(), Vec::new());
    for _ in 0..effort.choose(10, 40) {
        let (time_ms, resident_mb) = once(actors)?;
        times.push(time_ms);
        resident.push(resident_mb);
    }
    Ok(vec![
        Row::new("command to snapshot", Spread::of(times).median, "ms").target(Target::AtMost(300.0)),
        Row::new("resident memory, at most", resident.into_iter().fold(0.0, f64::max), "MB")
            .target(Target::AtMost(20.0)),
    ])
}

/// One snapshot of the own namespace: milliseconds, and the most memory that was seen, in 10^6 bytes.
fn once(actors: &Actors) -> anyhow::Result<(f64, f64)> {
    let mut command = Command::new(actors.linerate());
    command.args(["host", "snapshot", "--json"]);
    let began = Instant::now();
    let most = most_resident(command)?;
    Ok((began.elapsed().as_secs_f64() * 1e3, most))
}

/// The most memory that a program has until it ends, in 10^6 bytes.
pub(super) fn most_resident(mut command: Command) -> anyhow::Result<f64> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    most_resident_of(command.spawn().with_context(|| format!("`{name}` cannot be started"))?)
        .with_context(|| format!("`{name}`"))
}

/// The same of one that has been started.
pub(super) fn most_resident_of(mut child: Child) -> anyhow::Result<f64> {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.0_f64;
    let ended = loop {
        // The kernel forgets it when the process ends, so it is asked until then. It only grows.
        most = most.max(most_resident_mb(&status).unwrap_or(0.0));
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::yield_now();
    };
    ensure!(ended.success(), "it failed");
    Ok(most)
}

fn most_resident_mb(status: &str) -> Option<f64> {
    let status = fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1_024.0 * 1e-6)
}
