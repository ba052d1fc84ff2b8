//! `linerate simulate gateways --from-log`: a site's records, and how well the model fits them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use gateways::calibrate::apply::apply;
use gateways::calibrate::fit::{self, Fitted};
use gateways::calibrate::{cmsd_log, memory, summary, transfers};
use gateways::status::prometheus::{self, Metrics};
use gateways::status::reading::Reading;

use crate::exit::{Complaint, Exit};

/// The largest file of records that is read, bytes.
const LARGEST: u64 = 1 << 30;

/// What records say, with what is wrong with them.
pub struct Calibration {
    pub fitted: Vec<Fitted>,
    /// By file.
    pub anomalies: Vec<String>,
}

/// Reads records, each by what it begins with.
pub fn read(files: &[PathBuf]) -> anyhow::Result<Calibration> {
    let mut calibration = Calibration { fitted: Vec::new(), anomalies: Vec::new() };
    for file in files {
        let text = text(file)?;
        let (fitted, anomalies) = if text.contains("<statistics") {
            let read = summary::read(&text);
            let readings: Vec<Reading> = read.records.iter().map(Reading::of_summary).collect();
            ([fit::of_summaries(&read.records), memory::of_readings(&readings)].concat(), read.anomalies)
        } else if text.contains(" Node: ") {
            let read = cmsd_log::read(&text);
            (fit::of_log(&read.records), read.anomalies)
        } else if is_prometheus(&text) {
            let read = prometheus::read(&text, &Metrics::default(), 0.0);
            (memory::of_readings(&read.records), read.anomalies)
        } else {
            let read = transfers::read(&text);
            (fit::of_transfers(&read.records), read.anomalies)
        };
        if fitted.is_empty() {
            return Err(Complaint::new(Exit::NotFound, format!("{} says nothing that could be used", file.display()))
                .hint("it may be a cmsd log with `cms.ping ... log N`, XRootD's summary monitoring (two documents at least)")
                .hint("or Prometheus' answer to query_range of gateway_in_flight and process_resident_memory_bytes")
                .hint("or transfers: FTS's messages as JSON lines, or CSV with size_bytes, start_s and end_s")
                .into());
        }
        for one in fitted {
            // Transfers say of the load what links moved; the first file that says something counts.
            if !calibration.fitted.iter().any(|other| other.setting == one.setting) {
                calibration.fitted.push(one);
            }
        }
        let named = anomalies.iter().map(|anomaly| format!("{}: {}", file.display(), foreign::terminal::line(anomaly)));
        calibration.anomalies.extend(named);
    }
    Ok(calibration)
}

/// The answer of a query; a line of FTS is an object too, and has another key first.
fn is_prometheus(text: &str) -> bool {
    text.trim_start()
        .get(..400.min(text.trim_start().len()))
        .is_some_and(|start| start.contains("\"status\"") && start.contains("\"resultType\""))
}

fn text(file: &Path) -> anyhow::Result<String> {
    let complaint = || Complaint::new(Exit::NotFound, format!("{} cannot be read", file.display()));
    let size = std::fs::metadata(file).with_context(complaint)?.len();
    if size > LARGEST {
        return Err(complaint().hint(format!("it has {size} bytes, and a GiB at most is read: cut it")).into());
    }
    let bytes = std::fs::read(file).with_context(complaint)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The experiment with what fits, and what was said of it to the user.
pub fn applied(text: &str, calibration: &Calibration) -> anyhow::Result<(String, Vec<String>)> {
    let applied = apply(text, &calibration.fitted)
        .map_err(|why| Complaint::new(Exit::NotFound, format!("the experiment cannot be calibrated: {why}")))?;
    let told = applied.set_by_file.iter().map(|setting| format!("{setting} is as the experiment sets it")).collect();
    Ok((applied.text, told))
}
