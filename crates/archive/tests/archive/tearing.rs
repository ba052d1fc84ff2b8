//! A disk that takes no more at any byte: writes end short (torn) and then fail, and nothing that was acknowledged is lost.
//!
//! The kernel's limit on the size of a file stands for the disk (setrlimit(2), `RLIMIT_FSIZE`): a write that crosses it is
//! cut there, the next one fails. Steps of a prime number of bytes meet every part of SQLite's pages and log frames.

use std::path::Path;
use std::process::Command;

use archive::{Archive, Filter};
use model::run::RunId;
use tempfile::TempDir;

use crate::runs;

/// Names the archive to the writer, which is this test again.
const PATH: &str = "LINERATE_TEST_TORN_ARCHIVE";
/// The number of its first run.
const FIRST: &str = "LINERATE_TEST_TORN_FIRST";
const STEPS: u64 = 20;
/// A prime: the steps lie at 20 places of a page of 4096 bytes.
const STEP_BYTES: u64 = 1_777;
/// A writer that is not stopped by then has met no limit.
const MOST_RUNS: u64 = 200;

#[test]
fn a_disk_that_fills_up_at_any_byte_loses_no_acknowledged_run() {
    if let Some(path) = std::env::var_os(PATH) {
        return write_until_refused(Path::new(&path));
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive.db");
    drop(Archive::open(&path).unwrap());
    let mut acknowledged: Vec<(RunId, u64)> = Vec::new();
    let mut refused = 0;
    for step in 0..STEPS {
        let size = std::fs::metadata(&path).unwrap().len();
        let told = write_below(&path, size + step * STEP_BYTES + runs::seed() % STEP_BYTES, step * MOST_RUNS);
        refused += u64::from(told.was_refused);
        check(&path, &told.stored);
        acknowledged.extend(told.stored);
    }
    check(&path, &acknowledged);
    assert_eq!(refused, STEPS, "each writer met its limit");
    assert!(acknowledged.len() as u64 > STEPS, "{} runs were stored", acknowledged.len());
}

struct Told {
    stored: Vec<(RunId, u64)>,
    was_refused: bool,
}

/// Lets a writer store runs where no file may be larger than `limit`.
fn write_below(path: &Path, limit: u64, first: u64) -> Told {
    // A signal that is ignored stays so through exec: a write then fails with EFBIG instead of ending the process.
    let script = r#"trap "" XFSZ; exec prlimit --fsize="$1" "$2" --exact "$3" --nocapture"#;
    let program = std::env::current_exe().unwrap();
    let name = "tearing::a_disk_that_fills_up_at_any_byte_loses_no_acknowledged_run";
    let mut writer = Command::new("sh");
    writer.args(["-c", script, "writer", &limit.to_string(), program.to_str().unwrap(), name]);
    let output = writer.env(PATH, path).env(FIRST, first.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "at {limit} bytes: {text}{}", String::from_utf8_lossy(&output.stderr));
    let ids = text.lines().filter_map(|line| line.split_once("stored ")?.1.parse().ok());
    Told { stored: ids.zip(first..).collect(), was_refused: text.contains("refused: ") }
}

fn check(path: &Path, acknowledged: &[(RunId, u64)]) {
    let archive = Archive::open(path).unwrap();
    for (id, number) in acknowledged {
        assert_eq!(archive.run(id).unwrap(), runs::at(*number));
        assert_eq!(archive.samples(id).unwrap(), runs::samples(*number));
    }
    let checked = archive.check().unwrap();
    assert!(checked.damaged.is_empty() && checked.unsealed == 0, "{checked:?}");
}

/// What the writer does: stores runs until one is refused, and tells of each once `store` has returned.
fn write_until_refused(path: &Path) {
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let mut archive = match Archive::open(path) {
        Ok(archive) => archive,
        Err(error) => return println!("refused: {error}"),
    };
    for number in first..first + MOST_RUNS {
        match archive.store(&runs::at(number), &runs::samples(number)) {
            Ok(()) => println!("stored {}", runs::at(number).id),
            Err(error) => {
                println!("refused: {error}");
                // What is there can be read all the same.
                archive.list(&Filter::default()).unwrap();
                return;
            }
        }
    }
}
