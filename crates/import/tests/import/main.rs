//! What other tools have printed, read; the files are in testdata/foreign.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests.

mod accounts;
mod anything;
mod damage;
mod evidence;
mod golden;
mod numbers;
mod pasted;
mod pieces;
mod statements;
mod traps;

use std::path::{Path, PathBuf};

use import::{self, Import};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension != "md"));
    files.sort();
    files
}

fn import(name: &str) -> Import {
    import::read(&std::fs::read(folder().join(name)).unwrap())
}
