//! `scripts/test` with a stand-in for cargo: what is run again, and what that means for the result.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use anyhow::Result;
use house::tree;
use tempfile::TempDir;

/// A cargo that prints what it is given the first time, and each later time what a second run of tests would.
struct Cargo(TempDir);

impl Cargo {
    fn prints(first: &str, again: &str) -> Result<Self> {
        let cargo = Self(tempfile::tempdir()?);
        let folder = cargo.0.path();
        fs::write(folder.join("first"), first)?;
        fs::write(folder.join("again"), again)?;
        let program = folder.join("cargo");
        let lines = r#"echo "$*" >>"$here/calls"
            log=first
            [ "$(wc -l <"$here/calls")" = 1 ] || log=again
            cat "$here/$log"
            ! grep -q FAILED "$here/$log""#;
        fs::write(&program, format!("#!/usr/bin/env bash\nhere={folder:?}\n{lines}\n"))?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(cargo)
    }

    fn run(&self) -> Result<Output> {
        let path = format!("{}:{}", self.0.path().display(), std::env::var("PATH")?);
        Ok(Command::new(tree::root().join("scripts/test")).arg("--workspace").env("PATH", path).output()?)
    }

    fn calls(&self) -> Result<Vec<String>> {
        Ok(fs::read_to_string(self.0.path().join("calls"))?.lines().map(str::to_owned).collect())
    }
}

fn failure(package: &str, tests: &[&str]) -> String {
    let failed: String = tests.iter().map(|test| format!("test {test} ... FAILED\n")).collect();
    format!(
        "test always ... ok\n{failed}test result: FAILED. 9 passed; {} failed; 0 ignored\nerror: 1 target failed:\n    `-p {package} --test program`\n",
        tests.len()
    )
}

const HELD: &str = "test result: ok. 1 passed; 0 failed; 0 ignored\n";

#[test]
fn all_is_run_once_where_nothing_fails() -> Result<()> {
    let cargo = Cargo::prints("test result: ok. 9 passed; 0 failed; 0 ignored\n", "")?;
    let output = cargo.run()?;
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).ends_with("\n9 passed, 0 failed\n"));
    assert_eq!(cargo.calls()?, ["test --no-fail-fast --workspace"]);
    Ok(())
}

#[test]
fn a_failure_beside_others_is_run_again_alone_and_named() -> Result<()> {
    let cargo = Cargo::prints(&failure("linerate", &["wire::counts"]), HELD)?;
    let output = cargo.run()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with("failed beside other tests and held alone: wire::counts\n10 passed, 0 failed\n"), "{said}");
    assert_eq!(
        cargo.calls()?[1..],
        ["test --no-fail-fast --workspace --test program -- --exact --test-threads=1 wire::counts"]
    );
    Ok(())
}

#[test]
fn what_fails_alone_has_failed() -> Result<()> {
    let failure = failure("linerate", &["wire::counts"]);
    let output = Cargo::prints(&failure, &failure)?.run()?;
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n9 passed, 1 failed\n"));
    Ok(())
}

#[test]
fn a_test_without_io_has_no_second_run() -> Result<()> {
    let cargo = Cargo::prints(&failure("sim", &["oracle::agrees"]), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn five_failures_are_no_accident() -> Result<()> {
    let cargo = Cargo::prints(&failure("linerate", &["a", "b", "c", "d", "e"]), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn a_program_that_crashed_is_not_explained_by_what_failed_elsewhere() -> Result<()> {
    let crash = "Caused by:\n  process didn't exit successfully: `lab` (signal: 6, SIGABRT: process abort signal)\n";
    let cargo = Cargo::prints(&format!("{}{crash}", failure("linerate", &["wire::counts"])), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn a_second_run_that_finds_no_such_test_proves_nothing() -> Result<()> {
    let cargo = Cargo::prints(&failure("linerate", &["wire::counts"]), "test result: ok. 0 passed; 0 failed\n")?;
    assert!(!cargo.run()?.status.success());
    Ok(())
}
