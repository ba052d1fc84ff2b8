//! Settings of a real snapshot of a virtual machine, and of changed copies of it.

use model::host::fact::{Fact, Missing, Source};
use model::host::interface::tuning::Feature;

use super::*;

fn snapshot() -> Snapshot {
    serde_json::from_str(include_str!("../../tests/snapshot.json")).unwrap()
}

fn text<'a>(settings: &'a Settings, key: &str) -> &'a str {
    match settings.get(&key.parse().unwrap()) {
        Reading::Known(value) => &value.text,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn settings_of_all_kinds_are_there_and_counters_are_not() {
    let settings = Settings::of(&snapshot());
    for (key, value) in [
        ("net.ipv4.tcp_rmem", "4096 131072 33554432"),
        ("machine.kernel", "6.18.44-fc-v595"),
        ("cmdline.mitigations", "auto,no_guest_host,no_guest_guest"),
        ("machine.memory", "24 GiB"),
        ("machine.iommu", "off"),
        ("service.irqbalance", "not running"),
        ("module.tcp_cubic.hystart", "1"),
        ("eth0: device", "physical"),
        ("ifb0: device", "ifb"),
        ("eth0: link.mtu", "1400"),
        ("eth0: driver.name", "virtio_net"),
        ("eth0: ring.rx", "256"),
        ("eth0: coalesce.rx-frames", "1"),
        ("eth0: qdisc.root", "pfifo_fast"),
        ("eth0: queues.rps-cpus", "0"),
        ("eth0: irq.affinity", "0-1"),
        ("eth0: net.ipv4.conf.*.rp_filter", "0"),
        ("route[default].via", "192.0.2.1"),
        ("route[::/0].via", "fd00::1"),
    ] {
        assert_eq!(text(&settings, key), value, "{key}");
    }
    for (key, _) in settings.known() {
        assert!(!key.name.contains("conntrack_count"), "{key}");
        assert!(!["counters", "cmdline.root"].contains(&key.name.as_str()), "{key}");
        assert_eq!(key.to_string().parse::<Key>().as_ref(), Ok(key));
    }
}

#[test]
fn what_changes_by_itself_makes_no_other_settings() {
    let (before, mut after) = (snapshot(), snapshot());
    after.machine.boot_id = Fact::known("another".to_owned(), Source::file("x"));
    after.machine.memory = after.machine.memory.map(|bytes| bytes - 40_960);
    for interface in &mut after.namespaces[0].interfaces {
        interface.counters = Fact::known([("rx_packets".to_owned(), 7)].into(), Source::netlink("x"));
        if let Ok(link) = &mut interface.link.reading {
            (link.index, link.carrier_changes, link.address) = (99, Some(99), Some("02:00:00:00:00:99".to_owned()));
        }
        if let Ok(qdiscs) = &mut interface.qdiscs.reading {
            for qdisc in qdiscs {
                qdisc.counters.insert("drops".to_owned(), 9);
            }
        }
        if let Ok(interrupts) = &mut interface.interrupts.reading {
            interrupts.iter_mut().for_each(|interrupt| interrupt.number += 40);
        }
    }
    assert_eq!(Settings::of(&before), Settings::of(&after));
}

#[test]
fn a_group_that_cannot_be_read_leaves_all_of_it_unknown_and_what_a_driver_lacks_is_none() {
    let mut snapshot = snapshot();
    let eth0 = snapshot.namespaces[0].interfaces.iter_mut().find(|interface| interface.name == "eth0").unwrap();
    eth0.rings = Fact::missing(Missing::Denied, Source::netlink("RINGS_GET"));
    let settings = Settings::of(&snapshot);
    let get = |key: &str| settings.get(&key.parse().unwrap());
    assert_eq!(get("eth0: ring.rx"), Reading::Unknown(&Missing::Denied));
    assert_eq!(get("eth0: pause.rx"), Reading::None);
    assert_eq!(get("nonesuch: ring.rx"), Reading::None);
}

#[test]
fn nothing_is_known_of_a_namespace_that_could_not_be_entered() {
    let mut snapshot = snapshot();
    let closed = model::host::namespace::ClosedNamespace {
        name: "ingress_sbox".to_owned(),
        inode: None,
        reason: "not permitted".to_owned(),
    };
    snapshot.closed_namespaces = vec![closed];
    let settings = Settings::of(&snapshot);
    let got = settings.get(&"net.ipv4.tcp_ecn in ingress_sbox".parse().unwrap());
    assert!(matches!(got, Reading::Unknown(Missing::Failed { reason }) if reason == "not permitted"), "{got:?}");
}

#[test]
fn a_feature_says_whether_it_can_be_switched() {
    let mut snapshot = snapshot();
    let eth0 = snapshot.namespaces[0].interfaces.iter_mut().find(|interface| interface.name == "eth0").unwrap();
    let on = Feature { hw: true, wanted: true, active: true, nochange: false };
    eth0.features = Fact::known(
        [("rx-gro-hw".to_owned(), on), ("rx-lro".to_owned(), Feature::default())].into(),
        Source::netlink("FEATURES_GET"),
    );
    let settings = Settings::of(&snapshot);
    let shown = |key: &str| match settings.get(&key.parse().unwrap()) {
        Reading::Known(value) => value.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!((shown("eth0: feature.rx-gro-hw"), shown("eth0: feature.rx-lro")), ("on".into(), "off [fixed]".into()));
}

#[test]
fn the_file_that_sets_a_value_at_boot_is_known_and_is_a_setting_too() {
    let mut snapshot = snapshot();
    let definition = model::host::provenance::Definition {
        value: "4096 87380 67108864".to_owned(),
        origin: model::host::provenance::Origin::Sysctl,
        file: "/etc/sysctl.d/90-dtn.conf".to_owned(),
        line: 3,
        pattern: None,
        failure_ignored: false,
        masked: false,
    };
    let setting = model::host::provenance::Setting {
        definitions: vec![definition],
        winner: Some(0),
        winner_after_sysctl_system: Some(0),
        running_differs: Some(true),
    };
    if let Ok(provenance) = &mut snapshot.provenance.reading {
        provenance.settings.insert("net.ipv4.tcp_rmem".to_owned(), setting.clone());
        provenance.settings.insert("ethtool.eth0.ring-rx".to_owned(), setting);
    }
    let settings = Settings::of(&snapshot);
    let origin = settings.origin(&Key::host("net.ipv4.tcp_rmem")).unwrap();
    assert_eq!(origin.to_string(), "/etc/sysctl.d/90-dtn.conf:3 sets 4096 87380 67108864");
    assert!(settings.origin(&Key::device("eth0", "ring.rx")).is_some());
    let at_boot = text(&settings, "boot.net.ipv4.tcp_rmem");
    assert_eq!(at_boot, "4096 87380 67108864 by /etc/sysctl.d/90-dtn.conf");
}

#[test]
fn what_an_older_program_does_not_print_is_not_known_and_no_difference() {
    let mut live = snapshot();
    let without = |snapshot: &mut Snapshot| {
        for interface in &mut snapshot.namespaces[0].interfaces {
            if let Ok(link) = &mut interface.link.reading {
                (link.gso_ipv4_max, link.gro_ipv4_max) = (None, None);
            }
        }
    };
    let key = "eth0: link.gso-ipv4-max-bytes".parse().unwrap();
    assert!(matches!(Settings::of(&live).get(&key), Reading::Known(_)));
    let mut saved = snapshot();
    saved.way = CollectionMethod::Sosreport;
    without(&mut saved);
    assert!(matches!(Settings::of(&saved).get(&key), Reading::Unknown(_)));
    // A kernel that was asked itself has no such limit.
    without(&mut live);
    assert_eq!(Settings::of(&live).get(&key), Reading::None);
}
