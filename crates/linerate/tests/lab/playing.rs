//! `linerate lab run`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use model::played::{Finding, Played};
use serde_json::Value;

use crate::user::User;

const TESTS: &str = r#"
[[tests]]
kind = "tcp"
from = "west"
to = "east"
time = "1s"
cca = "cubic"
"#;

/// The pair, with something to measure.
fn with_tests(user: &User, tests: &str) -> String {
    let pair = std::fs::read_to_string(user.pair()).unwrap();
    user.writes("tested.toml", &pair.replace("[truth]", &format!("{tests}\n[truth]")))
}

#[test]
fn tests_run_and_the_truth_is_told() {
    let user = User::new();
    let scenario = with_tests(&user, TESTS);
    let text = user.lab(&["run", &scenario, "--no-archive"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    for line in
        ["The network is up: 2 hosts", "ping 10 of 10 answered", "tcp out", "nothing is wrong", "what the links did"]
    {
        assert!(text.contains(line), "{line}:\n{text}");
    }
}

#[test]
fn json_is_one_document_with_runs_that_are_kept() {
    let user = User::new();
    let scenario = with_tests(&user, TESTS);
    let archive = user.writes("archive.db", "");
    std::fs::remove_file(&archive).unwrap();
    let output = user.lab(&["run", &scenario, "--json", "--archive", &archive]).output().unwrap();
    let played: Played = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((played.seed, played.tests.len()), (1, 2));
    let Finding::Run(run) = &played.tests[1].finding else { panic!("{:?}", played.tests[1]) };
    assert!(played.tests[1].began > played.tests[0].began);
    for link in &played.links {
        assert!(link.taken_packets.get() > 100, "{link:?}");
        assert_eq!(link.unaccounted(), 0, "{link:?}");
    }
    let kept = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["runs", "show", &run.id.to_string(), "--json", "--archive", &archive])
        .output()
        .unwrap();
    let kept: Value = serde_json::from_slice(&kept.stdout).unwrap();
    assert_eq!(kept["id"], run.id.to_string());
}

#[test]
fn downloads_are_understood() {
    const DOWNLOADS: &str = r#"
[[services]]
kind = "files"
host = "east"
files = { "small.bin" = "1MB" }

[[tests]]
kind = "http"
from = "west"
to = "east"
file = "small.bin"
count = 2
"#;
    let user = User::new();
    let scenario = with_tests(&user, DOWNLOADS);
    let output = user.lab(&["run", &scenario, "--json", "--no-archive"]).output().unwrap();
    let played: Played = serde_json::from_slice(&output.stdout).unwrap();
    let Finding::Downloads(downloads) = &played.tests[1].finding else { panic!("{:?}", played.tests[1]) };
    assert_eq!(downloads.len(), 2);
    assert!(downloads.iter().all(|download| download.goodput.is_some() && !download.tcp.is_empty()), "{downloads:?}");
}

#[test]
fn stopping_ends_the_test_and_takes_everything_away() {
    let user = User::new();
    let scenario = with_tests(&user, &TESTS.replace("\"1s\"", "\"60s\""));
    let mut playing =
        user.lab(&["run", &scenario, "--no-archive"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(playing.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ping 10 of 10")), "the first test has ended");
    let sent = Command::new("kill").args(["-INT", &playing.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(playing.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("the truth")), "what was found until then is told: {rest:?}");
}

#[test]
fn scenario_that_is_not_there_is_told_with_the_nearest() {
    let user = User::new();
    let output = user.lab(&["run", "healty-lan"]).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    assert!(String::from_utf8_lossy(&output.stderr).contains("healthy-lan"), "{output:?}");
}
