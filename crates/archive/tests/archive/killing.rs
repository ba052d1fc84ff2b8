//! A run that was acknowledged is there after the process is killed at any moment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use archive::{Archive, Filter};
use model::run::RunId;
use model::series::RunSamples;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::runs;

/// How often the writer is killed. The seed is the number of the round, so a failure repeats; `make soak` moves it.
const KILLS: u64 = 20;

/// Names the archive to the writer, which is this test again.
const PATH: &str = "LINERATE_TEST_KILLED_ARCHIVE";
/// The number of its first run.
const FIRST: &str = "LINERATE_TEST_KILLED_FIRST";

#[test]
fn acknowledged_runs_survive_a_kill() {
    if let Some(path) = std::env::var_os(PATH) {
        write_until_killed(Path::new(&path));
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive.db");
    let mut acknowledged: Vec<(RunId, u64)> = Vec::new();
    for round in 0..KILLS {
        let first = round * 1000;
        let wanted = 1 + (round + runs::seed()).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 13;
        let told = kill_after(&path, first, wanted);
        assert!(told.len() as u64 >= wanted, "the writer told of {} of {wanted} runs", told.len());
        acknowledged.extend(told);
        check(&path, &acknowledged);
    }
}

/// Lets a writer store runs until it has told of `wanted` of them, kills it, and returns all that it told of: more
/// may have been on their way.
fn kill_after(path: &Path, first: u64, wanted: u64) -> Vec<(RunId, u64)> {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killing::acknowledged_runs_survive_a_kill", "--nocapture"])
        .env(PATH, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = Vec::new();
    for line in BufReader::new(writer.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((_, id)) = line.split_once("stored ") else { continue };
        // The kill may cut a line short; what was not told in full was not told.
        let Ok(id) = id.parse() else { continue };
        told.push((id, first + told.len() as u64));
        if told.len() as u64 == wanted {
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
    told
}

fn check(path: &Path, acknowledged: &[(RunId, u64)]) {
    let archive = Archive::open(path).unwrap();
    for (id, number) in acknowledged {
        assert_eq!(archive.run(id).unwrap(), runs::at(*number));
        assert_eq!(archive.samples(id).unwrap(), samples(*number));
    }
    // Runs that were stored and not told of may be there as well, and then they are whole.
    for run in archive.list(&Filter::default()).unwrap() {
        archive.run(&run.id).unwrap();
        archive.samples(&run.id).unwrap();
    }
    let connection = Connection::open(path).unwrap();
    let ask = |query| connection.query_row(query, [], |row| row.get::<_, String>(0));
    assert_eq!(ask("PRAGMA integrity_check").unwrap(), "ok");
    assert!(ask("PRAGMA foreign_key_check").is_err(), "a block of samples without its run");
}

/// What the writer does: stores runs, and tells of each once `store` has returned.
fn write_until_killed(path: &Path) -> ! {
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let mut archive = Archive::open(path).unwrap();
    let mut number = first;
    loop {
        archive.store(&runs::at(number), &samples(number)).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "stored {}", runs::at(number).id).unwrap();
        out.flush().unwrap();
        number += 1;
    }
}

/// From a few hundred bytes to several pages, so that a kill meets checkpoints of all sizes.
fn samples(number: u64) -> RunSamples {
    let mut samples = runs::samples(number);
    let copies = 1 + usize::try_from(number % 7).unwrap() * 4;
    let stream = samples.streams.remove(0);
    samples.streams.resize(copies, stream);
    samples
}
