//! Addresses and groups of a template.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::entries::table;
use super::remark::Remarks;
use crate::plan::{Group, Host, Network, Shape, Ways};
use crate::read::names::{MOST_HOSTS, fault_of_name};

/// Hosts and the networks that labels stand for.
pub(super) struct Places {
    pub(super) hosts: Vec<Host>,
    pub(super) networks: Vec<Network>,
}

impl Places {
    /// The network of a label; a new one where it is named for the first time.
    fn network(&mut self, label: &str) -> usize {
        let found = self.networks.iter().position(|network| network.name == label);
        found.unwrap_or_else(|| {
            self.networks.push(Network { name: label.to_owned(), about: None });
            self.networks.len() - 1
        })
    }
}

/// All addresses as hosts.
pub(super) fn places(top: &Map<String, Value>, remarks: &mut Remarks) -> Places {
    let mut places = Places { hosts: Vec::new(), networks: Vec::new() };
    for (name, address) in table(top, "addresses").iter() {
        let place = format!("addresses.{name}");
        if fault_of_name(name).is_some() {
            remarks.add(place, "this cannot be the name of a host");
        } else if address.get("disabled").and_then(Value::as_bool).unwrap_or(false) {
            remarks.add(place, "is disabled");
        } else {
            let host = host(top, name, address, &mut places, remarks);
            places.hosts.push(host);
        }
    }
    places
}

fn host(top: &Map<String, Value>, name: &str, address: &Value, places: &mut Places, remarks: &mut Remarks) -> Host {
    let text = |key: &str| address.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut host = Host { name: name.to_owned(), address: text("address"), machine: text("host"), ..Host::default() };
    if host.address.is_none() {
        remarks.add(format!("addresses.{name}"), "has no `address`");
    }
    let labels = address.get("labels").and_then(Value::as_object);
    for (label, value) in labels.into_iter().flatten() {
        match value.get("address").and_then(Value::as_str) {
            Some(address) if fault_of_name(label).is_none() => {
                host.addresses.insert(places.network(label), address.to_owned());
            }
            _ => remarks.add(format!("addresses.{name}.labels.{label}"), "has no `address`, or no name for a network"),
        }
    }
    for key in ["contexts", "remote-addresses", "lead-bind-address"] {
        if address.get(key).is_some() {
            remarks.add(format!("addresses.{name}.{key}"), "has no counterpart here");
        }
    }
    let of_machine = host.machine.as_ref().and_then(|machine| table(top, "hosts").get(machine));
    for tag in [Some(address), of_machine].into_iter().flatten().filter_map(|of| of.get("tags")?.as_array()).flatten() {
        match tag.as_str().map(|tag| tag.split_once(':').ok_or(tag)) {
            Some(Ok((key, value))) => drop(host.attributes.insert(key.to_owned(), value.to_owned())),
            Some(Err(role)) if !host.roles.iter().any(|known| known == role) => host.roles.push(role.to_owned()),
            _ => {}
        }
    }
    host
}

/// A group, whose tests go to one address where that is given.
pub(super) fn group(
    top: &Map<String, Value>,
    name: &str,
    to: Option<&str>,
    places: &mut Places,
    remarks: &mut Remarks,
) -> Option<Group> {
    let place = format!("groups.{name}");
    let Some(value) = table(top, "groups").get(name) else {
        remarks.add(place, "there is no such group");
        return None;
    };
    if fault_of_name(name).is_some() {
        remarks.add(place, "this cannot be the name of a group");
        return None;
    }
    let mut chosen = Chosen { label: None, place: place.clone(), names: BTreeMap::new(), places, remarks };
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let shape = match (kind, to) {
        ("mesh", None) => Shape::Mesh(chosen.hosts(value, "addresses")),
        ("disjoint", None) => {
            let one_way = value.get("unidirectional").and_then(Value::as_bool).unwrap_or(false);
            let ways = if one_way { Ways::One } else { Ways::Both };
            Shape::Disjoint { a: chosen.hosts(value, "a-addresses"), b: chosen.hosts(value, "b-addresses"), ways }
        }
        ("list", Some(to)) => {
            let hosts = chosen.hosts(value, "addresses");
            to_one(&hosts, host_called(chosen.places, to)?)
        }
        ("list", None) => {
            chosen.remarks.add(place, "a list has one address for each test, and its tests name no other");
            return None;
        }
        (_, Some(to)) => {
            chosen.remarks.add(place, format!("tests to `{to}` whatever the pair are run from a list only"));
            return None;
        }
        (other, None) => {
            chosen.remarks.add(place, format!("groups of the type `{other}` are not known"));
            return None;
        }
    };
    let network = chosen.label.flatten();
    let names = std::mem::take(&mut chosen.names);
    let mut group = Group { name: name.to_owned(), shape, network, without: BTreeSet::new() };
    group.without = without(value, &group, &names, places);
    if group.most_pairs() == 0 || group.most_pairs() <= crate::read::test::MOST_PAIRS && group.pairs().is_empty() {
        remarks.add(format!("groups.{name}"), "no pair of hosts is left to test");
        return None;
    }
    Some(group)
}

/// Addresses that a group chooses.
struct Chosen<'a> {
    /// The network of the first one; those of others must be the same.
    #[expect(clippy::option_option, reason = "outer: whether one is chosen yet; inner: whether it has a label")]
    label: Option<Option<usize>>,
    place: String,
    names: BTreeMap<String, usize>,
    places: &'a mut Places,
    remarks: &'a mut Remarks,
}

impl Chosen<'_> {
    fn hosts(&mut self, group: &Value, key: &str) -> Vec<usize> {
        let mut hosts = Vec::new();
        for entry in group.get(key).and_then(Value::as_array).into_iter().flatten() {
            if let Some(host) = self.host(entry)
                && !hosts.contains(&host)
            {
                hosts.push(host);
            }
        }
        hosts
    }

    fn host(&mut self, entry: &Value) -> Option<usize> {
        let Some(name) = entry.get("name").and_then(Value::as_str) else {
            self.remarks.add(self.place.clone(), "addresses are chosen by name here, not by class");
            return None;
        };
        let Some(host) = self.places.hosts.iter().position(|host| host.name == name) else {
            self.remarks.add(self.place.clone(), format!("the address `{name}` is disabled or not there"));
            return None;
        };
        let label = match entry.get("label").and_then(Value::as_str) {
            None => None,
            Some(label) => {
                let Some(network) = self.labelled(host, label) else {
                    self.remarks.add(self.place.clone(), format!("the address `{name}` has no such label"));
                    return None;
                };
                Some(network)
            }
        };
        if label.is_none() && self.places.hosts[host].address.is_none() {
            return None;
        }
        if *self.label.get_or_insert(label) != label {
            self.remarks.add(self.place.clone(), format!("`{name}` is in another network than the first of its group"));
            return None;
        }
        self.names.insert(name.to_owned(), host);
        Some(host)
    }

    /// The network of this name in which the host has an address.
    fn labelled(&self, host: usize, label: &str) -> Option<usize> {
        let mut networks = self.places.hosts[host].addresses.keys().copied();
        networks.find(|network| self.places.networks[*network].name == label)
    }
}

/// The pairs that are left out: those that the group excludes, and hosts of one machine unless it says otherwise.
fn without(value: &Value, group: &Group, names: &BTreeMap<String, usize>, places: &Places) -> BTreeSet<(usize, usize)> {
    let mut without = BTreeSet::new();
    let found = |entry: &Value| names.get(entry.get("name")?.as_str()?).copied();
    for exclude in value.get("excludes").and_then(Value::as_array).into_iter().flatten() {
        let Some(local) = exclude.get("local-address").and_then(found) else { continue };
        let targets = exclude.get("target-addresses").and_then(Value::as_array).into_iter().flatten();
        without.extend(targets.filter_map(found).map(|target| (local, target)));
    }
    if value.get("excludes-self").and_then(Value::as_str).unwrap_or("host") == "host" {
        let mut machines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for host in group.hosts() {
            if let Some(machine) = &places.hosts[host].machine {
                machines.entry(machine).or_default().push(host);
            }
        }
        for hosts in machines.into_values() {
            let pairs = hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)));
            without.extend(pairs.filter(|(from, to)| from != to));
        }
    }
    let pairs: BTreeSet<(usize, usize)> = Group { without: BTreeSet::new(), ..group.clone() }
        .pairs()
        .into_iter()
        .map(|pair| (pair.from, pair.to))
        .collect();
    without.retain(|pair| pairs.contains(pair));
    without
}

/// A host of this name and address; whoever names it again means the same.
fn host_called(places: &mut Places, address: &str) -> Option<usize> {
    if let Some(found) = places.hosts.iter().position(|host| host.name == address) {
        return Some(found);
    }
    if fault_of_name(address).is_some() || places.hosts.len() >= MOST_HOSTS {
        return None;
    }
    places.hosts.push(Host { name: address.to_owned(), address: Some(address.to_owned()), ..Host::default() });
    Some(places.hosts.len() - 1)
}

/// Pairs from each host of a list to one address.
fn to_one(hosts: &[usize], to: usize) -> Shape {
    Shape::List(hosts.iter().filter(|from| **from != to).map(|from| (*from, to)).collect())
}
