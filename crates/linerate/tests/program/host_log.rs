//! The change log as its users meet it: watched, killed, read and noted on.

use std::process::Command;

use model::host::change::{ChangeSource, LoggedChange};

use crate::actors::linerate::{ArchiveFile, linerate, program};
use crate::actors::process::{Lines, Process};

/// A watcher in a network namespace of its own, in which a shell runs what it is told.
struct Watched {
    archive: ArchiveFile,
    /// Keeps the namespace.
    place: Process,
    is_root: bool,
}

impl Watched {
    fn new() -> Self {
        // As root of the machine the kernel tells who writes to files; a user namespace does for all else.
        let is_root = Command::new("unshare").args(["-n", "true"]).status().is_ok_and(|status| status.success());
        let kinds = if is_root { "-n" } else { "-Urn" };
        let mut place =
            Process::start(Command::new("unshare").args([kinds, "sh", "-c", "echo here; exec tail -f /dev/null"]));
        place.stdout().wait_for("the namespace", |line| line == "here");
        Self { archive: ArchiveFile::new(), place, is_root }
    }

    /// Runs a program in the namespace.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        let pid = self.place.id().to_string();
        inside.args(["-t", &pid, "-n"]);
        if !self.is_root {
            inside.args(["-U", "--preserve-credentials"]);
        }
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    fn shell(&self, line: &str) {
        let ended = Process::start(&mut self.inside(Command::new("sh").args(["-c", line]))).finish();
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
    }

    /// Starts a watcher, and waits until it watches.
    fn watch(&self) -> (Process, Lines) {
        let mut command = program();
        command.args(["host", "watch", "--print", "--json", "--archive", self.archive.arg()]);
        let mut process = Process::start(&mut self.inside(&command));
        let (said, entered) = (process.stderr(), process.stdout());
        said.wait_for("`watching`", |line| line.starts_with("watching"));
        (process, entered)
    }

    fn log(&self, more: &[&str]) -> Vec<LoggedChange> {
        let ended = linerate(&[&["host", "log", "--json", "--archive", self.archive.arg()], more].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn entry(lines: &Lines, fact: &str) -> LoggedChange {
    let has = format!("\"fact\":\"{fact}\"");
    serde_json::from_str(&lines.wait_for(fact, |line| line.contains(&has))).unwrap()
}

#[test]
fn what_happens_while_the_watcher_is_dead_is_entered_by_the_next_one() {
    let watched = Watched::new();
    watched.shell("sysctl -qw net.ipv4.tcp_ecn=2 net.ipv4.tcp_sack=1");
    let (mut first, lines) = watched.watch();
    watched.shell("sysctl -qw net.ipv4.tcp_ecn=1");
    let seen = entry(&lines, "net.ipv4.tcp_ecn");
    assert_eq!((seen.entry.source, seen.entry.after), (ChangeSource::Watch, None));
    first.kill();
    watched.shell("sysctl -qw net.ipv4.tcp_sack=0");
    let (second, lines) = watched.watch();
    let found = entry(&lines, "net.ipv4.tcp_sack");
    assert_eq!(found.entry.source, ChangeSource::Comparison);
    assert!(found.entry.after.is_some_and(|after| after < found.entry.time), "{found:?}");
    second.signal("TERM");
    let ended = second.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let facts: Vec<String> = watched.log(&[]).into_iter().map(|change| change.entry.fact).collect();
    assert_eq!(facts, ["net.ipv4.tcp_ecn", "net.ipv4.tcp_sack"]);
    assert_eq!(watched.log(&["--fact", "SACK"]).len(), 1);
    assert!(watched.log(&["--until", "1h"]).is_empty());
}

#[test]
fn second_watcher_of_a_host_is_refused_and_told_of_the_first() {
    let watched = Watched::new();
    let (first, _lines) = watched.watch();
    let mut command = program();
    command.args(["host", "watch", "--archive", watched.archive.arg()]);
    let second = Process::start(&mut watched.inside(&command)).finish();
    assert_eq!((second.code, second.stdout.as_str()), (Some(8), ""), "{}", second.stderr);
    assert!(second.stderr.contains("watched already") && second.stderr.contains("process "), "{}", second.stderr);
    drop(first);
}

#[test]
fn people_enter_and_note_what_no_program_can_see() {
    let archive = ArchiveFile::new();
    let log = |more: &[&str]| linerate(&[&["host", "log", "--archive", archive.arg()], more].concat());
    let missing = log(&[]);
    assert_eq!(missing.code, Some(9), "{}", missing.stderr);
    let added = log(&["add", "replaced optics", "--ticket", "NET-12", "--subject", "eth0"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    let noted = log(&["note", "1", "and cleaned the fibre"]);
    assert_eq!(noted.code, Some(0), "{}", noted.stderr);
    let shown = log(&[]);
    for part in ["eth0", "by hand", "replaced optics [NET-12]; and cleaned the fibre"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let unknown = log(&["note", "2", "x"]);
    assert_eq!(unknown.code, Some(9));
    assert_eq!(log(&["--since", "1h", "add", "x"]).code, Some(2), "what to show says nothing of what to enter");
    assert!(unknown.stderr.contains("there is no change 2"), "{}", unknown.stderr);
    assert!(log(&["--since", "yesterday"]).stderr.contains("3h for three hours ago"));
}
