//! `scripts/test` with stand-ins for cargo and for test programs: what runs beside what, what is run again, and what that means
//! for the result.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::Result;
use house::tree;
use tempfile::TempDir;

/// A cargo whose test programs do as each is written.
struct Cargo(TempDir);

impl Cargo {
    fn new() -> Result<Self> {
        let cargo = Self(tempfile::tempdir()?);
        let here = cargo.0.path();
        fs::create_dir(here.join("deps"))?;
        let lines = r#"variable=$(env | sed -nE 's/^(CARGO_TARGET_.*_RUNNER)=.*/\1/p')
            for program in "$here"/deps/*; do
                CARGO_PKG_NAME=$(cat "$here/$(basename "$program").crate") ${!variable} "$program"
            done"#;
        write_program(&here.join("cargo"), here, lines)?;
        Ok(cargo)
    }

    /// With a test program of `package`, whose lines of shell find its folder in `$here`.
    fn with(self, package: &str, target: &str, lines: &str) -> Result<Self> {
        let here = self.0.path();
        fs::write(here.join(format!("{target}-1.crate")), package)?;
        write_program(&here.join("deps").join(format!("{target}-1")), here, lines)?;
        Ok(self)
    }

    /// With one that prints what it is given the first time, and each later time what a second run of tests would.
    fn printing(package: &str, first: &str, again: &str) -> Result<Self> {
        let cargo = Self::new()?;
        fs::write(cargo.0.path().join("first"), first)?;
        fs::write(cargo.0.path().join("again"), again)?;
        let lines = r#"echo "$*" >>"$here/calls"
            log=first
            [ "$(wc -l <"$here/calls")" = 1 ] || log=again
            cat "$here/$log"
            ! grep -q SIGABRT "$here/$log" || exit 134
            ! grep -q FAILED "$here/$log" || exit 101"#;
        cargo.with(package, "program", lines)
    }

    fn run(&self) -> Result<Output> {
        let here = self.0.path();
        let path = format!("{}:{}", here.display(), std::env::var("PATH")?);
        let mut script = Command::new(tree::root().join("scripts/test"));
        script.arg("--workspace").env("PATH", path).env("CARGO_TARGET_DIR", here).env_remove("RUST_TEST_THREADS");
        Ok(script.output()?)
    }

    fn calls(&self) -> Result<Vec<String>> {
        Ok(fs::read_to_string(self.0.path().join("calls"))?.lines().map(str::to_owned).collect())
    }
}

fn write_program(path: &Path, here: &Path, lines: &str) -> Result<()> {
    fs::write(path, format!("#!/usr/bin/env bash\nhere={here:?}\n{lines}\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn failure(tests: &[&str]) -> String {
    let failed: String = tests.iter().map(|test| format!("test {test} ... FAILED\n")).collect();
    format!("test always ... ok\n{failed}test result: FAILED. 9 passed; {} failed; 0 ignored\n", tests.len())
}

const HELD: &str = "test result: ok. 1 passed; 0 failed; 0 ignored\n";

#[test]
fn programs_run_side_by_side() -> Result<()> {
    // Each waits until the other has opened the pipe.
    let lines = |what: &str| format!(r#"{what} "$here/pipe"; echo "test result: ok. 1 passed; 0 failed""#);
    let cargo = Cargo::new()?.with("measure", "writes", &lines("echo >"))?.with("host", "reads", &lines("read <"))?;
    assert!(Command::new("mkfifo").arg(cargo.0.path().join("pipe")).status()?.success());
    let output = cargo.run()?;
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n2 passed, 0 failed\n"), "{output:?}");
    Ok(())
}

#[test]
fn one_that_only_computes_gives_way_to_two_that_do_not() -> Result<()> {
    // Those two wait until it has opened their pipes.
    let waits = |pipe: &str| format!(r#"echo >"$here/{pipe}"; echo "test result: ok. 1 passed; 0 failed""#);
    let computes = r#"read <"$here/one"; read <"$here/two"; chrt --pid $$ | grep -q IDLE || [ "$(nice)" = 19 ] || exit 101
        echo "test result: ok. 1 passed; 0 failed""#;
    let cargo = Cargo::new()?.with("measure", "one", &waits("one"))?.with("host", "two", &waits("two"))?;
    let cargo = cargo.with("sim", "computes", computes)?;
    for pipe in ["one", "two"] {
        assert!(Command::new("mkfifo").arg(cargo.0.path().join(pipe)).status()?.success());
    }
    let output = cargo.run()?;
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n3 passed, 0 failed\n"), "{output:?}");
    Ok(())
}

#[test]
fn tests_that_wait_are_more_at_once_than_others() -> Result<()> {
    let at_once = |test: &str| {
        format!(r#"[ "$RUST_TEST_THREADS" {test} ] || exit 101; echo "test result: ok. 1 passed; 0 failed""#)
    };
    let cargo = Cargo::new()?.with("measure", "probes", &at_once("-ge 4"))?;
    let output = cargo.with("measure", "tools", &at_once("-eq $(nproc)"))?.run()?;
    assert!(output.status.success(), "{output:?}");
    Ok(())
}

#[test]
fn a_program_of_the_list_has_the_machine_to_itself() -> Result<()> {
    // allow(sleep): for so long the other one would be found beside it
    let busy = r#"touch "$here/busy"; sleep 0.5; rm "$here/busy"; echo "test result: ok. 1 passed; 0 failed""#;
    let lonely = r#"[ ! -e "$here/busy" ] || exit 101; echo "test result: ok. 1 passed; 0 failed""#;
    let cargo = Cargo::new()?.with("linerate", "network_truth", lonely)?.with("linerate", "zeal", busy)?;
    let output = cargo.run()?;
    assert!(output.status.success(), "{output:?}");
    Ok(())
}

#[test]
fn those_that_need_the_machine_are_test_programs() -> Result<()> {
    let alone = fs::read_to_string(tree::root().join("scripts/test-alone"))?;
    for line in alone.lines().filter(|line| !line.starts_with('#')) {
        assert!(is_of_a_test(line) && line.split(' ').count() > 5, "{line}: a crate, one of its tests, and the reason");
    }
    Ok(())
}

#[test]
fn those_that_wait_or_take_long_are_test_programs() -> Result<()> {
    let script = fs::read_to_string(tree::root().join("scripts/test"))?;
    for list in ["AT_ONCE=(", "LONG=("] {
        let (_, listed) = script.split_once(list).unwrap_or_default();
        let listed = listed.split(')').next().unwrap_or_default();
        let lines: Vec<&str> = listed.split('"').skip(1).step_by(2).collect();
        assert!(!lines.is_empty(), "{list}");
        for line in lines {
            assert!(is_of_a_test(line), "{line}: a crate, one of its test programs, and a number");
        }
    }
    Ok(())
}

/// Whether a line begins with a crate and one of its test programs. That of the library has the crate's name.
fn is_of_a_test(line: &str) -> bool {
    let mut words = line.split(' ');
    let (package, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let of_package = tree::root().join("crates").join(package);
    let tests = of_package.join("tests");
    let is_test = tests.join(target).join("main.rs").exists() || tests.join(format!("{target}.rs")).exists();
    is_test || package == target && of_package.join("src/lib.rs").exists()
}

#[test]
fn all_is_run_once_where_nothing_fails() -> Result<()> {
    let cargo = Cargo::printing("linerate", "test result: ok. 9 passed; 0 failed; 0 ignored\n", "")?;
    let output = cargo.run()?;
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).ends_with("\n9 passed, 0 failed\n"));
    assert_eq!(cargo.calls()?, [""]);
    Ok(())
}

#[test]
fn a_failure_beside_others_is_run_again_alone_and_named() -> Result<()> {
    let cargo = Cargo::printing("linerate", &failure(&["wire::counts"]), HELD)?;
    let output = cargo.run()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with("failed beside other tests and held alone: wire::counts\n10 passed, 0 failed\n"), "{said}");
    assert_eq!(cargo.calls()?[1..], ["--exact --test-threads=1 wire::counts"]);
    Ok(())
}

#[test]
fn what_fails_alone_has_failed() -> Result<()> {
    let failure = failure(&["wire::counts"]);
    let output = Cargo::printing("linerate", &failure, &failure)?.run()?;
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("\n9 passed, 1 failed\n"));
    Ok(())
}

#[test]
fn a_test_without_io_has_no_second_run() -> Result<()> {
    let cargo = Cargo::printing("sim", &failure(&["oracle::agrees"]), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn five_failures_are_no_accident() -> Result<()> {
    let cargo = Cargo::printing("linerate", &failure(&["a", "b", "c", "d", "e"]), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn a_program_that_crashed_is_not_explained_by_what_failed_elsewhere() -> Result<()> {
    let crash = "SIGABRT: process abort signal\n";
    let cargo = Cargo::printing("linerate", &format!("{}{crash}", failure(&["wire::counts"])), HELD)?;
    assert!(!cargo.run()?.status.success());
    assert_eq!(cargo.calls()?.len(), 1);
    Ok(())
}

#[test]
fn a_second_run_that_finds_no_such_test_proves_nothing() -> Result<()> {
    let cargo = Cargo::printing("linerate", &failure(&["wire::counts"]), "test result: ok. 0 passed; 0 failed\n")?;
    assert!(!cargo.run()?.status.success());
    Ok(())
}
