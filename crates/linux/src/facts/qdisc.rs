//! Queueing disciplines with their options (`RTM_GETQDISC`), by device.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::host::qdisc::{Class, INGRESS, Qdisc, ROOT};

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
            let classes = if WITH_CLASSES.contains(&raw.kind.as_str()) { classes(&raw)? } else { Vec::new() };
            found.entry(name.clone()).or_default().push(Qdisc { classes, ..translate(&raw) });
        }
    }
    Ok(found)
}

/// Whose options they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsOwner {
    /// Those of a queueing discipline.
    Qdisc,
    /// Those of a class.
    Class,
}

/// Options as a journal has them, in hexadecimal, by name; [`None`] where they are none, or of a kind that is not understood.
#[must_use]
pub fn options_by_name(kind: &str, owner: OptionsOwner, hexadecimal: &str) -> Option<BTreeMap<String, u64>> {
    let digits = hexadecimal.as_bytes().chunks_exact(2);
    if !digits.remainder().is_empty() {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = digits.map(byte).collect::<Option<Vec<u8>>>()?;
    let named = match owner {
        OptionsOwner::Qdisc => qdisc_options::read(kind, &bytes),
        OptionsOwner::Class => qdisc_options::of_class(kind, &bytes),
    };
    Some(named).filter(|named| !named.is_empty())
}

/// The classes of one discipline.
fn classes(of: &qdisc::Qdisc) -> Result<Vec<Class>, Unavailable> {
    let all = qdisc::classes(of.interface).map_err(|error| error.unavailable(SOURCE))?;
    let mut own: Vec<_> = all.into_iter().filter(|class| class.handle & MAJOR == of.handle).collect();
    // The kernel has them in the order of a table.
    let above: BTreeMap<u32, u32> = own.iter().map(|class| (class.handle, class.parent)).collect();
    own.sort_by_key(|class| (depth(class.handle, &above), class.handle));
    Ok(own.iter().map(class).collect())
}

/// How many classes stand above one; they cannot go round, but what is read from a table that changes could.
fn depth(class: u32, above: &BTreeMap<u32, u32>) -> usize {
    std::iter::successors(Some(class), |class| above.get(class).copied()).take(above.len() + 1).count()
}

fn class(raw: &qdisc::Qdisc) -> Class {
    Class {
        handle: number(raw.handle),
        parent: parent(raw.parent),
        options: qdisc_options::of_class(&raw.kind, &raw.options),
        raw_options: (!raw.options.is_empty()).then(|| hexadecimal(&raw.options)),
        counters: counters(raw),
    }
}

/// Kinds whose classes somebody makes, so that they are settings. Those of other kinds are their queues.
const WITH_CLASSES: [&str; 4] = ["htb", "hfsc", "drr", "qfq"];

/// The part of a number that is that of the discipline (`TC_H_MAJ`, include/uapi/linux/pkt_sched.h).
const MAJOR: u32 = 0xffff_0000;

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETQDISC";

fn counters(raw: &qdisc::Qdisc) -> BTreeMap<String, u64> {
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
    counters
}

fn number(class: u32) -> String {
    format!("{:x}:{:x}", class >> 16, class & 0xffff)
}

fn parent(raw: u32) -> String {
    match raw {
        qdisc::ROOT => ROOT.to_owned(),
        qdisc::INGRESS => INGRESS.to_owned(),
        class => number(class),
    }
}

fn translate(raw: &qdisc::Qdisc) -> Qdisc {
    Qdisc {
        kind: raw.kind.clone(),
        handle: format!("{:x}:", raw.handle >> 16),
        parent: parent(raw.parent),
        options: qdisc_options::read(&raw.kind, &raw.options),
        raw_options: (!raw.options.is_empty())
            .then(|| hexadecimal(&qdisc_options::without_counts(&raw.kind, &raw.options))),
        counters: counters(raw),
        classes: Vec::new(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
