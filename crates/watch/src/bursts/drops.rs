//! Counters of drops of a device and of the CPUs that receive for it, read over and over.

use std::collections::BTreeMap;
use std::fs;

use linux::counters::{parse_devices, parse_softnet};
use linux::qdisc;
use model::bursts::DropIncrease;
use units::PacketCount;

/// What counts drops around one device.
#[derive(Debug)]
pub(super) struct DropCounters {
    device: String,
    last: BTreeMap<String, u64>,
}

impl DropCounters {
    /// Reads what they stand at.
    pub(super) fn open(device: &str) -> Self {
        Self { device: device.to_owned(), last: read(device) }
    }

    /// What grew since the last reading. A counter that is new, or was set back, says nothing.
    pub(super) fn grown(&mut self) -> Vec<DropIncrease> {
        let now = read(&self.device);
        let grown = now.iter().filter_map(|(counter, value)| {
            let packets = value.checked_sub(*self.last.get(counter)?).filter(|packets| *packets > 0)?;
            Some(DropIncrease { counter: counter.clone(), packets: PacketCount::new(packets) })
        });
        let grown = grown.collect();
        self.last = now;
        grown
    }
}

/// What cannot be read is left out: the report has what could be.
fn read(device: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let text = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let (devices, _) = parse_devices(&text("/proc/thread-self/net/dev"));
    let own = devices.into_iter().find(|known| known.device == device);
    for (name, shown) in [("rx_drop", "rx_dropped"), ("tx_drop", "tx_dropped"), ("rx_fifo", "rx_fifo_errors")] {
        counters.extend(own.as_ref().and_then(|own| own.values.get(name)).map(|value| (shown.to_owned(), *value)));
    }
    let (cpus, _) = parse_softnet(&text("/proc/thread-self/net/softnet_stat"));
    if !cpus.is_empty() {
        counters.insert("softnet dropped".to_owned(), cpus.iter().map(|cpu| u64::from(cpu.dropped)).sum());
    }
    let qdiscs = qdisc::dump().unwrap_or_default();
    for qdisc in qdiscs.iter().filter(|qdisc| qdisc.device.as_deref() == Some(device)) {
        let name = format!("{:x}: {} qdisc drops", qdisc.handle >> 16, qdisc.kind);
        counters.insert(name, qdisc.statistics.drops.into());
    }
    counters
}
