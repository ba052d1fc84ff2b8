//! What is watched and is no setting that hosts are compared by: packages, addresses, policy rules, nftables, carrier.

use std::collections::{BTreeMap, BTreeSet};

use audit::settings::Key;
use linux::facts::nftables::FilterTable;
use linux::facts::{address, link, nftables, rule};
use model::host::namespace::Namespace;

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
    parts: Vec<(&'static str, BTreeMap<(Option<String>, String), String>)>,
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
        for (group, values) in state.parts {
            self.read.insert((namespace.to_owned(), group));
            self.values.insert(Key::of(namespace, None, group), "read".to_owned());
            let keys = values.into_iter().map(|((device, name), value)| {
                (Key::of(namespace, device.as_deref(), format!("{group}{name}")), value)
            });
            self.values.extend(keys);
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
            let of = |one: model::host::route::Address| {
                let name = format!("[{}/{}]", one.address, one.prefix);
                ((Some(one.interface), name), format!("scope {}", one.scope))
            };
            parts.push((ADDRESS, addresses.into_iter().map(of).collect()));
        }
        if let Ok(rules) = rule::read() {
            let of = |one: rule::PolicyRule| ((None, format!("[{one}]")), one.action);
            parts.push((RULE, rules.into_iter().take(MOST_RULES).map(of).collect()));
        }
        if let Ok(tables) = nftables::read() {
            let of = |(name, table): (String, FilterTable)| ((None, format!("[{name}]")), table_words(&table));
            parts.push((NFTABLES, tables.into_iter().map(of).collect()));
        }
        Self { parts }
    }

    /// With the carrier changes that a snapshot counts: a link may have gone and come back between two readings.
    pub(super) fn with_carriers(mut self, namespace: &Namespace) -> Self {
        let count = |link: &model::host::interface::link::Link| link.carrier_changes;
        let carriers = namespace.interfaces.iter().filter_map(|interface| {
            let changes = interface.link.value().and_then(count)?;
            Some(((Some(interface.name.clone()), ".changes".to_owned()), changes.to_string()))
        });
        self.parts.push((CARRIER, carriers.collect()));
        self
    }
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
const GROUPS: [&str; 5] = [packages::GROUP, ADDRESS, RULE, NFTABLES, CARRIER];

/// A host may route each of thousands of containers by a rule of its own.
const MOST_RULES: usize = 1024;
