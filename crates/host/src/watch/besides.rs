//! What is watched and is no setting that hosts are compared by: packages, addresses, policy rules, nftables, carrier, and
//! where TCP begins slowly.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use audit::settings::Key;
use linux::facts::nftables::FilterTable;
use linux::facts::{address, link, nftables, rule, tcp_metrics};
use model::host::namespace::Namespace;
use model::host::route::TcpMetrics;

use super::packages;
use crate::files::Files;

/// A reading of some of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Besides {
    pub(super) values: BTreeMap<Key, String>,
    /// Which groups of which namespaces were read: what is not in `values` of those is not there.
    read: BTreeSet<(String, &'static str)>,
}

/// What one namespace says; a part that cannot be read is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NetworkState {
    parts: Vec<Part>,
}

/// All that was read of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    group: &'static str,
    observed: Vec<Observed>,
}

/// One thing of a group, with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Observed {
    device: Option<String>,
    /// Behind the name of the group.
    name: String,
    state: String,
}

/// Whether it is a setting that no snapshot is compared by.
pub(super) fn is_besides(key: &Key) -> bool {
    GROUPS.contains(&key.group())
}

/// Whether a key only says that its group was read: the first reading of all is no change of everything.
pub(super) fn is_mark(key: &Key) -> bool {
    is_besides(key) && key.name == key.group()
}

impl Besides {
    /// With the packages of the host.
    pub(super) fn with_packages(mut self, files: &dyn Files) -> Self {
        self.read.insert((String::new(), packages::GROUP));
        self.values.extend(packages::read(files));
        self
    }

    /// With what a namespace says.
    pub(super) fn with_network(mut self, namespace: &str, state: NetworkState) -> Self {
        for Part { group, observed } in state.parts {
            self.read.insert((namespace.to_owned(), group));
            self.values.insert(Key::of(namespace, None, group), "read".to_owned());
            for Observed { device, name, state } in observed {
                self.values.insert(Key::of(namespace, device.as_deref(), format!("{group}{name}")), state);
            }
        }
        self
    }

    /// Whether the group of this key was read.
    pub(super) fn has_read(&self, key: &Key) -> bool {
        self.read.iter().any(|(namespace, group)| *namespace == key.namespace && *group == key.group())
    }

    #[cfg(test)]
    pub(super) fn of(values: BTreeMap<Key, String>) -> Self {
        Self { values, read: [(String::new(), packages::GROUP)].into() }
    }
}

impl NetworkState {
    /// What the namespace of the calling thread says.
    pub(super) fn read() -> Self {
        let mut parts = Vec::new();
        let names = link::read().map(|devices| link::names(&devices)).unwrap_or_default();
        if let Ok(addresses) = address::read(&names) {
            let of = |one: model::host::route::Address| Observed {
                device: Some(one.interface),
                name: format!("[{}/{}]", one.address, one.prefix),
                state: format!("scope {}", one.scope),
            };
            // The link-local address of IPv6 comes with the device by itself (RFC 4862 section 5.3).
            let by_itself =
                |address: &IpAddr| matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
            let set = addresses.into_iter().filter(|one| !by_itself(&one.address));
            parts.push(Part { group: ADDRESS, observed: set.map(of).collect() });
        }
        if let Ok(rules) = rule::read() {
            let of = |one: rule::PolicyRule| Observed { device: None, name: format!("[{one}]"), state: one.action };
            parts.push(Part { group: RULE, observed: rules.into_iter().take(MOST_RULES).map(of).collect() });
        }
        if let Ok(tables) = nftables::read() {
            let mut observed = Vec::new();
            for (name, table) in tables {
                observed.push(Observed { device: None, name: format!("[{name}]"), state: table_words(&table) });
            }
            parts.push(Part { group: NFTABLES, observed });
        }
        if let Ok(metrics) = tcp_metrics::read() {
            parts.push(Part { group: TCP_METRICS, observed: slow_starts(&metrics) });
        }
        Self { parts }
    }

    /// With the carrier changes that a snapshot counts: a link may have gone and come back between two readings.
    pub(super) fn with_carriers(mut self, namespace: &Namespace) -> Self {
        let count = |link: &model::host::interface::link::Link| link.carrier_changes;
        let carriers = namespace.interfaces.iter().filter_map(|interface| {
            let state = interface.link.value().and_then(count)?.to_string();
            Some(Observed { device: Some(interface.name.clone()), name: ".changes".to_owned(), state })
        });
        self.parts.push(Part { group: CARRIER, observed: carriers.collect() });
        self
    }
}

/// Destinations to which a new connection leaves slow start at what an earlier one ended with, until somebody flushes it
/// (`tcp_init_metrics`, net/ipv4/tcp_metrics.c). RTTs that are remembered change with each connection, and tell nothing.
fn slow_starts(metrics: &[TcpMetrics]) -> Vec<Observed> {
    let remembered = metrics.iter().filter_map(|entry| Some((entry.destination, entry.ssthresh?)));
    let mut lowest: Vec<_> = remembered.map(|(destination, ssthresh)| (ssthresh, destination)).collect();
    lowest.sort_unstable();
    lowest.truncate(MOST_DESTINATIONS);
    let of = |(ssthresh, destination)| Observed {
        device: None,
        name: format!("[{destination}]"),
        state: format!("ssthresh {ssthresh}"),
    };
    lowest.into_iter().map(of).collect()
}

/// In the words of nft(8): what passes, and how much is asked about it.
fn table_words(table: &FilterTable) -> String {
    let FilterTable { base_chains, other_chains, rules, newest_rule } = table;
    let mut words = base_chains.clone();
    if *other_chains > 0 {
        words.push(format!("other chains {other_chains}"));
    }
    words.push(format!("rules {rules}"));
    if *newest_rule > 0 {
        words.push(format!("newest handle {newest_rule}"));
    }
    words.join(", ")
}

pub(super) const ADDRESS: &str = "address";
pub(super) const RULE: &str = "rule";
pub(super) const NFTABLES: &str = "nftables";
pub(super) const CARRIER: &str = "carrier";
pub(super) const TCP_METRICS: &str = "tcp-metrics";
const GROUPS: [&str; 6] = [packages::GROUP, ADDRESS, RULE, NFTABLES, CARRIER, TCP_METRICS];

/// A host may route each of thousands of containers by a rule of its own.
const MOST_RULES: usize = 1024;
/// A server may remember all of its clients; the slowest starts are those that matter.
const MOST_DESTINATIONS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_that_begin_slowly_are_told_the_slowest_first() {
        let entry = |host: u8, ssthresh| TcpMetrics {
            destination: IpAddr::from([192, 0, 2, host]),
            source: None,
            rtt: Some(80_000),
            rttvar: None,
            ssthresh,
            cwnd: None,
            reordering: None,
        };
        let told = slow_starts(&[entry(1, None), entry(2, Some(70)), entry(3, Some(12))]);
        let words: Vec<String> = told.iter().map(|one| format!("{}{}: {}", TCP_METRICS, one.name, one.state)).collect();
        assert_eq!(words, ["tcp-metrics[192.0.2.3]: ssthresh 12", "tcp-metrics[192.0.2.2]: ssthresh 70"]);
        let many: Vec<TcpMetrics> = (0..=u8::MAX).map(|host| entry(host, Some(u32::from(host)))).collect();
        assert_eq!(slow_starts(&many).len(), MOST_DESTINATIONS);
    }
}
