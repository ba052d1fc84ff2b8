//! JSON on standard output: one document a line.

use archive::RunSummary;
use model::run::Run;
use serde::Serialize;

/// A run as one line; schema: docs/formats/run.schema.json.
pub fn line(run: &Run) -> anyhow::Result<Vec<u8>> {
    document(run)
}

/// Runs, a line each.
pub fn lines(runs: &[Run]) -> anyhow::Result<Vec<u8>> {
    Ok(runs.iter().map(line).collect::<anyhow::Result<Vec<_>>>()?.concat())
}

/// A list of runs, a line each.
pub fn summaries(summaries: &[RunSummary]) -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for summary in summaries {
        lines.extend(document(&serde_json::json!({
            "id": summary.id,
            "started_unix_ns": summary.started,
            "role": summary.role,
            "peer": summary.target,
            "protocol": summary.protocol,
            "direction": summary.direction,
            "outcome": summary.outcome,
            "goodput_bps": summary.goodput,
            "retransmits": summary.retransmits,
        }))?);
    }
    Ok(lines)
}

/// Anything else, as one line.
pub fn document<T: Serialize>(value: &T) -> anyhow::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
