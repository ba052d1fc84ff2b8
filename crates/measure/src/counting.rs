//! A host's counters before and after a test, under the names that [`CounterReadings`] explains.

use std::collections::BTreeMap;

use linux::counters::{DeviceCounters, DriverCounters, HostCounters, ProtocolCounters, SoftnetCpu};
use linux::qdisc::Qdisc;
use linux::{Reason, Unavailable};
use model::counters::{CounterReadings, Reading};

/// The first reading.
#[derive(Debug, Clone, Default)]
pub struct CountersBefore(Snapshot);

#[derive(Debug, Clone, Default)]
struct Snapshot {
    values: BTreeMap<String, u64>,
    unreadable: BTreeMap<String, String>,
}

impl CountersBefore {
    /// Reads the counters of the calling thread's network namespace.
    #[must_use]
    pub fn read() -> Self {
        Self(Snapshot::of(&HostCounters::read()))
    }

    /// Reads them again. A counter that is there only once, as of a device that came or went, is left out.
    #[must_use]
    pub fn readings(&self) -> CounterReadings {
        let mut after = Snapshot::of(&HostCounters::read());
        let pair = |(name, before): (&String, &u64)| {
            let after = after.values.get(name)?;
            Some((name.clone(), Reading { before: *before, after: *after }))
        };
        let values = self.0.values.iter().filter_map(pair).collect();
        after.unreadable.extend(self.0.unreadable.clone());
        CounterReadings { values, unreadable: after.unreadable }
    }
}

impl Snapshot {
    fn of(host: &HostCounters) -> Self {
        let mut snapshot = Self::default();
        snapshot.take("snmp", &host.snmp, Self::add_protocols);
        snapshot.take("snmp6", &host.snmp6, Self::add_protocols);
        snapshot.take("netstat", &host.netstat, Self::add_protocols);
        snapshot.take("softnet", &host.softnet, |snapshot, cpus| {
            cpus.iter().for_each(|cpu| snapshot.add_softnet(cpu));
        });
        snapshot.take("dev", &host.devices, |snapshot, devices| {
            devices.iter().for_each(|device| snapshot.add_device(device));
        });
        snapshot.take("qdisc", &host.qdiscs, |snapshot, qdiscs| {
            qdiscs.iter().for_each(|qdisc| snapshot.add_qdisc(qdisc));
        });
        host.drivers.iter().for_each(|driver| snapshot.add_driver(driver));
        snapshot
    }

    fn take<T>(&mut self, group: &str, part: &Result<T, Unavailable>, add: impl FnOnce(&mut Self, &T)) {
        match part {
            Ok(part) => add(self, part),
            Err(error) => {
                self.unreadable.insert(group.to_owned(), error.reason.to_string());
            }
        }
    }

    fn add(&mut self, name: String, value: u64) {
        self.values.insert(name, value);
    }

    fn add_protocols(&mut self, counters: &ProtocolCounters) {
        for (group, name, value) in counters.iter() {
            self.add(format!("{group}.{name}"), value);
        }
    }

    fn add_softnet(&mut self, cpu: &SoftnetCpu) {
        let name = |counter: &str| format!("softnet.cpu{}.{counter}", cpu.cpu);
        self.add(name("processed"), cpu.processed.into());
        self.add(name("dropped"), cpu.dropped.into());
        self.add(name("time_squeeze"), cpu.time_squeeze.into());
    }

    fn add_device(&mut self, device: &DeviceCounters) {
        for (counter, value) in &device.values {
            self.add(format!("dev.{}.{counter}", device.device), *value);
        }
    }

    fn add_qdisc(&mut self, qdisc: &Qdisc) {
        let Some(device) = &qdisc.device else { return };
        let name = |counter: &str| format!("qdisc.{device}.{:x}:.{counter}", qdisc.handle >> 16);
        let counted = &qdisc.statistics;
        self.add(name("bytes"), counted.bytes);
        self.add(name("packets"), counted.packets);
        self.add(name("drops"), counted.drops.into());
        self.add(name("overlimits"), counted.overlimits.into());
        self.add(name("requeues"), counted.requeues.into());
    }

    fn add_driver(&mut self, driver: &DriverCounters) {
        match &driver.statistics {
            Ok(statistics) => {
                for (counter, value) in statistics {
                    self.add(format!("nic.{}.{counter}", driver.device), *value);
                }
            }
            // Virtual devices have none, which is no news.
            Err(Unavailable { reason: Reason::Unsupported, .. }) => {}
            Err(error) => {
                self.unreadable.insert(format!("nic.{}", driver.device), error.reason.to_string());
            }
        }
    }
}
