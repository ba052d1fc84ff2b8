//! Groups of hosts: four that were compared by hand in 2022, and made ones.

use model::host::fact::{Fact, Missing, Source as ReadFrom};
use model::host::snapshot::Snapshot;

use super::*;
use crate::compare::changes;

/// Four hosts of virtual machines of one container swarm, as far as their account tells; what it leaves open is filled in.
fn nrao() -> Vec<HostFacts> {
    let texts = [
        include_str!("../../../tests/groups/nrao/naasc-vs-2.json"),
        include_str!("../../../tests/groups/nrao/naasc-vs-3.json"),
        include_str!("../../../tests/groups/nrao/naasc-vs-4.json"),
        include_str!("../../../tests/groups/nrao/naasc-vs-5.json"),
    ];
    texts.iter().map(|text| HostFacts::of(&serde_json::from_str(text).unwrap())).collect()
}

fn snapshot() -> Snapshot {
    serde_json::from_str(include_str!("../../../tests/snapshot.json")).unwrap()
}

fn compared(hosts: &[HostFacts], by: Match) -> Comparison {
    let names: Vec<String> = (0..hosts.len()).map(|n| format!("{}#{n}", hosts[n].name)).collect();
    let sides: Vec<Side<'_>> = hosts.iter().zip(&names).map(|(facts, name)| Side { name, facts }).collect();
    outliers(&Rules::built_in(), &sides, by)
}

#[test]
fn the_feature_that_took_five_months_comes_first_and_the_card_second() {
    let comparison = compared(&nrao(), Match::Role);
    let [first, second, ..] = comparison.differences.as_slice() else { panic!("nothing differs") };
    assert_eq!(first.key, Key::device("fastest NIC", "feature.rx-gro-hw"));
    let odd = first.odd();
    assert_eq!((odd.len(), odd[0].by.as_slice()), (1, ["naasc-vs-4#2".to_owned()].as_slice()));
    assert_eq!(odd[0].value.as_ref().unwrap().to_string(), "on");
    assert_eq!(first.common().unwrap().value.as_ref().unwrap().to_string(), "off [fixed]");
    assert_eq!(first.rules[0].rule, "NIC-GROHW-OVERLAY");
    assert_eq!(first.rules[0].fires_at, ["naasc-vs-4#2"]);
    assert_eq!(second.key, Key::device("fastest NIC", "bus.model"));
    let at_odd = second.values.iter().find(|held| held.by == ["naasc-vs-4#2"]).unwrap();
    assert_eq!(at_odd.value.as_ref().unwrap().text, "14e4:16d6");
}

#[test]
fn cards_are_matched_by_what_they_are_for_and_guests_are_left_out() {
    let comparison = compared(&nrao(), Match::Role);
    let main = comparison.devices.iter().find(|device| device.role == "fastest NIC").unwrap();
    assert_eq!(main.names.values().collect::<Vec<_>>(), ["p1p1", "p5p1", "em1", "p2p1"]);
    let differs = |device: &str, name: &str| comparison.differences.iter().find(|d| d.key == Key::device(device, name));
    // The VLAN whose packets two hosts dropped.
    let vlan = differs("vlan 96 on the fastest NIC", "device").unwrap();
    assert_eq!(vlan.values.iter().map(|held| held.by.len()).collect::<Vec<_>>(), [2, 2]);
    assert!(comparison.differences.iter().all(|d| d.key.device.as_deref() != Some("vnet1")));
    assert!(comparison.differences.iter().all(|d| !d.key.name.contains("root") && d.key.name != "link.on"));
}

#[test]
fn a_host_beside_itself_differs_in_nothing() {
    let host = HostFacts::of(&snapshot());
    for by in [Match::Name, Match::Role] {
        let comparison = compared(&[host.clone(), host.clone(), host.clone()], by);
        assert_eq!(comparison.differences, []);
        assert!(comparison.alike > 200, "{}", comparison.alike);
    }
    assert_eq!(changes(&host.settings, &host.settings), []);
}

#[test]
fn differences_are_the_same_from_either_side() {
    let hosts = nrao();
    for (one, other) in [(0, 1), (1, 2), (2, 3)] {
        let there = compared(&[hosts[one].clone(), hosts[other].clone()], Match::Role);
        let back = compared(&[hosts[other].clone(), hosts[one].clone()], Match::Role);
        let keys = |of: &Comparison| of.differences.iter().map(|d| (d.key.clone(), d.score)).collect::<Vec<_>>();
        assert_eq!(keys(&there), keys(&back));
        let forth = changes(&hosts[one].settings, &hosts[other].settings);
        let back = changes(&hosts[other].settings, &hosts[one].settings);
        let turned: Vec<_> = back.iter().map(|change| (&change.key, &change.new, &change.old)).collect();
        assert_eq!(forth.iter().map(|change| (&change.key, &change.old, &change.new)).collect::<Vec<_>>(), turned);
    }
}

#[test]
fn what_is_not_known_is_neither_equal_nor_different() {
    let mut other = snapshot();
    other.namespaces[0].sysctls.insert(
        "net.ipv4.tcp_rmem".to_owned(),
        Fact::missing(Missing::Denied, ReadFrom::file("/proc/sys/net/ipv4/tcp_rmem")),
    );
    let eth0 = other.namespaces[0].interfaces.iter_mut().find(|interface| interface.name == "eth0").unwrap();
    eth0.rings =
        Fact::missing(Missing::Failed { reason: "not among what was saved".to_owned() }, ReadFrom::netlink("x"));
    let hosts = [HostFacts::of(&snapshot()), HostFacts::of(&other)];
    let comparison = compared(&hosts, Match::Role);
    assert_eq!(comparison.differences, []);
    let unknown: Vec<(String, &str)> =
        comparison.unknown.iter().map(|each| (each.key.to_string(), each.why.as_str())).collect();
    assert!(unknown.contains(&("net.ipv4.tcp_rmem".to_owned(), "permission denied")), "{unknown:?}");
    assert!(unknown.contains(&("eth0: ring".to_owned(), "not among what was saved")), "{unknown:?}");
    assert_eq!(changes(&hosts[0].settings, &hosts[1].settings), []);
}

#[test]
fn the_rarest_value_comes_first_and_its_file_is_told() {
    let mut tuned = snapshot();
    let rmem = Fact::known("4096 87380 67108864".to_owned(), ReadFrom::file("/proc/sys/net/ipv4/tcp_rmem"));
    tuned.namespaces[0].sysctls.insert("net.ipv4.tcp_rmem".to_owned(), rmem);
    let definition = model::host::provenance::Definition {
        value: "4096 87380 67108864".to_owned(),
        origin: model::host::provenance::Origin::Sysctl,
        file: "/etc/sysctl.d/90-dtn.conf".to_owned(),
        line: 3,
        pattern: None,
        failure_ignored: false,
        masked: false,
    };
    if let Ok(provenance) = &mut tuned.provenance.reading {
        let setting = model::host::provenance::Setting {
            definitions: vec![definition],
            winner: Some(0),
            winner_after_sysctl_system: Some(0),
            running_differs: Some(false),
        };
        provenance.settings.insert("net.ipv4.tcp_rmem".to_owned(), setting);
    }
    let plain = HostFacts::of(&snapshot());
    let comparison = compared(&[plain.clone(), HostFacts::of(&tuned), plain], Match::Role);
    let first = &comparison.differences[0];
    assert_eq!(first.key, Key::host("net.ipv4.tcp_rmem"));
    assert_eq!(first.odd()[0].by, ["vm#1"]);
    let told: Vec<Option<&str>> = first.sources.iter().map(|s| s.origin.as_ref().map(|o| o.file.as_str())).collect();
    assert_eq!(told, [None, Some("/etc/sysctl.d/90-dtn.conf"), None]);
}

#[test]
fn a_device_that_only_one_host_has_is_one_difference() {
    let mut less = snapshot();
    less.namespaces[0].interfaces.retain(|interface| interface.name != "ifb1");
    let hosts = [HostFacts::of(&snapshot()), HostFacts::of(&less)];
    let comparison = compared(&hosts, Match::Role);
    let of_device: Vec<String> = comparison.differences.iter().map(|d| d.key.to_string()).collect();
    assert_eq!(of_device, ["ifb1: device"]);
    let changed = changes(&hosts[0].settings, &hosts[1].settings);
    assert_eq!(changed.iter().map(|c| c.key.to_string()).collect::<Vec<_>>(), ["ifb1: device"]);
}

#[test]
fn rules_about_cards_have_nothing_to_say_of_loopback() {
    let mut odd = snapshot();
    let lo = odd.namespaces[0].interfaces.iter_mut().find(|interface| interface.name == "lo").unwrap();
    if let Ok(features) = &mut lo.features.reading {
        features.values_mut().for_each(|feature| feature.active = !feature.active);
    }
    let plain = HostFacts::of(&snapshot());
    let comparison = compared(&[plain.clone(), HostFacts::of(&odd), plain], Match::Role);
    assert!(comparison.differences.len() > 10);
    assert!(
        comparison.differences.iter().all(|difference| difference.rules.is_empty()),
        "{:?}",
        comparison.differences
    );
}
