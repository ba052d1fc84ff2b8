//! `linerate import` and `linerate test --tool` as their users meet them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(super) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign").join(name)
}

pub(super) fn linerate(archive: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_ARCHIVE", archive.path().join("archive.db")).env("TZ", "UTC");
    command
}

pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn import(archive: &TempDir, arguments: &[&str], files: &[&str]) -> Output {
    linerate(archive).arg("import").args(arguments).args(files.iter().map(|file| data(file))).output().unwrap()
}

fn listed(archive: &TempDir) -> Vec<Value> {
    let output = linerate(archive).args(["runs", "list", "--json"]).output().unwrap();
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_report_becomes_runs_with_statements() {
    let archive = TempDir::new().unwrap();
    let output = import(&archive, &[], &["la-serena-to-champaign-2020.txt", "brown-firewall-2013.txt"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    for statement in [
        "line 19: iperf3 text",
        "a multiple of 8948 bytes",
        "62 segments were retransmitted of about 1430, 4.3 %",
        "58791 of 840532 datagrams were lost, 7.0 %",
        "20.5 times as fast one way as the other",
    ] {
        assert!(said.contains(statement), "{statement}: {said}");
    }
    let runs = listed(&archive);
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().any(|run| run["peer"] == "bwctl.newy.net.internet2.edu" && run["direction"] == "reverse"));
}

/// On a terminal of 80 columns, which `script` makes.
#[test]
fn what_was_imported_fits_a_terminal() {
    let command = format!(
        "stty cols 80; {} import --no-archive {}",
        env!("CARGO_BIN_EXE_linerate"),
        data("evidence/client.log").display()
    );
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("where the rate went"), "{shown}");
    let wide: Vec<&str> = shown.lines().filter(|line| line.trim_end().chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn importing_twice_keeps_once() {
    let archive = TempDir::new().unwrap();
    for _ in 0..2 {
        assert_eq!(import(&archive, &[], &["iperf3-3.12-tcp.json"]).status.code(), Some(0));
    }
    assert_eq!(listed(&archive).len(), 1);
}

#[test]
fn without_the_archive_nothing_is_kept_and_json_has_the_run() {
    let archive = TempDir::new().unwrap();
    let output = import(&archive, &["--no-archive", "--json"], &["amlight-209ms-2023.txt"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["format"], "iperf3 text");
    assert_eq!(document["run"]["measurement"]["totals"][0]["goodput_bps"], 17_200_000_000_u64);
    assert!(document["observations"][1].as_str().unwrap().contains("210 ms"));
    assert_eq!(listed(&archive).len(), 0);
}

#[test]
fn standard_input_is_read_and_a_failed_test_is_kept_with_its_reason() {
    let archive = TempDir::new().unwrap();
    let mut command = linerate(&archive);
    let mut child = command.args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let busy = std::fs::read(data("iperf3-3.12-busy.json")).unwrap();
    child.stdin.take().unwrap().write_all(&busy).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(listed(&archive)[0]["outcome"]["kind"], "busy");
}

#[test]
fn what_cannot_be_read_is_named_with_line_and_expectation() {
    let archive = TempDir::new().unwrap();
    let file = archive.path().join("notes.txt");
    std::fs::write(&file, "buy milk\n").unwrap();
    let output = linerate(&archive).arg("import").arg(&file).arg(data("iperf3-3.12-udp.txt")).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    let said = text(&output.stderr);
    assert!(said.contains("notes.txt: line 1 is no output of a known tool: `buy milk`"), "{said}");
    // The other file was read all the same.
    assert_eq!(listed(&archive).len(), 1);
    let missing = linerate(&archive).args(["import", "/nonexistent"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(9));
}

#[test]
fn a_program_that_is_missing_or_unable_is_told_with_the_way_out() {
    let archive = TempDir::new().unwrap();
    let missing =
        linerate(&archive).env("PATH", archive.path()).args(["test", "::1", "--tool", "iperf3"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(8), "{missing:?}");
    assert!(text(&missing.stderr).contains("hint: install it"), "{missing:?}");
    let unable = linerate(&archive).args(["test", "::1", "--tool", "nuttcp", "--bidir"]).output().unwrap();
    assert_eq!(unable.status.code(), Some(2), "{unable:?}");
    assert!(text(&unable.stderr).contains("hint: leave out --bidir"), "{unable:?}");
}

/// The log as the incident's report prints it, from standard input, with what people knew of the path.
#[test]
fn why_reads_logs_of_other_tools_and_says_what_it_read() {
    let archive = TempDir::new().unwrap();
    let log = std::fs::read(data("accounts/la-serena-2020.txt")).unwrap();
    let mut command = linerate(&archive);
    let mut child = command
        .args(["why", "--expect", "150Mbit/s", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&log).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    assert!(!text(&output.stdout).trim().is_empty());
    assert_eq!(listed(&archive).len(), 0, "why stores nothing");
    let missing = linerate(&archive).arg("why").arg(data("evidence/ping.txt")).arg("/nonexistent").output().unwrap();
    assert_eq!(missing.status.code(), Some(9), "{missing:?}");
}

#[test]
fn several_files_are_seen_together() {
    let archive = TempDir::new().unwrap();
    let files =
        ["client.log", "server.log", "ping.txt", "ss.txt", "ethtool.txt"].map(|name| data("evidence").join(name));
    let output = linerate(&archive).arg("why").args(files).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    assert!(text(&output.stderr).is_empty(), "{output:?}");
}

/// What the user declares is stored with the run, and read back.
#[test]
fn declared_facts_are_stored_beside_the_measurement() {
    let archive = TempDir::new().unwrap();
    let output = import(
        &archive,
        &["--json", "--rtt", "190ms", "--line-rate", "10Gbit/s", "--cca", "htcp"],
        &["la-serena-to-champaign-2020.txt"],
    );
    let first: Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(first["run"]["declared"]["rtt_us"], 190_000);
    assert_eq!(first["run"]["declared"]["congestion_control"], "htcp");
    assert_eq!(first["run"]["declared_line_rate_bps"], 10_000_000_000_u64);
}
