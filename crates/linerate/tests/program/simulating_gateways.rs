//! `linerate simulate gateways`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};

const SMALL: &str = r#"
name = "small"
repetitions = 2
policies = ["load-80-20", "least-inflight"]
[set]
hours = 0.05
warm-up-hours = 0.01
[vary]
utilisation = [0.5, 0.9]
"#;

/// Runs the program in a folder.
fn in_folder(folder: &Path, args: &[&str]) -> Ended {
    Process::start(program().current_dir(folder).args(["simulate", "gateways"]).args(args)).finish()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let ended = in_folder(folder, args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

#[test]
fn shares_together_say_what_the_whole_says_with_pictures() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    fs::write(at.join("small.toml"), SMALL).unwrap();
    let whole = done(at, &["small.toml", "--plots", "figures"]);
    assert!(whole.contains("least-inflight") && whole.contains("best by configuration of any XRootD 5"), "{whole}");
    for name in ["small.svg", "least-inflight-utilisation-0-5.svg"] {
        assert!(at.join("figures").join(name).exists(), "{name}");
    }
    done(at, &["small.toml", "--shard", "1/2", "-o", "1.parquet"]);
    done(at, &["small.toml", "--shard", "2/2", "-o", "2.parquet"]);
    assert_eq!(done(at, &["1.parquet", "2.parquet", "-o", "all.parquet"]), whole);
    assert_eq!(done(at, &["all.parquet"]), whole);
    assert!(in_folder(at, &["1.parquet", "all.parquet"]).code == Some(2));
}

#[test]
fn a_bad_fit_and_a_hole_are_named_before_anything_is_run() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    fs::write(at.join("small.toml"), SMALL).unwrap();
    // Two sizes, and a night of which nothing was recorded.
    let row = |n: u64| {
        let (bytes, start) =
            (if n.is_multiple_of(2) { 1_000_000 } else { 10_000_000_000_u64 }, n * 3 + n / 50 * 40_000);
        format!("{bytes},{start},{}\n", start + 10 + n % 7)
    };
    let rows: String = (0..100).map(row).collect();
    fs::write(at.join("transfers.csv"), format!("size_bytes,start_s,end_s\n{rows}1,2\n")).unwrap();
    let ended = in_folder(at, &["small.toml", "--from-log", "transfers.csv", "--dry-run"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for said in ["BAD: distance", "not used", "a hole of", "line 102"] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    fs::write(at.join("nothing.txt"), "Node\n").unwrap();
    let nothing = in_folder(at, &["small.toml", "--from-log", "nothing.txt"]);
    assert_eq!(nothing.code, Some(9), "{}", nothing.stderr);
}

#[test]
fn a_policy_that_does_not_exist_is_refused_and_all_are_listed() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL.replace("load-80-20", "load-80")).unwrap();
    let ended = in_folder(folder.path(), &["small.toml"]);
    assert_eq!(ended.code, Some(9));
    assert!(
        ended.stderr.contains("no policy is called `load-80`") && ended.stderr.contains("--policies"),
        "{}",
        ended.stderr
    );
    assert!(done(folder.path(), &["--policies"]).contains("affinity-randomized"));
}
