//! Hosts: who they are and how they are set.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use document::{DocumentError, Key};
use serde::Deserialize;
use units::{DataRate, Mtu};

use crate::diagnostics::Diagnostics;
use crate::settings::{Settings, SettingsText};

/// A host or a router.
#[derive(Debug, Clone)]
pub struct Host {
    /// Name, unique in the file.
    pub name: String,
    /// Its role: hosts of one group should be alike.
    pub group: String,
    /// What else is known of it: site, model of its adapter, the machine it runs on.
    pub attributes: BTreeMap<String, String>,
    /// Whether it sends on what is not for it: a router, or a machine with others inside.
    pub forwards: bool,
    /// Its address, where the file gives one.
    pub address: Option<Ipv4Addr>,
    /// The same of version 6.
    pub address6: Option<Ipv6Addr>,
    /// How it is set, with what its group and the defaults add.
    pub settings: Settings,
    /// Other settings of single devices, by number of the link.
    pub devices: BTreeMap<usize, DeviceSettings>,
    /// What a real host in its place would show that a namespace cannot.
    pub facts: Option<toml::Table>,
}

/// Settings of a device that differ from those of its host.
#[derive(Debug, Clone, Default)]
pub struct DeviceSettings {
    /// Largest packet.
    pub mtu: Option<Mtu>,
    /// The speed it says it has.
    pub speed: Option<DataRate>,
    /// Features on or off, by the names of ethtool -k.
    pub offloads: BTreeMap<String, bool>,
    /// Queueing discipline.
    pub qdisc: Option<crate::blueprint::Qdisc>,
}

/// `[hosts.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HostText {
    group: Option<String>,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    #[serde(default)]
    forwards: bool,
    address: Option<Ipv4Addr>,
    address6: Option<Ipv6Addr>,
    #[serde(default)]
    devices: BTreeMap<String, DeviceText>,
    facts: Option<toml::Table>,
    // The same as in `SettingsText`: serde cannot flatten and refuse unknown keys at once.
    #[serde(default)]
    sysctl: toml::Table,
    congestion_control: Option<String>,
    #[serde(default)]
    offloads: BTreeMap<String, bool>,
    mtu: Option<Mtu>,
    qdisc: Option<crate::settings::QdiscText>,
    cpu_share: Option<f64>,
}

/// `[hosts.NAME.devices.LINK]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DeviceText {
    mtu: Option<Mtu>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    speed: Option<DataRate>,
    #[serde(default)]
    offloads: BTreeMap<String, bool>,
    qdisc: Option<crate::settings::QdiscText>,
}

impl HostText {
    /// The role of a host that names none: routers are alike, and so are all others.
    pub(crate) fn group(&self) -> &str {
        self.group.as_deref().unwrap_or(if self.forwards { "routers" } else { "hosts" })
    }

    /// The host, set by `outer` where it says nothing itself.
    pub(crate) fn settle(self, name: &str, outer: &Settings, diagnostics: &mut Diagnostics<'_>) -> Host {
        let key = Key::top("hosts").at(name);
        let group = self.group().to_owned();
        let text = SettingsText {
            sysctl: self.sysctl,
            congestion_control: self.congestion_control,
            offloads: self.offloads,
            mtu: self.mtu,
            qdisc: self.qdisc,
            cpu_share: self.cpu_share,
        };
        let settings = text.settle(&key, diagnostics).over(outer);
        let number = diagnostics.hosts.iter().position(|host| host == name).unwrap_or(0);
        let mut devices = BTreeMap::new();
        for (link, device) in self.devices {
            let key = key.at("devices").at(&link);
            if let Some(link) = link_of(&key, number, &link, diagnostics) {
                let qdisc = device.qdisc.map(crate::settings::QdiscText::settle);
                let DeviceText { mtu, speed, offloads, .. } = device;
                devices.insert(link, DeviceSettings { mtu, speed, offloads, qdisc });
            }
        }
        if let Some(recorded) = &self.facts {
            crate::facts::check(&key.at("facts"), recorded, diagnostics);
        }
        if let Some(toml::Value::Table(recorded)) = self.facts.as_ref().and_then(|facts| facts.get("interfaces")) {
            for link in recorded.keys() {
                link_of(&key.at("facts").at("interfaces").at(link), number, link, diagnostics);
            }
        }
        Host {
            name: name.to_owned(),
            group,
            attributes: self.attributes,
            forwards: self.forwards,
            address: self.address,
            address6: self.address6,
            settings,
            devices,
            facts: self.facts,
        }
    }
}

/// The link by which a device is named, if it ends at this host.
fn link_of(key: &Key, host: usize, link: &str, diagnostics: &mut Diagnostics<'_>) -> Option<usize> {
    let link = diagnostics.link(key, link)?;
    diagnostics.end(key, link, host).map(|_| link)
}

/// The hosts in the order of the file: their numbers are in their addresses.
pub(crate) fn names(diagnostics: &mut Diagnostics<'_>) {
    let key = Key::top("hosts");
    for name in diagnostics.document().keys_of(&key) {
        let taken = std::mem::take(&mut diagnostics.hosts);
        diagnostics.name_is_good(&key.at(&name), "a host", &name, &taken);
        diagnostics.hosts = taken;
        diagnostics.hosts.push(name);
    }
    let count = diagnostics.hosts.len();
    if count > MOST_HOSTS {
        diagnostics.complain(&key, DocumentError::TooMany { what: "hosts", count, limit: MOST_HOSTS });
    }
}

/// The number of a host is a byte of its address, and each is a process.
const MOST_HOSTS: usize = 200;
