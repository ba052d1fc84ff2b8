//! Claims about settings that are read, changed and written back, held against what the kernel's own tools show.

use std::collections::BTreeMap;
use std::process::Command;

use model::host::fix::captured::Table;
use model::host::fix::discipline::{Discipline, Hook, HtbClass};
use model::host::fix::names::ClassId;
use units::{ByteCount, DataRate};

use super::route::WholeRoute;
use super::{SetError, discipline, features, numbers, tree};
use crate::Reason;
use crate::rtnetlink::Rtnetlink;
use crate::rtnetlink::route::Metric;
use crate::sandbox::in_sandbox;

fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A device with four queues each way, whose queues can be used.
fn device() -> u32 {
    shell("ip link add west numtxqueues 4 numrxqueues 4 type veth peer name east numtxqueues 4 numrxqueues 4");
    shell("ip link set west up; ip link set east up; ip address add 192.0.2.1/24 dev west");
    Rtnetlink::open().unwrap().index("west").unwrap().get()
}

/// Runs a line in a shell; whether it could be done. A kernel need not have each kind.
fn possible(line: &str) -> bool {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let lacks = said.contains("kind is unknown") || said.contains("not found") || said.contains("not supported");
    assert!(output.status.success() || lacks, "{line}: {said}");
    if lacks {
        eprintln!("this kernel cannot do `{line}`: {said}");
    }
    output.status.success()
}

fn tc() -> String {
    shell("tc qdisc show dev west; tc class show dev west")
}

#[test]
fn trees_of_disciplines_come_back_as_they_were() {
    in_sandbox(module_path!(), "trees_of_disciplines_come_back_as_they_were", || {
        let index = device();
        for line in [
            "true",
            "tc qdisc replace dev west root pfifo limit 77",
            "tc qdisc replace dev west root bfifo limit 77777",
            "tc qdisc replace dev west root handle 7: tbf rate 40gbit burst 256kb limit 3000000",
            "tc qdisc replace dev west root handle 7: tbf rate 1gbit burst 64kb latency 5ms && \
             tc qdisc add dev west parent 7:1 handle 8: fq_codel limit 555",
            "tc qdisc replace dev west root fq_codel target 3ms interval 50ms limit 1234 noecn ce_threshold 900us",
            "tc qdisc replace dev west root handle 7: tbf rate 1gbit burst 64kb latency 5ms && \
             tc qdisc add dev west parent 7:1 handle 8: pfifo limit 555",
            "tc qdisc replace dev west root codel target 7ms",
            "tc qdisc replace dev west root handle 5: mq && tc qdisc replace dev west parent 5:2 handle 6: pfifo limit 9",
            "tc qdisc replace dev west root handle 5: mq && tc qdisc replace dev west parent 5:2 handle 6: fq_codel",
            "tc qdisc replace dev west root handle 1: htb default 12 && \
             tc class add dev west parent 1: classid 1:1 htb rate 9gbit ceil 10gbit burst 1mb && \
             tc class add dev west parent 1:1 classid 1:12 htb rate 3gbit prio 2 quantum 60000 && \
             tc qdisc add dev west parent 1:12 handle 20: pfifo limit 50",
        ] {
            if !possible(&format!("tc qdisc del dev west root 2>/dev/null; {line}")) {
                continue;
            }
            let (before, shown) = (tree::read(index).unwrap(), tc());
            shell(
                "tc qdisc del dev west root 2>/dev/null; tc qdisc add dev west root handle 1: tbf rate 1mbit burst 16kb limit 16kb",
            );
            tree::write(index, &before).unwrap();
            assert_eq!(tree::read(index).unwrap(), before, "{line}");
            // What the kernel's own tool shows, but for how often a discipline is referred to.
            let settings = |text: &str| {
                text.split_whitespace().filter(|word| *word != "refcnt").map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(settings(&tc()), settings(&shown), "{line}");
        }
    });
}

#[test]
fn tree_that_could_not_come_back_is_refused_when_it_is_read() {
    in_sandbox(module_path!(), "tree_that_could_not_come_back_is_refused_when_it_is_read", || {
        let index = device();
        for (line, because) in [
            (
                "tc qdisc replace dev west root handle 1: htb && \
                 tc filter add dev west parent 1: protocol ip u32 match ip dst 192.0.2.9/32 flowid 1:1",
                "filters",
            ),
            (
                "tc qdisc replace dev west root handle 1: htb && \
                 tc class add dev west parent 1: classid 1:1 htb rate 1gbit && \
                 tc class add dev west parent 1:1 classid 1:2 htb rate 1gbit && \
                 tc filter add dev west parent 1:1 protocol ip u32 match ip dst 192.0.2.9/32 flowid 1:2",
                "filters",
            ),
            ("tc qdisc replace dev west stab overhead 24 root tbf rate 1gbit burst 64kb limit 1mb", "table of sizes"),
            ("tc qdisc replace dev west root prio", "known to come back"),
        ] {
            if !possible(&format!("tc qdisc del dev west root 2>/dev/null; {line}")) {
                continue;
            }
            let error = tree::read(index).unwrap_err();
            let SetError::Irreversible { because: said, .. } = &error else { panic!("{line}: {error:?}") };
            assert!(said.contains(because), "{line}: {said}");
        }
    });
}

#[test]
fn disciplines_and_classes_are_as_tc_shows_them() {
    in_sandbox(module_path!(), "disciplines_and_classes_are_as_tc_shows_them", || {
        let index = device();
        let rate = DataRate::from_bps;
        let (burst, limit) = (ByteCount::new(65_536), ByteCount::new(1_000_000));
        for (discipline, expected) in [
            (Discipline::Pfifo { limit_packets: Some(33) }, "limit 33p"),
            (Discipline::Tbf { rate: rate(5_000_000_000), burst, limit }, "rate 5Gbit"),
            (Discipline::FqCodel { limit_packets: Some(99), target_us: Some(3_000), interval_us: None }, "limit 99p"),
            (Discipline::Mq {}, "qdisc mq "),
            (Discipline::Htb { default_class: 1 }, "qdisc htb 1: root"),
        ] {
            match discipline::set(index, Hook::Root, &discipline) {
                Err(error) if error.reason() == Reason::Absent => eprintln!("this kernel has no {}", discipline.kind()),
                outcome => {
                    outcome.unwrap();
                    assert!(tc().contains(expected), "{discipline:?}: {}", tc());
                }
            }
        }
        let class = |text: &str| ClassId::try_from(text.to_owned()).unwrap();
        let htb = HtbClass { rate: rate(9_000_000_000), ceil: None, burst: None };
        discipline::set_class(index, Hook::Class(class("1:")), class("1:1"), &htb).unwrap();
        discipline::set(index, Hook::Class(class("1:1")), &Discipline::Pfifo { limit_packets: Some(10) }).unwrap();
        let shown = tc();
        assert!(shown.contains("class htb 1:1 root") && shown.contains("rate 9Gbit ceil 9Gbit"), "{shown}");
        assert!(shown.contains("parent 1:1 limit 10p"), "{shown}");
        let missing = discipline::set(index, Hook::Class(class("9:9")), &Discipline::Pfifo { limit_packets: None });
        assert_eq!(missing.unwrap_err().reason(), Reason::Absent);
    });
}

#[test]
fn features_are_asked_for_and_no_more() {
    in_sandbox(module_path!(), "features_are_asked_for_and_no_more", || {
        let index = device();
        let before = features::read(index).unwrap();
        assert!(before["tx-tcp-segmentation"].active, "{before:?}");
        features::write(index, &BTreeMap::from([("tx-tcp-segmentation".to_owned(), false)])).unwrap();
        let after = features::read(index).unwrap();
        assert!(!after["tx-tcp-segmentation"].wanted && !after["tx-tcp-segmentation"].active);
        assert!(shell("ethtool -k west").contains("tx-tcp-segmentation: off"));
        let wanted = before.iter().map(|(name, feature)| (name.clone(), feature.wanted)).collect();
        features::write(index, &wanted).unwrap();
        assert_eq!(features::read(index).unwrap(), before);
        let nonesuch = features::write(index, &BTreeMap::from([("warp-drive".to_owned(), true)]));
        assert!(nonesuch.is_err());
    });
}

#[test]
fn numbers_of_link_and_driver_are_written_and_read_back() {
    in_sandbox(module_path!(), "numbers_of_link_and_driver_are_written_and_read_back", || {
        let index = device();
        let link = numbers::read(index, Table::Link).unwrap();
        let changed: BTreeMap<String, u32> =
            [("mtu", 9_000), ("txqlen", 5_000), ("gso-max", 32_768), ("gro-ipv4-max", 40_000)]
                .map(|(name, value)| (name.to_owned(), value))
                .into();
        numbers::write(index, Table::Link, &changed).unwrap();
        let after = numbers::read(index, Table::Link).unwrap();
        assert!(changed.iter().all(|(name, value)| after.get(name) == Some(value)), "{after:?}");
        assert!(shell("ip link show west").contains("mtu 9000") && shell("ip link show west").contains("qlen 5000"));
        numbers::write(index, Table::Link, &link).unwrap();
        assert_eq!(numbers::read(index, Table::Link).unwrap(), link);

        let channels = numbers::read(index, Table::Channels).unwrap();
        let two = [("rx", 2), ("tx", 2)].map(|(name, value)| (name.to_owned(), value)).into();
        numbers::write(index, Table::Channels, &two).unwrap();
        let after = numbers::read(index, Table::Channels).unwrap();
        assert_eq!((after["rx"], after["tx"]), (2, 2), "{after:?}");
        numbers::write(index, Table::Channels, &two.keys().map(|name| (name.clone(), channels[name])).collect())
            .unwrap();
        assert_eq!(numbers::read(index, Table::Channels).unwrap(), channels);
        assert_eq!(numbers::read(index, Table::Pause).unwrap_err().reason(), Reason::Unsupported);
    });
}

#[test]
fn route_changes_in_its_metrics_only_and_comes_back_whole() {
    in_sandbox(module_path!(), "route_changes_in_its_metrics_only_and_comes_back_whole", || {
        device();
        for (line, to) in [
            (
                "ip route add 198.51.100.0/24 via 192.0.2.2 src 192.0.2.1 proto 42 metric 7 mtu lock 1400 rtt 20ms",
                "198.51.100.0/24",
            ),
            ("ip route add 198.51.100.0/24 via 192.0.2.2 initcwnd 10 congctl reno", "198.51.100.0/24"),
            ("ip route add 0.0.0.0/0 dev west onlink via 203.0.113.1", "0.0.0.0/0"),
            ("ip route add 198.51.100.0/24 nexthop via 192.0.2.2 weight 3 nexthop via 192.0.2.3", "198.51.100.0/24"),
            (
                "ip -6 address add 2001:db8::1/64 dev west nodad; ip -6 route add 2001:db8:1::/48 via 2001:db8::2 mtu 1400",
                "2001:db8:1::/48",
            ),
        ] {
            shell(line);
            let (address, prefix) = to.split_once('/').unwrap();
            let key = (address.parse().unwrap(), prefix.parse().unwrap());
            let shown = || shell("ip -d route show; ip -d -6 route show");
            let (before, text) = (WholeRoute::read(key).unwrap().unwrap(), shown());
            let changed = before.with_metrics(&[Metric::parse("initcwnd", "40").unwrap()]);
            changed.write().unwrap();
            let now = WholeRoute::read(key).unwrap().unwrap();
            assert_eq!(now.metrics.get("initcwnd").map(String::as_str), Some("40"), "{line}");
            let mut others = now.metrics.clone();
            others.insert("initcwnd".to_owned(), before.metrics.get("initcwnd").cloned().unwrap_or_default());
            others.retain(|_, value| !value.is_empty());
            assert_eq!(others, before.metrics, "{line}");
            WholeRoute::from_hex(&before.to_hex()).unwrap().write().unwrap();
            assert_eq!(WholeRoute::read(key).unwrap().unwrap(), before, "{line}");
            assert_eq!(shown(), text, "{line}");
            shell(&format!("ip route del {to}"));
        }
        let to = ("198.51.100.0".parse().unwrap(), 24);
        assert_eq!(WholeRoute::read(to).unwrap(), None);
        shell(
            "ip route add 198.51.100.0/24 via 192.0.2.2 metric 1; ip route add 198.51.100.0/24 via 192.0.2.3 metric 2",
        );
        assert!(matches!(WholeRoute::read(to), Err(SetError::Irreversible { .. })));
    });
}
