//! What a host drops: watched, recorded, watched on another host at the same time. Each watch ends by itself.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use model::host::drops::DropInterval;
use tempfile::TempDir;

use crate::actors::linerate::{linerate, program};
use crate::actors::process::Process;

/// A watch whose next line would come in an hour.
fn endless() -> Command {
    let mut command = program();
    command.args(["host", "drops", "--interval", "1h", "--json"]);
    command
}

/// A command that stands for ssh: it runs the rest on this host, once it has said so on standard error.
fn transport(folder: &TempDir) -> String {
    transport_after(folder, "")
}

/// The same, which does something before.
fn transport_after(folder: &TempDir, before: &str) -> String {
    let path = folder.path().join("there");
    let script = format!(
        "#!/bin/sh\n{before}\necho reached $1 >&2\neval \"set -- $2\"\nshift\nexec {} \"$@\"\n",
        env!("CARGO_BIN_EXE_linerate")
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    // A file that is still open for writing in a child of another test would be busy; the shell only reads it.
    format!("sh {}", path.display())
}

#[test]
fn a_watch_ends_when_nobody_reads_it_any_more() {
    let mut watch = Process::start(&mut endless());
    watch.abandon_stdout();
    assert_eq!(watch.finish().code, Some(0));
}

#[test]
fn watches_on_other_hosts_end_with_the_one_that_started_them_however_it_ends() {
    let folder = TempDir::new().unwrap();
    let held = folder.path().join("held");
    assert!(Command::new("mkfifo").arg(&held).status().unwrap().success());
    // The other watch has this pipe open for as long as it runs.
    let transport = transport_after(&folder, &format!("exec 9<>{}", held.display()));
    let mut watch = Process::start(endless().args(["--with", "dtn2", "--transport", &transport]));
    let said = watch.stderr();
    said.wait_for("the other host", |line| line == "dtn2: reached dtn2");
    let mut held = fs::File::open(&held).unwrap();
    watch.kill();
    let mut rest = Vec::new();
    held.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() && said.rest().is_empty());
}

#[test]
fn hosts_that_are_watched_are_told_side_by_side_and_can_be_read_again() {
    let folder = TempDir::new().unwrap();
    let with = ["--with", "dtn2", "--transport", &transport(&folder)];
    let ended = linerate(&[&["host", "drops", "--for", "100ms", "--interval", "50ms", "--json"], &with[..]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let intervals: Vec<DropInterval> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_other = intervals.iter().filter(|interval| interval.host == "dtn2").count();
    assert_eq!((of_other, intervals.len()), (2, 4), "{}", ended.stdout);

    let recorded = folder.path().join("both.jsonl");
    fs::write(&recorded, &ended.stdout).unwrap();
    let told = linerate(&["host", "drops", recorded.to_str().unwrap()]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("dtn2"), "{}", told.stdout);
}

#[test]
fn what_is_no_recording_is_refused_with_the_way_out() {
    let folder = TempDir::new().unwrap();
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, "nonsense\n").unwrap();
    let ended = linerate(&["host", "drops", empty.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(9), ""));
    assert!(ended.stderr.contains("hint: `linerate host drops --json > FILE` records them"), "{}", ended.stderr);
}
