//! `linerate demo`: told to its end, or not, it leaves nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// `linerate demo` with these arguments, for a user with a place of their own.
fn demo(place: &TempDir, args: &[&str]) -> Command {
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
    let place = TempDir::new().unwrap();
    let mut child = demo(&place, &["nrao"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("the network is up") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended before its network was up");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    // Its hosts hold the other end as well: when all have let go of it, all are gone.
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut told, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert_eq!(left(&place), [""; 0]);
}
