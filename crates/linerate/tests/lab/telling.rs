//! `linerate demo`: told to its end, or not, it leaves nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use diagnose::proof::{AppliedFix, Chapter};
use serde_json::Value;
use tempfile::TempDir;

/// `linerate demo` with these arguments, for a user with a place of their own.
pub fn demo(place: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_RUNTIME_DIR", place.path()).env("TMPDIR", place.path()).env_remove("LINERATE_ARCHIVE");
    command.arg("demo").args(args).stdin(Stdio::null());
    command
}

/// What lies in the user's place besides the directory of labs.
fn left(place: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(place.path()).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != "linerate").collect()
}

#[test]
fn the_incidents_are_listed_with_their_chapters() {
    let place = TempDir::new().unwrap();
    let output = demo(&place, &["--list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|story| story["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["nrao", "lhn", "dc24", "amlight", "potpourri"]);
    let text = String::from_utf8(demo(&place, &["--list"]).output().unwrap().stdout).unwrap();
    assert!(text.contains("nrao-overlay-offload") && text.contains("circuit-unshaped"), "{text}");
    let unknown = demo(&place, &["nroa"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(9), "{}", String::from_utf8_lossy(&unknown.stderr));
}

#[test]
fn interrupted_demonstration_leaves_nothing() {
    interrupted(1);
}

#[test]
fn one_that_is_interrupted_twice_ends_at_once_and_leaves_nothing() {
    interrupted(2);
}

/// Sends so many signals to a demonstration whose network is up.
fn interrupted(signals: usize) {
    let place = TempDir::new().unwrap();
    let mut child = demo(&place, &["nrao"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("the network is up") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended before its network was up");
    }
    for _ in 0..signals {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
    // Its hosts hold the other end as well: when all have let go of it, all are gone.
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut told, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert_eq!(left(&place), [""; 0]);
}

/// What is bought is a tenth of what the link can carry, which no machine is too slow for.
pub const POLICED: &str = r#"
title = "A provider drops what is above 2 Mbit/s"
about = "The far link has a policer."

[hosts.west]
congestion-control = "cubic"
[hosts.middle]
forwards = true
[hosts.east]
congestion-control = "cubic"

[[links]]
name = "near"
between = ["west", "middle"]
[[links]]
name = "far"
between = ["middle", "east"]
speed = "20Mbit/s"
both = [{ port = { rate = "20Mbit/s", queue = { bytes = "200kB" } } }, { delay = { time = "5ms" } }]

[[faults]]
id = "policer"
link = "far"
towards = "east"
add = { policer = { rate = "2Mbit/s", burst = "30kB" } }

[[tests]]
kind = "tcp"
from = "west"
to = "east"
time = "2s"
expect = "20Mbit/s"

[truth]
causes = [{ id = "policer", link = "far", towards = "east", fault = "policer" }]
"#;

#[test]
fn an_incident_is_told_to_its_end_with_as_many_tests_before_as_after() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("policed.toml");
    fs::write(&file, POLICED).unwrap();
    let output = demo(&place, &[file.to_str().unwrap(), "--json"]).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let told: Vec<Chapter> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"));
    let [chapter] = told.as_slice() else { panic!("{} chapters", told.len()) };
    assert!(!chapter.diagnosis.is_healthy(), "a tenth of the rate is no health: {chapter:#?}");
    assert_eq!(output.status.code(), Some(if chapter.is_fixed() { 0 } else { 10 }), "{complaint}");
    // A machine that was busy otherwise may have been the limit, and says so; what it saw then is no evidence of anything.
    if chapter.limited_by_emulation.is_empty() {
        let [AppliedFix::Network { place, faults, .. }] = chapter.fixes.as_slice() else { panic!("{chapter:#?}") };
        // Some of the causes that show alike are of both directions.
        assert!(place.starts_with("far") && *faults == ["policer"], "{place}: {faults:?}");
        let pair = chapter.proof.as_ref().and_then(|proof| proof.those(true).next()).unwrap();
        assert_eq!((pair.before.len(), pair.after.len()), (4, 4));
        assert!(chapter.is_fixed(), "{chapter:#?}");
    }
    assert_eq!(left(&place), ["policed.toml"]);
}
