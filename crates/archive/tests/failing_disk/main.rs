//! An archive on a disk of which each single call fails in turn: full, broken, torn in the middle of a write, or cut off the
//! power with all that it had not written through yet.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod disk;
#[path = "../archive/runs.rs"]
#[allow(dead_code)] // What only the other test needs of it.
mod runs;
mod vfs;
mod work;

use std::fs;
use std::path::{Path, PathBuf};

use archive::Archive;
use disk::{Disk, Lasting, Trouble};
use tempfile::TempDir;
use work::Acknowledged;

#[test]
fn a_full_disk_loses_nothing_at_any_call() {
    every_call_of(Trouble::Full);
}

#[test]
fn a_broken_disk_loses_nothing_at_any_call() {
    every_call_of(Trouble::Broken);
}

#[test]
fn a_write_that_is_torn_loses_nothing_at_any_call() {
    every_call_of(Trouble::Torn);
}

#[test]
fn a_power_cut_loses_nothing_at_any_call() {
    every_call_of(Trouble::PowerCut);
}

/// Lets each call of the whole work fail, once and for good, over archives as they are closed and as a kill leaves them.
fn every_call_of(trouble: Trouble) {
    let _one_at_a_time = vfs::register();
    for left in [Left::Closed, Left::Killed] {
        let base = Base::new(left);
        for lasting in [Lasting::Once, Lasting::ForGood] {
            let step = if lasting == Lasting::Once || runs::seed() > 0 { 1 } else { STEP_FOR_GOOD };
            let calls =
                (1..).step_by(step).take_while(|call| base.suffers(Disk { trouble, lasting, call: *call })).count();
            println!("{trouble:?} {lasting:?} {left:?}: {calls} calls");
            assert!(calls > 15, "{trouble:?}: only {calls} calls could fail");
        }
    }
}

/// A disk that stays ill fails at the same places whether its trouble begins at this call or at the next.
const STEP_FOR_GOOD: usize = 5;

/// How the archive was left by whoever had it before.
#[derive(Debug, Clone, Copy)]
enum Left {
    Closed,
    /// With all that it did last in the log.
    Killed,
}

/// An archive with something in it, of which each work gets a copy.
struct Base {
    directory: TempDir,
    acknowledged: Acknowledged,
}

impl Base {
    fn new(left: Left) -> Self {
        disk::heal();
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("archive.db");
        let mut archive = Archive::open(&path).unwrap();
        let acknowledged = work::prepare(&mut archive);
        let copy = TempDir::new().unwrap();
        if matches!(left, Left::Killed) {
            copy_archive(&path, copy.path());
            return Self { directory: copy, acknowledged };
        }
        drop(archive);
        Self { directory, acknowledged }
    }

    /// Whether the call was made and failed. Afterwards the disk is well again.
    fn suffers(&self, ill: Disk) -> bool {
        let place = TempDir::new().unwrap();
        let path = copy_archive(&self.directory.path().join("archive.db"), place.path());
        let mut acknowledged = self.acknowledged.clone();
        disk::fall_ill(ill);
        let errors = work::whole(&path, &mut acknowledged);
        let failed = disk::heal();
        let said = format!("{ill:?}: {errors:#?}");
        for error in &errors {
            assert!(error.contains("archive.db"), "the archive is not named: {said}");
            assert!(ill.is_what(error), "not what happened: {said}");
        }
        acknowledged.verify(&path, &said);
        failed
    }
}

/// Copies an archive as it lies, and returns the copy.
fn copy_archive(path: &Path, to: &Path) -> PathBuf {
    for ending in ["", "-wal"] {
        let mut name = path.file_name().unwrap().to_owned();
        name.push(ending);
        if path.with_file_name(&name).exists() {
            fs::copy(path.with_file_name(&name), to.join(&name)).unwrap();
        }
    }
    to.join(path.file_name().unwrap())
}
