//! A host compared with the others of its role.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::{Aligned, Match};
use crate::fact::{Fact, FactMap};
use crate::scope::{HostFacts, LinkFacts};
use crate::settings::{Key, Settings};

pub(super) fn facts(host: &HostFacts, peers: &[HostFacts]) -> Fact {
    let text = |text: &str| Fact::Text(text.to_owned());
    let main: Vec<&LinkFacts> = peers.iter().filter_map(fastest).collect();
    let drivers = || main.iter().filter_map(|link| of(link, "nic", "driver")?.as_text());
    let every_driver: BTreeSet<&str> =
        peers.iter().flat_map(nics).filter_map(|link| of(link, "nic", "driver")?.as_text()).collect();
    let mut facts = FactMap::from([
        ("hosts".to_owned(), Fact::Int(i64::try_from(peers.len()).unwrap_or(i64::MAX))),
        ("driver".to_owned(), text(most(drivers()).map_or("", |(driver, _)| driver))),
        ("drivers".to_owned(), Fact::List(every_driver.into_iter().map(text).collect())),
        ("firmware".to_owned(), firmware(peers)),
        ("mtus".to_owned(), mtus(peers)),
        ("outliers".to_owned(), outliers(host, peers)),
    ]);
    let speeds: Option<Vec<i64>> = peers.iter().map(|peer| speed(fastest(peer)?)).collect();
    if let Some(least) = speeds.and_then(|speeds| speeds.into_iter().min()) {
        facts.insert("least_speed_bps".to_owned(), Fact::Int(least));
    }
    Fact::Map(facts)
}

/// Settings in which the host differs from what most of its peers have: the most agreed upon first.
fn outliers(host: &HostFacts, peers: &[HostFacts]) -> Fact {
    let every: Vec<&Settings> = std::iter::once(host).chain(peers).map(|host| &host.settings).collect();
    let aligned = Aligned::of(&every, Match::Role);
    let mut found: Vec<(usize, &Key, &str, &str)> = Vec::new();
    for (key, row) in aligned.rows() {
        // The telling setting may exist on one kind of hardware only, so "none" is a value as well.
        let Some((own, others)) = row.split_first() else { continue };
        let common = most(others.iter().filter_map(|cell| cell.text()));
        let (Some(own), Some((common, count))) = (own.text(), common) else { continue };
        if own != common {
            found.push((count, key, own, common));
        }
    }
    // That a device is there at all is often the work of the host, so it is told after what is set otherwise.
    found.sort_by_key(|(count, key, ..)| (std::cmp::Reverse(*count), key.name == "device", *key));
    let shown = |value: &str| Fact::Text(if value.is_empty() { "none" } else { value }.to_owned());
    #[expect(clippy::cast_precision_loss, reason = "a share of few hosts")]
    let entry = |(count, key, here, group): (usize, &Key, &str, &str)| {
        Fact::Map(FactMap::from([
            ("key".to_owned(), Fact::Text(key.to_string())),
            ("here".to_owned(), shown(here)),
            ("group".to_owned(), shown(group)),
            ("share".to_owned(), Fact::Float(count as f64 / peers.len() as f64)),
        ]))
    };
    Fact::List(found.into_iter().map(entry).collect())
}

/// The firmware that most NICs of each driver have.
fn firmware(peers: &[HostFacts]) -> Fact {
    let mut by_driver: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in peers.iter().flat_map(nics) {
        if let (Some(driver), Some(firmware)) = (of(link, "nic", "driver"), of(link, "nic", "firmware"))
            && let (Some(driver), Some(firmware)) = (driver.as_text(), firmware.as_text())
        {
            by_driver.entry(driver).or_default().push(firmware);
        }
    }
    let common = by_driver.into_iter().map(|(driver, versions)| {
        let common = most(versions.into_iter()).map_or("", |(version, _)| version);
        (driver.to_owned(), Fact::Text(common.to_owned()))
    });
    Fact::Map(common.collect())
}

fn mtus(peers: &[HostFacts]) -> Fact {
    let mut by_name: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for link in peers.iter().flat_map(nics) {
        if let Some(Fact::Int(mtu)) = of(link, "link", "mtu") {
            by_name.entry(&link.name).or_default().insert(*mtu);
        }
    }
    let lists = by_name
        .into_iter()
        .map(|(name, mtus)| (name.to_owned(), Fact::List(mtus.into_iter().map(Fact::Int).collect())));
    Fact::Map(lists.collect())
}

/// What occurs most often, and how often; nothing where nothing occurs twice.
fn most<'a>(values: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count >= 2)
}

fn nics(host: &HostFacts) -> impl Iterator<Item = &LinkFacts> {
    let own = host.namespaces.iter().take(1).flat_map(|namespace| &namespace.links);
    own.filter(|link| link.facts.contains_key("nic"))
}

fn fastest(host: &HostFacts) -> Option<&LinkFacts> {
    nics(host).max_by_key(|link| speed(link))
}

fn speed(link: &LinkFacts) -> Option<i64> {
    if let Fact::Int(speed) = of(link, "link", "speed_bps")? { Some(*speed) } else { None }
}

fn of<'a>(link: &'a LinkFacts, root: &str, name: &str) -> Option<&'a Fact> {
    link.facts.get(root)?.as_map()?.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::NamespaceFacts;
    use crate::settings::Value;

    fn host(driver: &str, features: &[(&str, &str)]) -> HostFacts {
        let nic = serde_json::json!({ "driver": driver });
        let facts = FactMap::from([("nic".to_owned(), Fact::from_json(nic))]);
        let links = vec![LinkFacts { name: "em1".to_owned(), facts }];
        let setting =
            |(name, value): &(&str, &str)| (Key::device("em1", format!("feature.{name}")), Value::new(*value));
        let there = (Key::device("em1", "device"), Value::new("physical"));
        let settings = features.iter().map(setting).chain(std::iter::once(there)).collect();
        let namespaces = vec![NamespaceFacts { links, ..NamespaceFacts::default() }];
        HostFacts { namespaces, settings, ..HostFacts::default() }
    }

    #[test]
    fn a_feature_that_only_one_host_has_is_an_outlier() {
        let here = host("bnxt_en", &[("rx-gro", "on"), ("rx-gro-hw", "on")]);
        let peers = [0; 3].map(|_| host("ixgbe", &[("rx-gro", "on")]));
        let Fact::Map(facts) = facts(&here, &peers) else { panic!("facts have names") };
        assert_eq!(facts["driver"], Fact::Text("ixgbe".to_owned()));
        let outliers = facts["outliers"].to_string();
        assert_eq!(outliers, "[{group: none here: on key: em1: feature.rx-gro-hw share: 1.000}]");
    }
}
