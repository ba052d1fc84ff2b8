//! `linerate simulate sweep`, `merge` and `show`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};

const SMALL: &str = r#"
name = "small"
repetitions = 3
[set]
rate = "100Mbit/s"
rtt = ["10ms", "20ms"]
bytes = "200kB"
deadline = "40ms"
[[figure]]
name = "by-round-trip"
title = "Completion time"
across = "rtt"
[[expect]]
name = "longer"
says = "a longer way takes longer"
rises-with = "rtt"
[[expect]]
name = "never"
says = "nothing takes an hour"
at-least = "1h"
"#;

/// Runs the program in a folder.
fn in_folder(folder: &Path, args: &[&str]) -> Ended {
    Process::start(program().current_dir(folder).arg("simulate").args(args)).finish()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let ended = in_folder(folder, args);
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    ended.stdout
}

/// Asserts the exit code, and what the first line and the hints say.
fn refused(folder: &Path, args: &[&str], code: i32, parts: &[&str]) {
    let ended = in_folder(folder, args);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{args:?}: {}", ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "{args:?} does not say `{part}`: {}", ended.stderr);
    }
}

fn small() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

#[test]
fn a_sweep_says_what_came_of_it_and_leaves_one_table() {
    let folder = small();
    let told = done(folder.path(), &["sweep", "small.toml", "--plots", "figures"]);
    for part in [
        "small: 6 transfers",
        "RTT",
        "MISSED",
        "EXPECTED",
        "longer    met",
        "never     NOT MET",
        "1 of 2 expectations are met",
    ] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    let picture = fs::read_to_string(folder.path().join("figures/by-round-trip.svg")).unwrap();
    assert!(roxmltree::Document::parse(&picture).is_ok() && picture.contains("rtt, ms"), "{picture}");
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["figures", "small.parquet", "small.toml"], "nothing else is left");
    let again = in_folder(folder.path(), &["sweep", "small.toml"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), told.as_str()));
    assert!(again.stderr.contains("small.parquet was finished before"), "{}", again.stderr);
    assert_eq!(done(folder.path(), &["show", "small.parquet"]), told);
}

#[test]
fn the_shares_together_are_what_one_process_makes() {
    let folder = small();
    done(folder.path(), &["sweep", "small.toml", "-o", "once.parquet"]);
    for share in ["1/3", "2/3", "3/3"] {
        done(folder.path(), &["sweep", "small.toml", "--shard", share, "--jobs", "1"]);
    }
    let parts = ["small.3-of-3.parquet", "small.1-of-3.parquet", "small.2-of-3.parquet"];
    done(folder.path(), &[&["merge"], &parts[..], &["-o", "all.parquet"]].concat());
    let [once, all] = ["once.parquet", "all.parquet"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(once, all);
    refused(
        folder.path(),
        &["merge", parts[0], parts[1], "-o", "x.parquet"],
        2,
        &["missing: 2", "--shard 2/3", "x.parquet was not written"],
    );
    refused(folder.path(), &["merge", parts[0], parts[0], "-o", "x.parquet"], 2, &["are both share 3/3"]);
    refused(folder.path(), &["merge", parts[0], "-o", "all.parquet"], 8, &["all.parquet is there already"]);
    refused(
        folder.path(),
        &["merge", "small.toml", "-o", "x.parquet"],
        9,
        &["cannot be read as the result of a sweep"],
    );
    assert!(!folder.path().join("x.parquet").exists());
}

#[test]
fn for_programs_it_is_one_document_that_its_type_knows() {
    let folder = small();
    let told = done(folder.path(), &["sweep", "small.toml", "--json", "--quiet", "--by", "rtt"]);
    let value: Value = serde_json::from_str(&told).unwrap();
    let report: sweep::Report = serde_json::from_str(&told).unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap(), value);
    assert_eq!((report.flows, report.groups.len()), (6, 2));
    assert_eq!(report.expectations.iter().map(|expected| expected.met).collect::<Vec<_>>(), [Some(true), Some(false)]);
}

#[test]
fn an_expectation_can_be_changed_without_simulating_again_but_nothing_else() {
    let folder = small();
    done(folder.path(), &["sweep", "small.toml"]);
    fs::write(folder.path().join("less.toml"), SMALL.replace("1h", "1ms")).unwrap();
    let told = done(folder.path(), &["show", "small.parquet", "--with", "less.toml"]);
    assert!(told.contains("2 of 2 expectations are met"), "{told}");
    fs::write(folder.path().join("more.toml"), SMALL.replace("200kB", "300kB")).unwrap();
    refused(
        folder.path(),
        &["show", "small.parquet", "--with", "more.toml"],
        2,
        &["another experiment", "simulate it anew"],
    );
    refused(
        folder.path(),
        &["sweep", "more.toml"],
        8,
        &["small.parquet is there already", "another experiment", "--output"],
    );
}

#[test]
fn nothing_is_simulated_to_say_how_much_it_would_be() {
    let folder = small();
    let told = done(folder.path(), &["sweep", "small.toml", "--dry-run"]);
    assert!(
        told.contains("6 transfers: 2 combinations of settings, 3 times each\n  rtt: 10.0 ms, 20.0 ms\nabout "),
        "{told}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let many = SMALL.replace("repetitions = 3", "repetitions = 5001");
    fs::write(folder.path().join("many.toml"), many).unwrap();
    refused(folder.path(), &["sweep", "many.toml"], 2, &["10002 transfers, more than 10000", "--yes", "--shard"]);
    refused(folder.path(), &["sweep", "none.toml"], 9, &["none.toml cannot be read", "amlight"]);
    fs::write(folder.path().join("bad.toml"), SMALL.replace("\"20ms\"", "20")).unwrap();
    refused(folder.path(), &["sweep", "bad.toml"], 9, &["bad.toml is no experiment", "write a text such as \"209ms\""]);
    refused(
        folder.path(),
        &["sweep", "small.toml", "--by", "rate,window"],
        2,
        &["`window` is no parameter", "vary: rtt"],
    );
    refused(folder.path(), &["sweep", "small.toml", "--shard", "4/3"], 2, &["2/8 for the second of eight"]);
}

#[test]
fn ctrl_c_keeps_what_is_done_and_the_same_command_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // So much work that no machine is done with it before the signal.
    let long = SMALL.replace("repetitions = 3", "repetitions = 4000").replace("200kB", "100MB");
    fs::write(folder.path().join("long.toml"), long).unwrap();
    let begin = || {
        let mut process = Process::start(program().current_dir(folder.path()).args(["simulate", "sweep", "long.toml"]));
        let talk = process.stderr();
        (process, talk)
    };
    let kept = || fs::read_to_string(folder.path().join("small.parquet.partial")).unwrap().lines().count() - 1;
    let mut before = 0;
    for _ in 0..2 {
        let (mut process, talk) = begin();
        talk.wait_for("the first transfer", |line| line.ends_with("of 8000 transfers"));
        process.signal("INT");
        talk.wait_for("what to do", |line| line == "hint: the same command goes on from there");
        assert_eq!(process.wait().code(), Some(130));
        assert!(kept() > before, "{} after {before}", kept());
        before = kept();
    }
    let (process, talk) = begin();
    talk.wait_for("what was done", |line| line == format!("{before} of 8000 transfers were done before"));
    drop(process);
}
