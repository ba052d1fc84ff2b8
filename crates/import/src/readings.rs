//! Readings of counters as changes: the first and the last of each.

use std::collections::BTreeMap;

use model::counters::{CounterReadings, Reading};

use super::evidence::{CounterKind, DeviceCounters, LostSoFar};

/// Whose counters some readings are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CounterOwner {
    pub(crate) host: Option<String>,
    pub(crate) kind: CounterKind,
    pub(crate) device: Option<String>,
}

/// The first reading and the last.
pub(crate) fn readings_of(owner: &CounterOwner, readings: &[&DeviceCounters]) -> CounterReadings {
    let mut found = CounterReadings::default();
    let device = owner.device.as_deref().unwrap_or("nic");
    let (device, prefix) = match owner.kind {
        CounterKind::Nic => (device, format!("nic.{device}.")),
        CounterKind::Link => (device, format!("dev.{device}.")),
        CounterKind::Kernel | CounterKind::KernelChange => ("the kernel's counters", String::new()),
    };
    if owner.kind == CounterKind::KernelChange {
        // Lists of one text may show other counters each; of one that comes again the last counts.
        let change = |(name, after): (&String, &u64)| (name.clone(), Reading { before: 0, after: *after });
        found.values.extend(readings.iter().flat_map(|reading| &reading.values).map(change));
        return found;
    }
    if let [only] = readings {
        let so_far = so_far(&only.values);
        let reason = format!("one reading of {device} shows no change: read it before and after the test{so_far}");
        found.unreadable.insert(format!("{prefix}{device}"), reason);
        return found;
    }
    // Readings may show other counters each, as `grep` leaves them.
    let mut first: BTreeMap<&String, u64> = BTreeMap::new();
    for (name, value) in readings.iter().flat_map(|reading| &reading.values) {
        match first.get(name) {
            None => {
                first.insert(name, *value);
            }
            Some(before) => {
                let reading = Reading { before: *before, after: *value };
                found.values.insert(format!("{prefix}{name}"), reading);
            }
        }
    }
    found
}

/// What one reading says by itself: what was lost is a part of all that came that no healthy host loses.
pub(crate) fn lost_so_far(owner: &CounterOwner, readings: &[&DeviceCounters]) -> Option<LostSoFar> {
    let [only] = readings else { return None };
    let value = |name: &str| only.values.get(name).copied();
    let device = owner.device.clone().unwrap_or_else(|| "the kernel".to_owned());
    let found = |counter: &str, lost: u64, all: u64| LostSoFar {
        device: device.clone(),
        counter: counter.to_owned(),
        lost,
        all,
    };
    if owner.kind == CounterKind::Kernel {
        let (lost, passed) = (value("Udp.RcvbufErrors")?, value("Udp.InDatagrams")?);
        let all = lost.saturating_add(passed);
        return (lost.saturating_mul(FULL_SOCKETS) >= all && lost >= FEWEST)
            .then(|| found("Udp.RcvbufErrors", lost, all));
    }
    let most = |names: &[&'static str]| {
        names.iter().filter_map(|name| Some((*name, value(name)?))).max_by_key(|(_, lost)| *lost)
    };
    // Where counters of zero were left out, a port that sent and has none of what it received has received nothing whole.
    let is_of_used = only.values.values().all(|value| *value > 0) && value("tx_packets").is_some();
    let nothing_whole = is_of_used && !RECEIVED.iter().any(|name| only.values.contains_key(*name));
    let received = value("rx_packets").or(nothing_whole.then_some(0))?;
    let part = |(counter, lost): (&'static str, u64)| (counter, lost, lost.saturating_add(received));
    let is_much =
        |(_, lost, all): &(&str, u64, u64), one_of: u64| lost.saturating_mul(one_of) >= *all && *lost >= FEWEST;
    let damaged = most(&DAMAGED).map(part).filter(|lost| is_much(lost, DAMAGED_PART));
    let no_room = most(&NO_ROOM).filter(|_| !nothing_whole).map(part).filter(|lost| is_much(lost, FULL_RING));
    damaged.or(no_room).map(|(counter, lost, all)| found(counter, lost, all))
}

/// Counters of packets that arrived whole.
const RECEIVED: [&str; 5] = ["rx_packets", "rx_ucast", "rx_mcast", "rx_bcast", "rx_ucast_packets"];
/// Counters of packets for which a NIC had no room.
const NO_ROOM: [&str; 6] =
    ["rx_missed", "rx_missed_errors", "rx_no_buffer_count", "rx_out_of_buffer", "rx_fifo_errors", "rx_overrun"];
/// Counters of frames whose check sequence was wrong.
const DAMAGED: [&str; 6] =
    ["rx_crc_errors", "rx_crc_err", "rx_fcs_errors", "rx_crc_errors_phy", "rx_crc", "rx_crc_align_errors"];

/// One of so many datagrams is lost in full sockets.
const FULL_SOCKETS: u64 = 100;
/// One of so many packets finds no room in a NIC.
const FULL_RING: u64 = 3_000;
/// One of so many frames is damaged.
const DAMAGED_PART: u64 = 1_000;
/// Fewer say nothing.
const FEWEST: u64 = 100;

/// What the counters of drops and errors stand at, the largest first: since when is not known.
fn so_far(values: &BTreeMap<String, u64>) -> String {
    let is_trouble = |name: &str| TROUBLE.iter().any(|part| name.to_lowercase().contains(part));
    let mut standing: Vec<(&String, &u64)> =
        values.iter().filter(|(name, value)| **value > 0 && is_trouble(name)).collect();
    standing.sort_by_key(|(_, value)| std::cmp::Reverse(**value));
    let shown: Vec<String> = standing.iter().take(MOST_SHOWN).map(|(name, value)| format!("{name} {value}")).collect();
    if shown.is_empty() {
        return String::new();
    }
    let all = ["rx_packets", "Tcp.OutSegs"].iter().find_map(|name| Some((name, values.get(*name)?)));
    let of = all.map(|(name, count)| format!(" ({name} {count})")).unwrap_or_default();
    let most = standing.first().map_or(0, |(_, value)| **value);
    let is_nothing = all.is_some_and(|(_, count)| most.saturating_mul(NEXT_TO_NOTHING) <= *count);
    let so = if is_nothing { ", which is next to nothing" } else { "" };
    format!("; since they began to count: {}{of}{so}", shown.join(", "))
}

/// One packet of so many is what any network loses.
const NEXT_TO_NOTHING: u64 = 100_000;

/// Parts of names of counters that should stand still.
const TROUBLE: [&str; 10] = ["colls", "drop", "miss", "err", "crc", "no_buf", "discard", "fifo", "retrans", "overflow"];
const MOST_SHOWN: usize = 4;
