//! `linerate import`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use archive::Archive;
use archive::store::StoreError;
use measure::foreign::limits::MAX_BYTES;
use measure::foreign::{self, Import, Imported};
use model::run::{Run, RunId};
use units::WallTime;

use super::{archive as kept, print};
use crate::cli::Common;
use crate::cli::import::ImportArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::import::Kept;

/// Imports each file. One that cannot be read does not keep the others out.
pub fn run(common: &Common, args: &ImportArgs) -> anyhow::Result<Exit> {
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let mut exit = Exit::Success;
    for file in &args.files {
        match read(file) {
            Ok(source) => import(common, &source, &mut archive)?,
            Err(error) => {
                show::error::print(&error);
                exit = Exit::of_error(&error);
            }
        }
    }
    Ok(exit)
}

/// A file with its tests.
struct Source {
    name: String,
    import: Import,
    /// When the file was last written; for standard input, now.
    written: WallTime,
    /// Tells this file from others.
    digest: u128,
}

fn read(path: &Path) -> anyhow::Result<Source> {
    let standard_input = path == Path::new("-");
    let name = if standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    // One byte more than is read, so that a longer file is told.
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut written = linux::clock::wall_now();
    let read = if standard_input {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| {
            written = file.metadata()?.modified()?.into();
            file.take(limit).read_to_end(&mut bytes)
        })
    };
    read.with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {name}")))?;
    let import = foreign::read(&bytes);
    if import.tests.is_empty() {
        return Err(nothing_in(&name, &import));
    }
    Ok(Source { name, import, written, digest: digest(&bytes) })
}

/// The file holds no test: the first thing that was odd says why.
fn nothing_in(name: &str, import: &Import) -> anyhow::Error {
    let complaint = Complaint::new(Exit::NotFound, format!("{name} holds no test of iperf3 or nuttcp"))
        .hint("docs/formats/import.md says which formats are read");
    match import.anomalies.first() {
        Some(anomaly) => anyhow::anyhow!("{name}, {anomaly}").context(complaint),
        None => {
            anyhow::anyhow!("{name}, line 1: expected output of iperf3 or nuttcp, found nothing").context(complaint)
        }
    }
}

fn import(common: &Common, source: &Source, archive: &mut Option<Archive>) -> anyhow::Result<()> {
    for (index, test) in source.import.tests.iter().enumerate() {
        let run = into_run(source, index, test);
        let kept = match archive {
            Some(archive) => keep(archive, &run, test)?,
            None => Kept::No,
        };
        if common.json {
            print(&show::import::json(&source.name, test, &run)?)?;
        } else {
            print(show::import::test(&source.name, test, &run, &test.samples, kept).as_bytes())?;
        }
    }
    let about_all = show::import::file(&source.import);
    if common.json {
        eprint!("{about_all}");
    } else {
        print(about_all.as_bytes())?;
    }
    Ok(())
}

/// A file that was imported before is told, and nothing is kept twice.
fn keep(archive: &mut Archive, run: &Run, test: &Imported) -> anyhow::Result<Kept> {
    match archive.store(run, &test.samples) {
        Ok(()) => Ok(Kept::Now),
        Err(StoreError::AlreadyStored { .. }) => Ok(Kept::Before),
        Err(error) => Err(anyhow::Error::from(error).context(Complaint::new(Exit::Local, "the run cannot be kept"))),
    }
}

fn into_run(source: &Source, index: usize, test: &Imported) -> Run {
    let started = test.started.unwrap_or(source.written);
    let mut measurement = test.measurement.clone();
    if test.started.is_none()
        && let Some(found) = &mut measurement
    {
        found.anomalies.push("when it ran is not told; the date of the file stands for it".to_owned());
    }
    // The same test of the same file always has the same name.
    let place = u128::try_from(index).unwrap_or(u128::MAX);
    Run {
        format: Run::FORMAT,
        id: RunId::new(started, source.digest.wrapping_add(place)),
        started,
        role: test.role,
        command: test.command.clone(),
        spec: test.spec.clone(),
        declared_line_rate: None,
        batch: None,
        local: test.local.clone(),
        peer: test.peer.clone(),
        outcome: test.outcome.clone(),
        measurement,
    }
}

/// FNV-1a of 128 bits (RFC 9923): it need only differ from file to file.
fn digest(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
