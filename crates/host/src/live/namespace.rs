//! All facts of one network namespace: that of the calling thread.

use std::collections::BTreeMap;

use linux::Unavailable;
use linux::counters::ProtocolCounters;
use linux::facts::{Names, address, link, qdisc, route, tcp_metrics};
use model::host::fact::{Fact, Missing, Source};
use model::host::namespace::Namespace;
use model::host::qdisc::Qdisc;
use model::host::snapshot::Anomaly;
use model::host::tracked;

use super::connections;
use super::file::{self, answered};
use super::interface::Asking;
use crate::provenance::sysctl_d::{one_blank, swapped};

pub(super) fn read(name: Option<String>, inode: Option<u64>) -> (Namespace, Vec<Anomaly>) {
    let mut anomalies = Vec::new();
    let devices = link::read().unwrap_or_else(|error| {
        let file = Source::netlink(link::SOURCE).to_string();
        anomalies.push(Anomaly { file, line: None, reason: error.to_string() });
        Vec::new()
    });
    let names = link::names(&devices);
    let mut qdiscs = Qdiscs(qdisc::read(&names));
    let mut asking = Asking::open();
    let interfaces = devices.into_iter().map(|device| {
        let qdiscs = qdiscs.take(&device.name);
        asking.interface(device, qdiscs)
    });
    let mut interfaces: Vec<_> = interfaces.collect();
    interfaces.sort_by(|one, other| one.name.cmp(&other.name));
    let namespace = Namespace {
        name,
        inode,
        sysctls: sysctls(&names),
        routes: answered(route::read(&names), Source::netlink(route::SOURCE)),
        tcp_metrics: answered(tcp_metrics::read(), Source::netlink(tcp_metrics::SOURCE)),
        addresses: answered(address::read(&names), Source::netlink(address::SOURCE)),
        counters: counters(&mut anomalies),
        connections: connections::read(),
        interfaces,
    };
    (namespace, anomalies)
}

/// The disciplines of each device, or why there are none.
struct Qdiscs(Result<BTreeMap<String, Vec<Qdisc>>, Unavailable>);

impl Qdiscs {
    fn take(&mut self, device: &str) -> Fact<Vec<Qdisc>> {
        let taken = match &mut self.0 {
            Ok(all) => Ok(all.remove(device).unwrap_or_default()),
            Err(error) => Err(error.clone()),
        };
        answered(taken, Source::netlink(qdisc::SOURCE))
    }
}

pub(super) fn sysctls(names: &Names) -> BTreeMap<String, Fact<String>> {
    let read = |key: &str| {
        let fact = file::text(format!("/proc/sys/{}", swapped(key))).map(|text| one_blank(&text));
        (key.to_owned(), fact)
    };
    let of_all = tracked::SYSCTLS.iter().map(|key| read(key));
    let of_each = names.values().flat_map(|name| {
        // A point in a device's name is a slash in a sysctl's.
        let name = name.replace('.', "/");
        tracked::PER_INTERFACE.iter().map(move |pattern| read(&pattern.replace('*', &name)))
    });
    // A device without IPv6 has none of its sysctls: not a fact worth a line for each device.
    of_all.chain(of_each.filter(|(_, fact)| fact.reading != Err(Missing::Absent))).collect()
}

fn counters(anomalies: &mut Vec<Anomaly>) -> Fact<BTreeMap<String, u64>> {
    let source = Source::file("/proc/net/snmp, /proc/net/snmp6, /proc/net/netstat");
    let mut values = BTreeMap::new();
    for file in ["snmp", "netstat", "snmp6"] {
        let text = file::text(format!("/proc/thread-self/net/{file}"));
        let text = match text.reading {
            Ok(text) => text,
            // A kernel without IPv6 has no such file.
            Err(Missing::Absent) if file == "snmp6" => continue,
            Err(missing) => return Fact::missing(missing, text.source),
        };
        let of_ipv6 = file == "snmp6";
        let read = if of_ipv6 { ProtocolCounters::parse_list(&text) } else { ProtocolCounters::parse_pairs(&text) };
        values.extend(read.iter().map(|(group, name, value)| (format!("{group}.{name}"), value)));
        anomalies.extend(read.anomalies().iter().map(|anomaly| Anomaly {
            file: format!("/proc/net/{file}"),
            line: u32::try_from(anomaly.line).ok(),
            reason: anomaly.reason.to_owned(),
        }));
    }
    values.extend(neighbours());
    Fact::known(values, source)
}

/// How many neighbours IPv4 knows and how often their table was full, and what the table of connections refused.
fn neighbours() -> BTreeMap<String, u64> {
    let text = |name: &str| file::optional(format!("/proc/thread-self/net/stat/{name}")).unwrap_or_default();
    let (arp, conntrack) = (text("arp_cache"), text("nf_conntrack"));
    let found = [
        // Each processor has the entries of all.
        ("Neigh.entries", column(&arp, "entries").and_then(|each| each.first().copied())),
        ("Neigh.table_fulls", column(&arp, "table_fulls").map(|each| each.iter().sum())),
        ("Conntrack.insert_failed", column(&conntrack, "insert_failed").map(|each| each.iter().sum())),
        ("Conntrack.drop", column(&conntrack, "drop").map(|each| each.iter().sum())),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A column of a table below `/proc/net/stat`: names in the first line, then hexadecimal numbers, a line for each processor.
fn column(table: &str, name: &str) -> Option<Vec<u64>> {
    let mut lines = table.lines();
    let place = lines.next()?.split_whitespace().position(|known| known == name)?;
    let number = |line: &str| u64::from_str_radix(line.split_whitespace().nth(place)?, 16).ok();
    Some(lines.filter_map(number).collect())
}
