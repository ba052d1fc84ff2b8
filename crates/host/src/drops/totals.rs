//! All counters of a network namespace that say that something went wrong, at one moment.

use std::collections::BTreeMap;

use linux::counters::{HostCounters, ProtocolCounters, SoftnetCpu};
use linux::facts::link::{self, Device};
use linux::facts::qdisc;
use linux::{Reason, Unavailable};
use model::host::drops::{Counter, DropKind, Layer, UnknownPart};
use model::host::qdisc::Qdisc;
use units::MonoTime;

use super::kinds;

/// What the counters stood at.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// When they were read.
    pub taken: MonoTime,
    /// Each counter.
    pub counters: BTreeMap<Counter, Total>,
    /// What could not be read.
    pub unknown: Vec<UnknownPart>,
}

/// What one counter stood at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// What the kernel had counted when it was read; it starts again from 0 where it wraps (see `width`).
    pub value: u64,
    /// How many bits the kernel keeps of it.
    pub width: Width,
    /// What it means.
    pub kind: DropKind,
    /// Which device it belongs to: another number is another device, whatever its name. 0 for none.
    pub device: u32,
}

/// How many bits the kernel keeps of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 32, which wrap.
    Bits32,
    /// 64, which do not.
    Bits64,
}

/// Reads all counters in the network namespace of the calling thread. Needs no privilege.
#[must_use]
pub fn read() -> Totals {
    let host = HostCounters::read();
    let mut totals = Totals { taken: host.taken_at, ..Totals::default() };
    let devices = totals.known(link::read()).unwrap_or_default();
    for device in &devices {
        totals.add_device(device);
    }
    let numbers: BTreeMap<&str, u32> = devices.iter().map(|device| (device.name.as_str(), device.link.index)).collect();
    for driver in host.drivers {
        let number = numbers.get(driver.device.as_str()).copied().unwrap_or(0);
        match driver.statistics {
            Ok(statistics) => totals.add_driver(&driver.device, number, &statistics),
            // A driver without counters of its own has nothing that could be missed.
            Err(error) if error.reason == Reason::Unsupported => {}
            Err(error) => totals.miss(&error),
        }
    }
    for cpu in totals.known(host.softnet).unwrap_or_default() {
        totals.add_processor(&cpu);
    }
    for (device, qdiscs) in totals.known(qdisc::read(&link::names(&devices))).unwrap_or_default() {
        let number = numbers.get(device.as_str()).copied().unwrap_or(0);
        qdiscs.iter().for_each(|qdisc| totals.add_qdisc(&device, number, qdisc));
    }
    for protocols in [host.snmp, host.netstat, host.snmp6] {
        if let Some(protocols) = totals.known(protocols) {
            totals.add_protocols(&protocols);
        }
    }
    totals
}

impl Totals {
    fn known<T>(&mut self, read: Result<T, Unavailable>) -> Option<T> {
        read.map_err(|error| self.miss(&error)).ok()
    }

    fn miss(&mut self, error: &Unavailable) {
        self.unknown.push(UnknownPart { what: error.what.clone(), why: error.reason.to_string() });
    }

    fn add(&mut self, counter: (Layer, &str, &str), total: Total) {
        let (layer, of, name) = counter;
        self.counters.insert(Counter { layer, of: of.to_owned(), name: name.to_owned() }, total);
    }

    fn add_device(&mut self, device: &Device) {
        for (name, &value) in &device.counters {
            if let Some(kind) = kinds::device(name) {
                let total = Total { value, width: Width::Bits64, kind, device: device.link.index };
                self.add((Layer::Device, &device.name, name), total);
            }
        }
    }

    fn add_driver(&mut self, device: &str, number: u32, statistics: &[(String, u64)]) {
        for (name, value) in statistics {
            if let Some(kind) = kinds::driver(name) {
                let total = Total { value: *value, width: Width::Bits64, kind, device: number };
                self.add((Layer::Driver, device, name), total);
            }
        }
    }

    fn add_processor(&mut self, cpu: &SoftnetCpu) {
        let of = format!("cpu {}", cpu.cpu);
        let counted = [
            ("dropped", Some(cpu.dropped), DropKind::Backlog),
            ("time_squeeze", Some(cpu.time_squeeze), DropKind::Squeezed),
            ("flow_limit", cpu.flow_limit, DropKind::Backlog),
        ];
        for (name, value, kind) in counted {
            if let Some(value) = value {
                let total = Total { value: value.into(), width: Width::Bits32, kind, device: 0 };
                self.add((Layer::Softnet, &of, name), total);
            }
        }
    }

    /// `flows_plimit` of fq counts packets of a flow over its limit, which are among its drops as well.
    fn add_qdisc(&mut self, device: &str, number: u32, qdisc: &Qdisc) {
        let place = if qdisc.is_default() { &qdisc.parent } else { &qdisc.handle };
        let of = format!("{device} {place} {}", qdisc.kind);
        for (name, width) in [("drops", Width::Bits32), ("flows_plimit", Width::Bits64)] {
            if let Some(&value) = qdisc.counters.get(name) {
                let total = Total { value, width, kind: DropKind::Queue, device: number };
                self.add((Layer::Qdisc, &of, name), total);
            }
        }
    }

    fn add_protocols(&mut self, protocols: &ProtocolCounters) {
        for (group, name, value) in protocols.iter() {
            if let Some(kind) = kinds::protocol(group, name) {
                let total = Total { value, width: Width::Bits64, kind, device: 0 };
                self.add((Layer::Protocol, "", &format!("{group}.{name}")), total);
            }
        }
    }
}
