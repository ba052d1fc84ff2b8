//! What a watched host pays, and how soon a change is in the log: `linerate host watch` in a network namespace of its own,
//! where sysctls are written one at a time.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};

/// The part inside a namespace with privileges.
pub(super) fn inside(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let folder = std::env::temp_dir().join(format!("linerate-bench-watch-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = watched(actors, effort, &folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn watched(actors: &Actors, effort: Effort, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let mut command = Command::new(actors.linerate());
    command.args(["host", "watch", "--print", "--archive"]).arg(folder.join("archive.db"));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut watch = Watch(child.context("linerate cannot be started")?);
    let mut talk = BufReader::new(watch.0.stderr.take().context("no output")?);
    let mut entries = BufReader::new(watch.0.stdout.take().context("no output")?);
    // It says what it watches once it does.
    ensure!(talk.read_line(&mut String::new())? > 0, "`linerate host watch` does not begin");
    let mut latest = Duration::ZERO;
    for number in 0..effort.choose(10, MOST_CHANGES) {
        latest = latest.max(entered(&mut entries, number)?);
    }
    let length = Duration::from_secs(effort.choose(10, 60));
    let before = watch.processor_time()?;
    thread::sleep(length);
    let share = (watch.processor_time()? - before).as_secs_f64() / length.as_secs_f64();
    Ok(vec![
        Row::new("sysctl written to entry in the log, the slowest", latest.as_secs_f64() * 1e3, "ms")
            .target(Target::AtMost(1_000.0)),
        Row::new("CPU time while nothing changes", share * 100.0, "% of a core").target(Target::AtMost(0.2)),
        Row::new("resident memory", watch.resident_mb()?, "MB").target(Target::AtMost(15.0)),
    ])
}

/// More of one setting within an hour are left to the comparison (`host::watch`, `restless`).
const MOST_CHANGES: u32 = 20;

/// How long it takes from a value to the line that says it is in the log.
fn entered(entries: &mut impl BufRead, number: u32) -> anyhow::Result<Duration> {
    let value = format!("{} {} {}", 4_096, 131_072, 6_291_456 + number);
    let began = Instant::now();
    fs::write("/proc/sys/net/ipv4/tcp_rmem", &value).context("the namespace does not allow it")?;
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(entries.read_line(&mut line)? > 0, "`linerate host watch` has ended");
        if line.contains(&value) {
            return Ok(began.elapsed());
        }
    }
}

/// A watch that ends with its owner.
struct Watch(Child);

impl Watch {
    /// What all its threads have had of the processors.
    fn processor_time(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let account = fs::read_to_string(thread?.path().join("schedstat"))?;
            nanos += account.split_whitespace().next().context("no time")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }

    fn resident_mb(&self) -> anyhow::Result<f64> {
        super::idle::resident_mb(self.0.id())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
