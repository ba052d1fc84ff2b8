//! All facts of one device.

use linux::Unavailable;
use linux::ethtool::Ethtool;
use linux::facts::ethtool::{HashTable, Settings};
use linux::facts::link::{self, Device};
use model::host::fact::{Fact, Missing, Source};
use model::host::interface::Interface;
use model::host::interface::driver::Driver;
use model::host::interface::tuning::ReceiveHashing;
use model::host::qdisc::Qdisc;

use super::bus::{self, Hardware};
use super::file::answered;
use super::sysfs::Sysfs;
use super::{interrupts, queues};
use crate::digest::sha256;

/// Asks of the devices of one namespace.
pub(super) struct Asking {
    pub(super) settings: Result<Settings, Unavailable>,
    pub(super) ethtool: Result<Ethtool, Unavailable>,
    pub(super) sysfs: Sysfs,
}

impl Asking {
    /// For the namespace of the calling thread.
    pub(super) fn open() -> Self {
        let ethtool = Ethtool::open().map_err(|error| Unavailable {
            what: "ethtool".to_owned(),
            reason: linux::Reason::Failed { message: error.to_string() },
        });
        Self { settings: Settings::open(), ethtool, sysfs: Sysfs::open() }
    }

    pub(super) fn interface(&mut self, device: Device, qdiscs: Fact<Vec<Qdisc>>) -> Interface {
        let index = device.link.index;
        let hardware = Hardware::under(&device, &self.sysfs);
        let counters = {
            let mut counters = device.counters.clone();
            counters.extend(device.link.carrier_changes.map(|count| ("carrier_changes".to_owned(), count.into())));
            counters
        };
        Interface {
            driver: self.driver(&device.name),
            bus: bus::read(hardware.as_ref()),
            mode: self.ask("LINKMODES_GET", |settings| settings.link_mode(index)),
            fec: self.ask("FEC_GET", |settings| settings.fec(index)),
            eee: self.ask("EEE_GET", |settings| settings.eee(index)),
            // Modules are on a slow bus, and what has no hardware has none.
            optics: match &hardware {
                Some(_) => self.ask("MODULE_EEPROM_GET", |settings| settings.optics(index)),
                None => Fact::missing(Missing::Absent, Source::netlink("MODULE_EEPROM_GET")),
            },
            features: self.ask("FEATURES_GET", |settings| settings.features(index)),
            rings: self.ask("RINGS_GET", |settings| settings.rings(index)),
            channels: self.ask("CHANNELS_GET", |settings| settings.channels(index)),
            coalesce: self.ask("COALESCE_GET", |settings| settings.coalesce(index)),
            pause: self.ask("PAUSE_GET", |settings| settings.pause(index)),
            receive_hashing: self.ask("RSS_GET", |settings| settings.hash_table(index)).map(hashed),
            private_flags: self.ask("PRIVFLAGS_GET", |settings| settings.private_flags(index)),
            qdiscs,
            queues: queues::read(&self.sysfs, &device.name, &device.link),
            interrupts: interrupts::read(hardware.as_ref()),
            counters: Fact::known(counters, Source::netlink(link::SOURCE)),
            driver_counters: self.driver_counters(&device.name),
            link: Fact::known(device.link, Source::netlink(link::SOURCE)),
            name: device.name,
        }
    }

    fn ask<T>(&mut self, message: &str, ask: impl FnOnce(&mut Settings) -> Result<T, Unavailable>) -> Fact<T> {
        let answer = self.settings.as_mut().map_err(|error| error.clone()).and_then(ask);
        answered(answer, Source::netlink(message))
    }

    fn driver(&self, device: &str) -> Fact<Driver> {
        let info = self.ethtool.as_ref().map_err(Clone::clone).and_then(|ethtool| ethtool.driver(device));
        let driver = info.map(|info| Driver {
            name: info.driver,
            version: info.version,
            // What drivers write that have none.
            firmware: Some(info.firmware).filter(|text| text != "N/A").unwrap_or_default(),
            bus_info: Some(info.bus_info).filter(|text| text != "N/A").unwrap_or_default(),
        });
        answered(driver, Source::ioctl("ETHTOOL_GDRVINFO"))
    }

    fn driver_counters(&self, device: &str) -> Fact<std::collections::BTreeMap<String, u64>> {
        let counters = self.ethtool.as_ref().map_err(Clone::clone).and_then(|ethtool| ethtool.statistics(device));
        answered(counters.map(|counters| counters.into_iter().collect()), Source::ioctl("ETHTOOL_GSTATS"))
    }
}

fn hashed(table: HashTable) -> ReceiveHashing {
    let bytes: Vec<u8> = table.queues.iter().flat_map(|queue| queue.to_le_bytes()).collect();
    let mut different = table.queues.clone();
    different.sort_unstable();
    different.dedup();
    ReceiveHashing {
        function: table.function,
        table_sha256: sha256(&bytes),
        table_entries: u32::try_from(table.queues.len()).unwrap_or(u32::MAX),
        queues: u32::try_from(different.len()).unwrap_or(u32::MAX),
    }
}
