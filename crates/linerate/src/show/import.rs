//! What another tool has printed, for a person and for a program.

use import::{Import, Imported};
use model::run::Run;
use model::series::RunSamples;
use predict::physics::{FullLink, LossWitness};

use super::run::{Detail, text};

/// Whether a run was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// It is in the archive now.
    Stored,
    /// It was there before: the same file was imported once already.
    AlreadyStored,
    /// That was not wanted.
    NotWanted,
}

/// A run of linerate's own document.
pub fn own(file: &str, run: &Run, samples: &RunSamples, kept: Storage) -> String {
    let mut page = format!("{file}: a run of linerate\n");
    page.push_str(&stored(run, samples, kept));
    page.push('\n');
    page
}

fn stored(run: &Run, samples: &RunSamples, kept: Storage) -> String {
    let mut page = text(run, samples, Detail::Stored);
    if kept == Storage::AlreadyStored {
        page.push_str(&line("kept", "it was imported before"));
    }
    page
}

/// One test: where it was found, the run, and what its numbers say.
pub fn test(file: &str, test: &Imported, run: &Run, samples: &RunSamples, kept: Storage) -> String {
    let mut page = format!("{file}, line {}: {}\n", test.line, test.format);
    page.push_str(&stored(run, samples, kept));
    for observation in &test.observations {
        page.push_str(&line("evidence", &observation.to_string()));
    }
    for total in run.measurement.iter().flat_map(|found| &found.totals) {
        let is_full = FullLink::of(run, total).is_some_and(|link| link.is_steady);
        if let Some(witness) = LossWitness::of(run, total).filter(|_| !is_full) {
            page.push_str(&line("physics", &witness.to_string()));
        }
    }
    page.push('\n');
    page
}

/// What the tests of a file say together, and what was in none of them.
pub fn file(import: &Import) -> String {
    let evidence = import.evidence.iter().map(|item| line("evidence", &item.to_string()));
    let skipped = (import.skipped.count > 0).then(|| line("note", &import.skipped.to_string()));
    let together = import.observations.iter().map(|observation| line("comparison", &observation.to_string()));
    evidence
        .chain(together)
        .chain(skipped)
        .chain(import.anomalies.iter().map(|anomaly| line("note", &anomaly.to_string())))
        .collect()
}

/// One test as one line; docs/formats/import.md names the keys.
pub fn json(file: &str, test: &Imported, run: &Run) -> anyhow::Result<Vec<u8>> {
    let texts = |list: &[String]| serde_json::Value::from(list.to_vec());
    let observations: Vec<String> = test.observations.iter().map(ToString::to_string).collect();
    let anomalies: Vec<String> = test.anomalies.iter().map(ToString::to_string).collect();
    super::json::document(&serde_json::json!({
        "file": file,
        "line": test.line,
        "format": test.format.to_string(),
        "observations": texts(&observations),
        "assumed": texts(&test.assumed),
        "anomalies": texts(&anomalies),
        "run": run,
    }))
}

fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
