//! Files that users ask for.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use crate::exit::{Complaint, Exit};

/// Writes a file whole or not at all: whoever reads it meanwhile sees the old one.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    fill(path, |file| Ok(file.write_all(content)?))
}

/// The same for what comes piece by piece and would not fit into memory.
pub fn fill(path: &Path, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let beside = beside(path);
    let written = fs::File::create(&beside).map_err(anyhow::Error::from).and_then(|file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush()?;
        Ok(fs::rename(&beside, path)?)
    });
    written
        .inspect_err(|_| {
            // It may not even exist.
            let _ = fs::remove_file(&beside);
        })
        .with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", path.display())))
}

/// Whether a file can be written there, before a long work whose result it is to hold.
pub fn check(path: &Path) -> io::Result<()> {
    let beside = beside(path);
    fs::File::create(&beside).and_then(|_| fs::remove_file(&beside))
}

/// In the same directory, so that renaming it is one step.
fn beside(path: &Path) -> OsString {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    beside
}
