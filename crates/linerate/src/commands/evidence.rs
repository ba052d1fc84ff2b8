//! Files that other tools have written, as evidence: for `linerate import` and `linerate why FILE`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use import::limits::MAX_BYTES;
use import::round::{Source, Stored, Together, UserFacts};
use import::{Import, round};

use super::standard_input;
use crate::exit::{Complaint, Exit};

/// What logs of other tools and documents of linerate show together, beside runs of the archive; `None` where none of
/// the names is a file, or one file holds a round.
///
/// # Errors
/// Where a file cannot be read, or holds no output of a known tool, and where a name is neither a file nor a run.
pub fn together(
    names: &[String],
    facts: &UserFacts,
    kept: impl Fn(&str) -> anyhow::Result<Stored>,
) -> anyhow::Result<Option<Together>> {
    let is_input = |name: &String| name == "-" || Path::new(name).is_file();
    if !names.iter().any(is_input) {
        return Ok(None);
    }
    let (names, runs): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_input(name));
    let runs: Vec<Stored> = runs.into_iter().map(|name| kept(name)).collect::<anyhow::Result<_>>()?;
    if let [name] = names.as_slice()
        && runs.is_empty()
        && *name != "-"
        && holds_round(Path::new(name))?
    {
        return Ok(None);
    }
    let sources: Vec<Source> = names.iter().map(|name| read(Path::new(name))).collect::<anyhow::Result<_>>()?;
    for source in &sources {
        notes(source);
    }
    Ok(Some(round::beside_runs(runs, &sources, facts)))
}

/// Whether a file holds one of our rounds: its first keys come before any test.
fn holds_round(path: &Path) -> anyhow::Result<bool> {
    const HEAD: u64 = 4 << 10;
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).with_context(|| unreadable(path))?;
    let head = String::from_utf8_lossy(&head);
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    Ok(head.trim_start().starts_with('{') && has("started_unix_ns") && has("title"))
}

/// What is odd in a file stands beside the verdict, not in it.
fn notes(source: &Source) {
    let import = &source.import;
    if import.skipped.count > 0 {
        eprintln!("{}: {}", source.name, import.skipped);
    }
    let inside = import.tests.iter().flat_map(|test| &test.anomalies);
    let all: Vec<String> = import.anomalies.iter().chain(inside).map(ToString::to_string).collect();
    for note in all.iter().take(MOST_NOTES) {
        eprintln!("{}, {}", source.name, foreign::terminal::line(note));
    }
    if all.len() > MOST_NOTES {
        eprintln!("{}: {} more notes, `linerate import` prints them", source.name, all.len() - MOST_NOTES);
    }
}

/// More would hide the verdict.
const MOST_NOTES: usize = 5;

fn unreadable(path: &Path) -> Complaint {
    Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()))
}

/// Reads one file; `-` is standard input.
///
/// # Errors
/// Where it cannot be read, or holds no output of a known tool.
pub fn read(path: &Path) -> anyhow::Result<Source> {
    let standard_input = path == Path::new("-");
    let name = if standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    // One byte more than is read, so that a longer file is told.
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut written = linux::clock::wall_now();
    let read = if standard_input {
        standard_input::read().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| {
            written = file.metadata()?.modified()?.into();
            file.take(limit).read_to_end(&mut bytes)
        })
    };
    read.with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {name}")))?;
    let import = import::read(&bytes);
    if import.tests.is_empty() && import.evidence.is_empty() && import.figures.is_empty() {
        return Err(nothing_in(&name, &import));
    }
    Ok(Source { name, import, written, digest: digest(&bytes) })
}

/// The file holds nothing that is known: the first thing that was odd says why.
fn nothing_in(name: &str, import: &Import) -> anyhow::Error {
    let holds = if import.anomalies.is_empty() { "no output of a known tool" } else { "no output that can be read" };
    let complaint = Complaint::new(Exit::NotFound, format!("{name} holds {holds}"))
        .hint("docs/formats/import.md says which tools and formats are read");
    let why = match import.anomalies.first() {
        Some(anomaly) => format!("{name}, {anomaly}"),
        None if import.skipped.count > 0 => format!("{name}: {}", import.skipped),
        None => format!("{name} is empty"),
    };
    anyhow::anyhow!(why).context(complaint)
}

/// FNV-1a of 128 bits (RFC 9923): it need only differ from file to file.
fn digest(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
