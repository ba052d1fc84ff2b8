//! What another tool has printed, for a person and for a program.

use measure::foreign::{Import, Imported};
use model::run::Run;
use model::series::RunSamples;

use super::run::{Detail, text};

/// Whether a run was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is in the archive now.
    Now,
    /// It was there before: the same file was imported once already.
    Before,
    /// That was not wanted.
    No,
}

/// One test: where it was found, the run, and what its numbers say.
pub fn test(file: &str, test: &Imported, run: &Run, samples: &RunSamples, kept: Kept) -> String {
    let mut page = format!("{file}, line {}: {}\n", test.line, test.format);
    page.push_str(&text(run, samples, Detail::Stored));
    if kept == Kept::Before {
        page.push_str(&line("kept", "it was imported before"));
    }
    for remark in &test.remarks {
        page.push_str(&line("says", &remark.to_string()));
    }
    page.push('\n');
    page
}

/// What the tests of a file say together, and what was in none of them.
pub fn file(import: &Import) -> String {
    let together = import.remarks.iter().map(|remark| line("together", &remark.to_string()));
    together.chain(import.anomalies.iter().map(|anomaly| line("note", &anomaly.to_string()))).collect()
}

/// One test as one line; docs/formats/import.md names the keys.
pub fn json(file: &str, test: &Imported, run: &Run) -> anyhow::Result<Vec<u8>> {
    let texts = |list: &[String]| serde_json::Value::from(list.to_vec());
    let remarks: Vec<String> = test.remarks.iter().map(ToString::to_string).collect();
    let anomalies: Vec<String> = test.anomalies.iter().map(ToString::to_string).collect();
    super::json::document(&serde_json::json!({
        "file": file,
        "line": test.line,
        "format": test.format.to_string(),
        "remarks": texts(&remarks),
        "assumed": texts(&test.assumed),
        "anomalies": texts(&anomalies),
        "run": run,
    }))
}

fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
