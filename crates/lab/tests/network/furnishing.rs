//! What stands in the blueprint is what the tools of administrators show in the hosts.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::time::Duration;

use lab::blueprint::{Alteration, Qdisc, Route, What};
use lab::network::{Network, RECORDED_FACTS, RaiseError, SysctlTrouble};
use units::{ByteCount, DataRate, Mtu};

use crate::everywhere::everywhere;
use crate::sketch::{Sketch, line};
use crate::traffic::Driven;

fn pair() -> Sketch {
    Sketch::new(&["west", "east"]).cable(0, 1).route(0, &[1], 0).route(1, &[0], 0)
}

/// What a command prints in a host.
fn shown(network: &Network, host: &str, line: &str) -> String {
    let mut words = line.split(' ');
    let mut command = network.host(host).unwrap().command(words.next().unwrap());
    let output = command.args(words).output().unwrap_or_else(|error| panic!("{line}: {error}"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn shows(network: &Network, host: &str, line: &str, parts: &[&str]) {
    let text = shown(network, host, line);
    for part in parts {
        assert!(text.contains(part), "{line} does not show {part}:\n{text}");
    }
}

#[test]
fn devices_addresses_and_routes_are_as_drawn() {
    everywhere(module_path!(), "devices_addresses_and_routes_are_as_drawn", || {
        let mut sketch = pair();
        let west = &mut sketch.0.hosts[0];
        west.devices[0].mtu = Mtu::new(9_000).unwrap();
        west.devices[0].speed = Some(DataRate::from_bps(10_000_000_000));
        west.devices[0].features = BTreeMap::from([("generic-receive-offload".to_owned(), false)]);
        let limit = ByteCount::new(131_072);
        let rate = DataRate::from_bps(1_000_000_000);
        west.devices[0].qdisc = Some(Qdisc::Tbf { rate, burst: ByteCount::new(65_536), limit });
        let metrics = [("initcwnd", "40"), ("initrwnd", "50"), ("congctl", "reno"), ("quickack", "1")];
        west.routes[0].metrics = metrics.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let network = Network::raise(&sketch.0).unwrap();
        shows(&network, "west", "ip link show dev eth0", &["mtu 9000", "LOWER_UP"]);
        shows(&network, "west", "ip address show dev eth0", &["10.9.1.1/24", "fd09:1::1/64"]);
        shows(&network, "west", "ip address show dev lo", &["127.0.0.1/8", "10.9.0.1/32", "fd09::1/128"]);
        assert!(!shown(&network, "west", "ip -6 address").contains("tentative"));
        let route = ["via 10.9.1.2", "src 10.9.0.1", "initcwnd 40", "initrwnd 50", "congctl reno", "quickack 1"];
        shows(&network, "west", "ip route show 10.9.0.2", &route);
        shows(&network, "west", "ip -6 route show fd09::2", &["via fd09:1::2"]);
        shows(&network, "west", "tc -r qdisc show dev eth0", &["tbf", "rate 1Gbit", "limit 128Kb"]);
        shows(&network, "west", "ethtool -k eth0", &["generic-receive-offload: off", "tcp-segmentation-offload: on"]);
        shows(&network, "west", "ethtool eth0", &["Speed: 10000Mb/s"]);
        assert_eq!(shown(&network, "west", "ls /sys/class/net"), "eth0\nlo\n");
    });
}

#[test]
fn settings_are_those_of_the_host_alone() {
    everywhere(module_path!(), "settings_are_those_of_the_host_alone", || {
        let sketch = pair()
            .sysctl(0, "net.ipv4.tcp_rmem", "4096 131072 33554432")
            .sysctl(0, "net.ipv4.conf.eth0.rp_filter", "2")
            .sysctl(1, "net.ipv4.tcp_congestion_control", "reno");
        let network = Network::raise(&sketch.0).unwrap();
        assert_eq!(shown(&network, "west", "sysctl -n net.ipv4.tcp_rmem"), "4096\t131072\t33554432\n");
        assert_eq!(shown(&network, "west", "sysctl -n net.ipv4.conf.eth0.rp_filter"), "2\n");
        assert_eq!(shown(&network, "east", "sysctl -n net.ipv4.tcp_congestion_control"), "reno\n");
    });
}

#[test]
fn congestion_control_is_that_of_the_host_even_where_namespaces_may_not_choose_it() {
    let name = "congestion_control_is_that_of_the_host_even_where_namespaces_may_not_choose_it";
    everywhere(module_path!(), name, || {
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        for control in available.split_whitespace() {
            let driven = Driven::new(&pair().overlay(&[0, 1]).sysctl(0, "net.ipv4.tcp_congestion_control", control));
            let ways = [crate::sketch::v4(1), crate::sketch::v6(1), "10.9.1.2".parse().unwrap()];
            let ways = ways.into_iter().chain(["fd09:1::2".parse().unwrap(), "10.99.0.2".parse().unwrap()]);
            for address in ways {
                assert_eq!(used(&driven, address), control, "{address}");
            }
            let other = if control == "reno" { "cubic" } else { "reno" };
            let what = What::Sysctl("net.ipv4.tcp_congestion_control".to_owned(), other.to_owned());
            driven.network.alter(&Alteration { at: Duration::ZERO, host: 0, what }).unwrap();
            for address in [crate::sketch::v6(1), "10.99.0.2".parse().unwrap()] {
                assert_eq!(used(&driven, address), other, "{address} after {control}");
            }
        }
    });
}

/// The congestion control of a connection from west to an address of east.
fn used(driven: &Driven, address: IpAddr) -> String {
    let [west, east] = ["west", "east"].map(|name| driven.network.host(name).unwrap());
    let listener = east.run(|| TcpListener::bind((address, 0))).unwrap().unwrap();
    let target = listener.local_addr().unwrap();
    let connection = west.run(|| TcpStream::connect(target)).unwrap().unwrap();
    linux::sockets::congestion_control(&connection).unwrap()
}

#[test]
fn hosts_know_their_name_and_each_other() {
    everywhere(module_path!(), "hosts_know_their_name_and_each_other", || {
        let mut sketch = line().overlay(&[0, 3]);
        sketch.0.hosts[0].recorded_facts = Some(toml::from_str("[interfaces.eth0]\ndriver = \"mlx5_core\"").unwrap());
        let network = Network::raise(&sketch.0).unwrap();
        assert_eq!(shown(&network, "east", "hostname"), "east\n");
        shows(&network, "west", "getent ahosts east", &["10.9.0.4", "fd09::4"]);
        shows(&network, "west", "getent hosts east.vx0", &["10.99.0.4"]);
        shows(&network, "west", "getent hosts 10.9.2.2", &["r2.eth0"]);
        let facts = shown(&network, "west", &format!("printenv {RECORDED_FACTS}"));
        shows(&network, "west", &format!("cat {}", facts.trim()), &["driver = \"mlx5_core\""]);
        assert!(!network.host("east").unwrap().command("printenv").arg(RECORDED_FACTS).status().unwrap().success());
    });
}

#[test]
fn hosts_are_changed_while_they_run() {
    everywhere(module_path!(), "hosts_are_changed_while_they_run", || {
        let network = Network::raise(&pair().0).unwrap();
        let device = || "eth0".to_owned();
        let change = |what| {
            let alteration = Alteration { at: Duration::ZERO, host: 1, what };
            network.alter(&alteration)
        };
        change(What::Sysctl("net.ipv4.tcp_sack".to_owned(), "0".to_owned())).unwrap();
        change(What::Mtu { device: device(), mtu: Mtu::new(1_400).unwrap() }).unwrap();
        change(What::Feature { device: device(), feature: "rx-gro".to_owned(), on: false }).unwrap();
        change(What::Qdisc { device: device(), qdisc: Some(Qdisc::Pfifo { packets: 13 }) }).unwrap();
        let metrics = BTreeMap::from([("mtu".to_owned(), "1200".to_owned())]);
        let via = Some("10.9.1.1".parse().unwrap());
        let route = Route { to: ("10.9.0.1".parse().unwrap(), 32), via, device: device(), source: None, metrics };
        change(What::Route(route)).unwrap();
        assert_eq!(shown(&network, "east", "sysctl -n net.ipv4.tcp_sack"), "0\n");
        assert_eq!(shown(&network, "west", "sysctl -n net.ipv4.tcp_sack"), "1\n");
        shows(&network, "east", "ip link show dev eth0", &["mtu 1400"]);
        shows(&network, "east", "ethtool -k eth0", &["generic-receive-offload: off"]);
        shows(&network, "east", "tc qdisc show dev eth0", &["pfifo", "limit 13p"]);
        shows(&network, "east", "ip route show 10.9.0.1", &["via 10.9.1.1", "mtu 1200"]);
        change(What::Qdisc { device: device(), qdisc: None }).unwrap();
        assert!(!shown(&network, "east", "tc qdisc show dev eth0").contains("limit 13p"));
        let error = change(What::Mtu { device: "eth7".to_owned(), mtu: Mtu::new(1_400).unwrap() }).unwrap_err();
        assert_eq!(error.to_string(), "host east: there is no device eth7");
    });
}

#[test]
fn slow_host_runs_in_turns_from_when_it_is_told() {
    everywhere(module_path!(), "slow_host_runs_in_turns_from_when_it_is_told", || {
        let network = Network::raise(&pair().0).unwrap();
        let alteration = |share| Alteration { at: Duration::ZERO, host: 0, what: What::CpuShare(share) };
        network.alter(&alteration(Some(0.25))).unwrap();
        // It hears that it was made to go on only if it was stopped before.
        let script = "trap 'exit 5' CONT; while :; do :; done";
        let status = network.host("west").unwrap().command("sh").args(["-c", script]).status().unwrap();
        assert_eq!(status.code(), Some(5));
        network.alter(&alteration(None)).unwrap();
    });
}

#[test]
fn setting_that_is_none_of_a_host_is_refused_by_name() {
    everywhere(module_path!(), "setting_that_is_none_of_a_host_is_refused_by_name", || {
        let refused = |key: &str, value: &str| match Network::raise(&pair().sysctl(1, key, value).0) {
            Err(RaiseError::Sysctl { host, key: named, trouble }) => {
                assert_eq!((host.as_str(), named.as_str()), ("east", key));
                trouble
            }
            other => panic!("{key}: {other:?}"),
        };
        assert!(matches!(refused("net.ipv4.tcp_warp", "1"), SysctlTrouble::Absent));
        assert!(matches!(refused("vm.swappiness", "1"), SysctlTrouble::OfTheMachine));
        assert!(matches!(refused("net.core.rmem_max", "1048576"), SysctlTrouble::OfTheMachine | SysctlTrouble::Absent));
        assert!(matches!(refused("net.ipv4.tcp_sack", "maybe"), SysctlTrouble::Value { .. }));
        assert!(matches!(refused("net.ipv4.tcp_congestion_control", "warp"), SysctlTrouble::Value { .. }));
    });
}
