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
    if let (CounterKind::KernelChange, Some(last)) = (owner.kind, readings.last()) {
        let change = |(name, after): (&String, &u64)| (name.clone(), Reading { before: 0, after: *after });
        found.values.extend(last.values.iter().map(change));
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
    let received = value("rx_packets")?;
    let no_room =
        ["rx_missed", "rx_missed_errors", "rx_no_buffer_count", "rx_out_of_buffer", "rx_fifo_errors", "rx_overrun"];
    let (counter, lost) =
        no_room.into_iter().filter_map(|name| Some((name, value(name)?))).max_by_key(|(_, lost)| *lost)?;
    let all = lost.saturating_add(received);
    (lost.saturating_mul(FULL_RING) >= all && lost >= FEWEST).then(|| found(counter, lost, all))
}

/// One of so many datagrams is lost in full sockets.
const FULL_SOCKETS: u64 = 100;
/// One of so many packets finds no room in a NIC.
const FULL_RING: u64 = 3_000;
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
    format!("; since they began to count: {}{of}", shown.join(", "))
}

/// Parts of names of counters that should stand still.
const TROUBLE: [&str; 10] = ["colls", "drop", "miss", "err", "crc", "no_buf", "discard", "fifo", "retrans", "overflow"];
const MOST_SHOWN: usize = 4;
