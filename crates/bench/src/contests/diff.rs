//! How long it takes to find the odd ones among a hundred hosts: from the command to the last byte of the comparison. The
//! hosts are copies of this one, most of them changed a little.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use model::host::fact::{Fact, Source};
use model::host::snapshot::Snapshot;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let output = Command::new(actors.linerate()).args(["host", "snapshot", "--json", "--group", "bench"]).output()?;
    ensure!(output.status.success(), "`linerate host snapshot` failed: {}", String::from_utf8_lossy(&output.stderr));
    let folder = std::env::temp_dir().join(format!("linerate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = write_hosts(&folder, &output.stdout).and_then(|bytes| Ok((bytes, times(actors, effort, &folder)?)));
    fs::remove_dir_all(&folder)?;
    let (bytes, (times, found)) = measured?;
    Ok(vec![
        Row::new("100 hosts compared, command to last byte", Spread::of(times).median, "s")
            .target(Target::AtMost(1.0))
            .note(format!("{found} differences among snapshots of {} kB", bytes / 1000 / u64::from(HOSTS))),
    ])
}

/// Writes the hosts, and tells how many bytes that took.
fn write_hosts(folder: &Path, stored: &[u8]) -> anyhow::Result<u64> {
    let original: Snapshot = serde_json::from_slice(stored)?;
    let mut written = 0;
    for number in 0..HOSTS {
        let mut snapshot = original.clone();
        vary(&mut snapshot, number);
        let json = serde_json::to_vec(&snapshot)?;
        written += json.len() as u64;
        fs::write(folder.join(format!("host{number:03}.json")), json)?;
    }
    Ok(written)
}

/// What makes hosts differ: a name each, sizes of buffers on some, a feature on one, a value of its own on each.
fn vary(snapshot: &mut Snapshot, number: u32) {
    snapshot.machine.name = Fact::known(format!("host{number:03}"), Source::file("bench"));
    let mut set = |key: &str, value: String| {
        if let Some(own) = snapshot.namespaces.first_mut() {
            own.sysctls.insert(key.to_owned(), Fact::known(value, Source::file("bench")));
        }
    };
    set("net.ipv4.tcp_mem", format!("{} {} {}", 100_000 + number, 200_000 + number, 300_000 + number));
    if number.is_multiple_of(7) {
        set("net.ipv4.tcp_rmem", "4096 87380 67108864".to_owned());
    }
    if number.is_multiple_of(13) {
        set("net.ipv4.tcp_congestion_control", "bbr".to_owned());
    }
    let interfaces = snapshot.namespaces.first_mut().into_iter().flat_map(|own| &mut own.interfaces);
    for interface in interfaces.filter(|_| number == HOSTS / 2) {
        if let Ok(features) = &mut interface.features.reading {
            features.values_mut().for_each(|feature| feature.active = !feature.active);
        }
    }
}

/// Seconds of each comparison, and how many differences were found.
fn times(actors: &Actors, effort: Effort, folder: &Path) -> anyhow::Result<(Vec<f64>, usize)> {
    let (mut times, mut found) = (Vec::new(), 0);
    for _ in 0..effort.choose(3, 15) {
        let mut command = Command::new(actors.linerate());
        command.args(["host", "diff", "--json", "--group", "bench"]).arg(folder);
        let began = Instant::now();
        let output = command.output().context("linerate cannot be started")?;
        times.push(began.elapsed().as_secs_f64());
        // It ends with 10 because something differs.
        ensure!(output.status.code() == Some(10), "`linerate host diff` failed: {output:?}");
        let comparison: audit::compare::Comparison = serde_json::from_slice(&output.stdout)?;
        found = comparison.differences.len();
    }
    Ok((times, found))
}

const HOSTS: u32 = 100;
