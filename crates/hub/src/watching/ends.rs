//! Which series a transfer belongs to: that of two hosts of the plan, or of one and a network.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use mesh::incident::{Metric, Series};
use model::host::snapshot::Snapshot;
use plan::plan::Host;

use crate::api::record::unpacked;
use crate::store::rows::StoredRecord;

/// The series of transfers from one host to another, or to a network.
pub(super) fn series(ends: [&str; 2]) -> Series {
    let [from, to] = ends.map(str::to_owned);
    Series { from, to, test: LABEL.to_owned(), family: None, metric: Metric::TransferRate }
}

/// Which host has which addresses.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    of_host: BTreeMap<String, BTreeSet<IpAddr>>,
    hosts: BTreeMap<IpAddr, BTreeSet<String>>,
}

impl Addresses {
    pub(super) fn knows(&self, host: &str) -> bool {
        self.of_host.contains_key(host)
    }

    /// Takes those that a plan declares, and those of the newest facts.
    pub(super) fn add(&mut self, host: &Host, facts: Option<&Snapshot>) {
        let declared = host.address.iter().chain(host.addresses.values());
        let declared = declared.filter_map(|address| address.parse().ok());
        self.take(&host.name, declared.chain(facts.map(own).unwrap_or_default()).collect());
    }

    /// Takes those of new facts, beside those that are known.
    pub(super) fn learn(&mut self, record: &StoredRecord) {
        let Some(known) = self.of_host.get(&record.agent).cloned() else { return };
        let snapshot = unpacked(&record.content).ok().and_then(|text| Snapshot::read(&text).ok());
        if let Some(snapshot) = snapshot {
            self.take(&record.agent, known.into_iter().chain(own(&snapshot)).collect());
        }
    }

    fn take(&mut self, host: &str, addresses: BTreeSet<IpAddr>) {
        for address in &addresses {
            self.hosts.entry(*address).or_default().insert(host.to_owned());
        }
        self.of_host.insert(host.to_owned(), addresses);
    }

    /// The host that alone has an address: those of bridges are the same everywhere.
    pub(super) fn host(&self, address: IpAddr) -> Option<&str> {
        let hosts = self.hosts.get(&address.to_canonical())?;
        hosts.first().filter(|_| hosts.len() == 1).map(String::as_str)
    }
}

/// Addresses by which others reach a host.
fn own(snapshot: &Snapshot) -> Vec<IpAddr> {
    let addresses = snapshot.namespaces.iter().filter_map(|namespace| namespace.addresses.value());
    addresses.flatten().filter(|address| address.scope == "global").map(|address| address.address).collect()
}

/// What results of transfers are called where those of tests have the label of the test.
const LABEL: &str = "transfers";
