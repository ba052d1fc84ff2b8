//! Queueing disciplines with their options (`RTM_GETQDISC`), by device.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::host::qdisc::{INGRESS, Qdisc, ROOT};

use super::{Names, qdisc_options};
use crate::{Unavailable, qdisc};

/// All queueing disciplines of each device in the namespace, by the device's name; parents before children, as the
/// kernel has them.
///
/// # Errors
/// Why they cannot be read.
pub fn read(names: &Names) -> Result<BTreeMap<String, Vec<Qdisc>>, Unavailable> {
    let mut found: BTreeMap<String, Vec<Qdisc>> = BTreeMap::new();
    for raw in qdisc::dump().map_err(|error| error.unavailable(SOURCE))? {
        if let Some(name) = names.get(&raw.interface) {
            found.entry(name.clone()).or_default().push(translate(&raw));
        }
    }
    Ok(found)
}

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETQDISC";

fn translate(raw: &qdisc::Qdisc) -> Qdisc {
    let counted = &raw.statistics;
    let mut counters: BTreeMap<String, u64> = [
        ("bytes", counted.bytes),
        ("packets", counted.packets),
        ("drops", counted.drops.into()),
        ("overlimits", counted.overlimits.into()),
        ("requeues", counted.requeues.into()),
        ("backlog_bytes", counted.backlog.into()),
        ("backlog_packets", counted.qlen.into()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    counters.extend(qdisc_options::counters(&raw.kind, &raw.application));
    Qdisc {
        kind: raw.kind.clone(),
        handle: format!("{:x}:", raw.handle >> 16),
        parent: match raw.parent {
            qdisc::ROOT => ROOT.to_owned(),
            qdisc::INGRESS => INGRESS.to_owned(),
            class => format!("{:x}:{:x}", class >> 16, class & 0xffff),
        },
        options: qdisc_options::read(&raw.kind, &raw.options),
        raw_options: (!raw.options.is_empty())
            .then(|| hexadecimal(&qdisc_options::without_counts(&raw.kind, &raw.options))),
        counters,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
