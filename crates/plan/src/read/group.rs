//! Groups of pairs.

use std::collections::{BTreeMap, BTreeSet};

use document::{DocumentError, Key};

use super::names::Names;
use super::text::GroupText;
use crate::plan::{Group, Host, Reach, Shape, Ways};

pub(super) fn groups(mut texts: BTreeMap<String, GroupText>, hosts: &[Host], names: &mut Names<'_>) -> Vec<Group> {
    let in_order: Vec<_> = names.groups.iter().filter_map(|name| Some((name.clone(), texts.remove(name)?))).collect();
    if in_order.is_empty() {
        names
            .desk
            .complain(&Key::top("groups"), DocumentError::Keys("a plan has a group of hosts that test each other"));
    }
    in_order
        .into_iter()
        .map(|(name, text)| {
            let key = Key::top("groups").at(&name);
            group(name, &text, &key, hosts, names)
        })
        .collect()
}

fn group(name: String, text: &GroupText, key: &Key, hosts: &[Host], names: &mut Names<'_>) -> Group {
    let shape = shape(text, key, names);
    let network = names.network(&key.at("network"), text.network.as_deref()).flatten();
    let mut without = BTreeSet::new();
    for (number, pair) in text.without.iter().enumerate() {
        without.extend(names.pair(&key.at("without").nth(number), pair));
    }
    let group = Group { name, shape, network, without };
    for host in group.hosts() {
        check_address(&hosts[host], network, key, names);
    }
    group
}

fn shape(text: &GroupText, key: &Key, names: &mut Names<'_>) -> Shape {
    if text.one_way && text.disjoint.is_none() {
        names.desk.complain(&key.at("one-way"), DocumentError::Keys("only pairs of `disjoint` sides go one way"));
    }
    match (&text.mesh, &text.disjoint, &text.list) {
        (Some(mesh), None, None) => {
            if mesh.len() < 2 {
                names.desk.complain(&key.at("mesh"), DocumentError::Keys("a mesh has at least two hosts"));
            }
            Shape::Mesh(names.hosts(&key.at("mesh"), mesh))
        }
        (None, Some([a, b]), None) => {
            let key = key.at("disjoint");
            if a.is_empty() || b.is_empty() {
                names.desk.complain(&key, DocumentError::Keys("each side has at least one host"));
            }
            let ways = if text.one_way { Ways::One } else { Ways::Both };
            Shape::Disjoint { a: names.hosts(&key.nth(0), a), b: names.hosts(&key.nth(1), b), ways }
        }
        (None, None, Some(list)) => {
            let key = key.at("list");
            let pairs = list.iter().enumerate().filter_map(|(number, pair)| names.pair(&key.nth(number), pair));
            Shape::List(pairs.collect())
        }
        _ => {
            names
                .desk
                .complain(key, DocumentError::Keys("a group is a `mesh`, two `disjoint` sides or a `list` of pairs"));
            Shape::List(Vec::new())
        }
    }
}

/// Complains about a host that nobody could ask. Hosts of a lab have the addresses that the lab gives them.
fn check_address(host: &Host, network: Option<usize>, key: &Key, names: &mut Names<'_>) {
    let has = match network {
        Some(network) => host.addresses.contains_key(&network),
        None => host.address.is_some(),
    };
    if !has && !matches!(host.reach, Some(Reach::Lab(_))) {
        let of = match network {
            Some(network) => format!("host `{}` in the network `{}`", host.name, names.networks[network]),
            None => format!("host `{}`", host.name),
        };
        let needed = if network.is_some() { "addresses" } else { "address" };
        names.desk.complain(key, DocumentError::Needs { of, key: needed });
    }
}

impl Group {
    /// All hosts that it names, each once.
    #[must_use]
    pub fn hosts(&self) -> BTreeSet<usize> {
        match &self.shape {
            Shape::Mesh(hosts) => hosts.iter().copied().collect(),
            Shape::Disjoint { a, b, .. } => a.iter().chain(b).copied().collect(),
            Shape::List(pairs) => pairs.iter().flat_map(|&(from, to)| [from, to]).collect(),
        }
    }
}
