//! JSON on standard output: one document a line.

use archive::check::{Checked, Damage};
use diagnose::explained::Explained;
use model::archived::{ArchiveCheck, DamagedRow, ListedRun};
use model::host::snapshot::Snapshot;
use model::round::Round;
use model::run::Run;
use model::series::RunSamples;
use serde::Serialize;

/// A run as one line; schema: docs/formats/run.schema.json.
pub fn line(run: &Run) -> anyhow::Result<Vec<u8>> {
    ended(run.to_json()?)
}

/// A round as one line; schema: docs/formats/round.schema.json.
pub fn round(round: &Round) -> anyhow::Result<Vec<u8>> {
    ended(round.to_json()?)
}

/// All facts of a host as one line; schema: docs/formats/snapshot.schema.json.
pub fn snapshot(snapshot: &Snapshot) -> anyhow::Result<Vec<u8>> {
    ended(snapshot.to_json()?)
}

/// A run with where its rate or datagrams went, as one line: the keys of a run, and two more.
pub fn explained(run: &Run, samples: &RunSamples) -> anyhow::Result<Vec<u8>> {
    document(&Explained::of(run, samples))
}

/// A list of runs, a line each; schema: docs/formats/run-list.schema.json.
pub fn summaries(summaries: &[ListedRun]) -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for summary in summaries {
        lines.extend(document(summary)?);
    }
    Ok(lines)
}

/// What a check of the archive found; schema: docs/formats/archive-check.schema.json.
pub fn checked(checked: &Checked) -> anyhow::Result<Vec<u8>> {
    let row = |damage: &Damage| DamagedRow { table: damage.table.to_owned(), name: damage.name.clone() };
    document(&ArchiveCheck {
        sound: checked.sound,
        without_checksum: checked.unsealed,
        damaged: checked.damaged.iter().map(row).collect(),
    })
}

/// Anything else, as one line.
pub fn document<T: Serialize>(value: &T) -> anyhow::Result<Vec<u8>> {
    ended(serde_json::to_vec(value)?)
}

/// The document as a line, in which nothing steers a terminal.
fn ended(json: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    let mut line = foreign::terminal::json(String::from_utf8(json)?);
    line.push('\n');
    Ok(line.into_bytes())
}
