//! What a file says of gateways: summary monitoring, cmsd's log, metrics of Prometheus.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context;
use gateways::calibrate::{Read, cmsd_log, summary};
use gateways::status::prometheus::{self, Metrics};
use gateways::status::reading::{Field, Reading};

use crate::exit::{Complaint, Exit};

/// What a file says.
///
/// # Errors
/// Where it cannot be read, is larger than is read, or says nothing of gateways.
pub fn read(file: &Path, metrics: &Metrics, now_s: f64) -> anyhow::Result<Read<Reading>> {
    let complaint = || Complaint::new(Exit::NotFound, format!("{} cannot be read", file.display()));
    let size = std::fs::metadata(file).with_context(complaint)?.len();
    if size > LARGEST_FILE {
        return Err(complaint().hint(format!("it has {size} bytes, and 256 MiB at most are read: cut it")).into());
    }
    let bytes = std::fs::read(file).with_context(complaint)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut read = of_text(&text, metrics, now_s);
    let name = file.display().to_string();
    if read.records.is_empty() {
        return Err(Complaint::new(Exit::NotFound, format!("{name} says nothing of gateways"))
            .hint("summary monitoring (<statistics>), cmsd's log with `cms.ping ... log N`, or metrics of Prometheus")
            .hint("--metric in-flight=NAME says which metric is which number")
            .into());
    }
    read.anomalies.iter_mut().for_each(|anomaly| *anomaly = format!("{name}: {anomaly}"));
    Ok(read)
}

fn of_text(text: &str, metrics: &Metrics, now_s: f64) -> Read<Reading> {
    if text.contains(SUMMARY) {
        let read = summary::read(text);
        Read { records: read.records.iter().map(Reading::of_summary).collect(), anomalies: read.anomalies }
    } else if text.contains(CMSD) {
        let read = cmsd_log::read(text);
        Read { records: read.records.iter().map(Reading::of_log).collect(), anomalies: read.anomalies }
    } else {
        prometheus::read(text, metrics, now_s)
    }
}

/// Whether a file begins as a recording of gateways does.
///
/// # Errors
/// Where it cannot be read.
pub fn is_one(file: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let has_metric = || {
        let names = Field::ALL.iter().flat_map(|(_, _, metrics)| metrics.iter());
        names.filter(|name| name.starts_with("gateway_") || name.starts_with("xrootd_")).any(|name| head.contains(name))
    };
    Ok(head.contains(SUMMARY) || (head.contains(CMSD) && head.contains(" load=")) || has_metric())
}

const SUMMARY: &str = "<statistics";
const CMSD: &str = " Node: ";
/// A log says it in its first lines.
const HEAD: u64 = 64 << 10;
const LARGEST_FILE: u64 = 256 << 20;
