//! `linerate why` on what gateways reported: a document of `linerate gateways status --json`, or recordings.

use std::path::Path;

use anyhow::Context;
use diagnose::causes::Catalogue;
use diagnose::gateways::diagnose;
use gateways::status::prometheus::Metrics;
use gateways::status::report::{FORMAT, Question, StatusReport};

use super::gateways::{find, recording};
use super::print;
use crate::cli::Common;
use crate::exit::{Complaint, Exit};
use crate::show;

/// What these files say of gateways; [`None`] where they are something else.
///
/// # Errors
/// Where a file of gateways cannot be used.
pub fn status_of(names: &[String]) -> anyhow::Result<Option<StatusReport>> {
    let files: Vec<&Path> = names.iter().map(Path::new).collect();
    if files.is_empty() || !files.iter().all(|file| file.is_file()) {
        return Ok(None);
    }
    if let [file] = files[..]
        && let Some(status) = document(file)?
    {
        return Ok(Some(status));
    }
    for file in &files {
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
        if !recording::is_one(file).with_context(unreadable)? {
            return Ok(None);
        }
    }
    let (mut readings, mut anomalies) = (Vec::new(), Vec::new());
    for file in &files {
        let read = recording::read(file, &Metrics::default(), now_s())?;
        readings.extend(read.records);
        anomalies.extend(read.anomalies.into_iter().take(MOST_ANOMALIES));
    }
    // A recording is judged as of its end.
    let now_s = readings.iter().map(|reading| reading.at_s).fold(0.0, f64::max);
    let policy = find(POLICY)?;
    let question = Question { expected: &[], memory_limit_gb: None, policy, max_load: 100.0, now_s };
    Ok(Some(StatusReport::new(&question, readings, anomalies)))
}

/// What `linerate gateways status --json` printed; [`None`] of any other file.
fn document(file: &Path) -> anyhow::Result<Option<StatusReport>> {
    let shown = file.display();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {shown}"));
    if std::fs::metadata(file).with_context(unreadable)?.len() > LARGEST_DOCUMENT {
        return Ok(None);
    }
    let bytes = std::fs::read(file).with_context(unreadable)?;
    let Ok(serde_json::Value::Object(keys)) = serde_json::from_slice(&bytes) else { return Ok(None) };
    if !(keys.contains_key("gateways") && keys.contains_key("policy") && keys.contains_key("findings")) {
        return Ok(None);
    }
    let format = keys.get("format").and_then(serde_json::Value::as_u64).unwrap_or_default();
    if format > u64::from(FORMAT) {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} was written by a newer linerate")).into());
    }
    if !keys.contains_key("observations") {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} has findings and no observations to weigh"))
            .hint("an older linerate wrote it: print the status again, with --json")
            .into());
    }
    let status = serde_json::from_slice(&bytes)
        .with_context(|| Complaint::new(Exit::NotFound, format!("{shown} is no status of gateways")))?;
    Ok(Some(status))
}

/// Prints the diagnosis.
///
/// # Errors
/// Where the status cannot be weighed.
pub fn run(common: &Common, status: &StatusReport, catalogue: &Catalogue) -> anyhow::Result<Exit> {
    let diagnosis = diagnose(status, catalogue)
        .with_context(|| Complaint::new(Exit::NotFound, "this status of gateways cannot be weighed"))?;
    if common.json {
        print(&show::json::document(&diagnosis)?)?;
    } else {
        print(show::why_gateways::text(status, &diagnosis).as_bytes())?;
    }
    Ok(if diagnosis.is_healthy() { Exit::Success } else { Exit::Found })
}

fn now_s() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds with microseconds")]
    let nanos = linux::clock::wall_now().unix_nanos() as f64;
    nanos / 1e9
}

/// Whose next choices a status has; no cause depends on them.
const POLICY: &str = "inflight-cmsd";
/// A status of 256 gateways is below this.
const LARGEST_DOCUMENT: u64 = 16 << 20;
const MOST_ANOMALIES: usize = 20;
