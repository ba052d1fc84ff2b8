//! Facts against what iproute2 and ethtool print of the same devices, in fresh namespaces.

use std::collections::BTreeMap;
use std::process::Command;

use super::*;
use crate::Reason;
use crate::sandbox::in_sandbox;

fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn link_is_as_ip_shows_it() {
    in_sandbox(module_path!(), "link_is_as_ip_shows_it", || {
        shell("ip link add west mtu 8000 txqueuelen 777 numtxqueues 3 numrxqueues 2 type veth peer name east");
        shell("ip link add br0 type bridge; ip link set east master br0; ip link set west up; ip link set east up");
        shell("ip link add vx0 mtu 1400 type vxlan id 42 local 192.0.2.1 remote 192.0.2.2 dstport 4789 dev west");
        shell("ip link set west gso_max_size 60000");
        let devices: BTreeMap<String, link::Device> =
            link::read().unwrap().into_iter().map(|device| (device.name.clone(), device)).collect();
        let west = &devices["west"].link;
        assert_eq!((west.kind.as_deref(), west.mtu, west.txqlen), (Some("veth"), Some(8_000), Some(777)));
        assert_eq!((west.tx_queues, west.rx_queues, west.gso_max), (Some(3), Some(2), Some(60_000)));
        assert_eq!((west.lower.as_deref(), west.up, west.operational.as_deref()), (Some("east"), true, Some("up")));
        let shown = shell("ip -d link show west");
        assert!(shown.contains(west.address.as_deref().unwrap()), "{shown}");
        assert!(shown.contains(&format!("maxmtu {}", west.max_mtu.unwrap())), "{shown}");
        assert_eq!(devices["east"].link.controller.as_deref(), Some("br0"));
        let vxlan = devices["vx0"].link.vxlan.clone().unwrap();
        assert_eq!((vxlan.vni, vxlan.port), (42, Some(4_789)));
        assert_eq!((vxlan.local, vxlan.remote), ("192.0.2.1".parse().ok(), "192.0.2.2".parse().ok()));
        assert_eq!(devices["vx0"].link.lower.as_deref(), Some("west"));
        let lo = &devices["lo"].link;
        assert_eq!((lo.kind.as_deref(), lo.lower.as_deref(), devices["lo"].parent.as_ref()), (None, None, None));
    });
}

#[test]
fn peer_in_another_namespace_is_not_taken_for_a_device_here() {
    in_sandbox(module_path!(), "peer_in_another_namespace_is_not_taken_for_a_device_here", || {
        shell("ip link add west type veth peer name east");
        let east = link::read().unwrap().into_iter().find(|device| device.name == "east").unwrap().link.index;
        let mut elsewhere = Command::new("unshare");
        elsewhere.args(["-n", "sh", "-c", "echo; read line"]);
        let mut elsewhere =
            elsewhere.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
        // It has entered its namespace once it has said so.
        std::io::Read::read_exact(elsewhere.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        shell(&format!("ip link set east netns {}; ip link add br1 type bridge", elsewhere.id()));
        let west = link::read().unwrap().into_iter().find(|device| device.name == "west").unwrap().link;
        assert_eq!((west.lower, west.lower_elsewhere), (None, Some(east)));
        drop(elsewhere.stdin.take());
        elsewhere.wait().unwrap();
    });
}

#[test]
fn counters_of_a_device_are_those_that_ip_shows() {
    in_sandbox(module_path!(), "counters_of_a_device_are_those_that_ip_shows", || {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..7 {
            socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        }
        let lo = link::read().unwrap().into_iter().find(|device| device.name == "lo").unwrap();
        assert_eq!((lo.counters["rx_packets"], lo.counters["tx_packets"]), (7, 7));
        assert_eq!(lo.counters["rx_bytes"], 7 * (100 + 8 + 20));
    });
}

#[test]
fn routes_have_the_metrics_that_ip_route_gave_them() {
    in_sandbox(module_path!(), "routes_have_the_metrics_that_ip_route_gave_them", || {
        shell(
            "ip link add west type veth peer name east; ip link set west up; ip link set east up; ip address add 192.0.2.1/24 dev west",
        );
        shell(
            "ip route add 198.51.100.0/24 via 192.0.2.2 src 192.0.2.1 metric 7 \
               initcwnd 40 initrwnd 60 mtu lock 1400 rtt 25ms congctl reno quickack 1",
        );
        shell("ip route add 203.0.113.0/24 nexthop via 192.0.2.3 weight 2 nexthop via 192.0.2.4 weight 1");
        shell("ip -6 route add 2001:db8::/32 dev west; ip route add blackhole 198.18.0.0/15 table 100");
        let names = link::names(&link::read().unwrap());
        let routes = route::read(&names).unwrap();
        let to = |destination: &str| routes.iter().find(|route| route.destination == destination).unwrap();
        let route = to("198.51.100.0/24");
        assert_eq!((route.via, route.preferred_source), ("192.0.2.2".parse().ok(), "192.0.2.1".parse().ok()));
        assert_eq!((route.priority, route.interface.as_deref(), route.table), (Some(7), Some("west"), 254));
        assert_eq!((route.protocol.as_str(), route.kind.as_str()), ("boot", "unicast"));
        let expected = [
            ("congctl", "reno"),
            ("initcwnd", "40"),
            ("initrwnd", "60"),
            ("mtu", "lock 1400"),
            ("quickack", "1"),
            ("rtt", "25ms"),
        ];
        let shown: Vec<_> = route.metrics.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(shown, expected);
        // What is read can be given to a route again.
        for (name, value) in shown {
            crate::rtnetlink::route::Metric::parse(name, value).unwrap();
        }
        let hops: Vec<_> = to("203.0.113.0/24").hops.iter().map(|hop| (hop.via.unwrap(), hop.weight)).collect();
        assert_eq!(hops, [("192.0.2.3".parse().unwrap(), 2), ("192.0.2.4".parse().unwrap(), 1)]);
        assert_eq!(to("2001:db8::/32").interface.as_deref(), Some("west"));
        assert_eq!((to("198.18.0.0/15").kind.as_str(), to("198.18.0.0/15").table), ("blackhole", 100));
        assert!(routes.iter().all(|route| route.table != 255));
        let addresses = address::read(&names).unwrap();
        let own = addresses.iter().find(|address| address.interface == "west").unwrap();
        assert_eq!((own.address, own.prefix, own.scope.as_str()), ("192.0.2.1".parse().unwrap(), 24, "global"));
    });
}

#[test]
fn queueing_disciplines_have_the_options_that_tc_gave_them() {
    in_sandbox(module_path!(), "queueing_disciplines_have_the_options_that_tc_gave_them", || {
        shell("ip link add west type veth peer name east numtxqueues 2; ip link set west up");
        // Mega*bytes* a second, as tc has it.
        shell("tc qdisc add dev west root handle 1: tbf rate 9000mbps burst 1mb limit 3000000");
        shell("tc qdisc add dev east root handle 7: mq; tc qdisc add dev lo root pfifo limit 999");
        let names = link::names(&link::read().unwrap());
        let found = qdisc::read(&names).unwrap();
        let tbf = &found["west"][0];
        assert_eq!((tbf.kind.as_str(), tbf.handle.as_str(), tbf.is_root()), ("tbf", "1:", true));
        assert_eq!((tbf.options["rate_bps"], tbf.options["limit_bytes"]), (72_000_000_000, 3_000_000));
        let burst = tbf.options["burst_bytes"];
        assert!((1 << 20) - 1_000 < burst && burst <= 1 << 20, "kept as a time, in steps of 64 ns: {burst}");
        assert_eq!((found["east"][0].kind.as_str(), found["east"][0].parent.as_str()), ("mq", "root"));
        assert!(found["east"].iter().skip(1).all(|child| child.parent.starts_with("7:")), "{:?}", found["east"]);
        let fifo = &found["lo"][0];
        assert_eq!((fifo.options["limit_packets"], fifo.raw_options.as_deref()), (999, Some("e7030000")));
        assert_eq!(fifo.counters["drops"], 0);
    });
}

#[test]
fn classes_have_the_rates_that_tc_gave_them() {
    in_sandbox(module_path!(), "classes_have_the_rates_that_tc_gave_them", || {
        shell("ip link add west type veth peer name east; ip link set west up");
        shell(
            "tc qdisc add dev west root handle 1: htb default 12 && \
             tc class add dev west parent 1: classid 1:1 htb rate 9gbit ceil 40gbit burst 1mb && \
             tc class add dev west parent 1:1 classid 1:12 htb rate 3gbit prio 2 quantum 60000",
        );
        let names = link::names(&link::read().unwrap());
        let htb = &qdisc::read(&names).unwrap()["west"][0];
        assert_eq!((htb.kind.as_str(), htb.options["default_class"], htb.classes.len()), ("htb", 0x12, 2));
        let (upper, lower) = (&htb.classes[0], &htb.classes[1]);
        assert_eq!((upper.handle.as_str(), upper.parent.as_str()), ("1:1", "root"));
        assert_eq!((upper.options["rate_bps"], upper.options["ceil_bps"]), (9_000_000_000, 40_000_000_000));
        assert_eq!((lower.handle.as_str(), lower.minor(), lower.parent.as_str()), ("1:12", "12", "1:1"));
        assert_eq!((lower.options["rate_bps"], lower.options["ceil_bps"]), (3_000_000_000, 3_000_000_000));
        assert_eq!((lower.options["priority"], lower.options["quantum_bytes"]), (2, 60_000));
        assert_eq!(lower.counters["drops"], 0);
        assert!(lower.raw_options.is_some());
    });
}

#[test]
fn features_are_as_ethtool_shows_them() {
    in_sandbox(module_path!(), "features_are_as_ethtool_shows_them", || {
        shell("ip link add west numtxqueues 4 numrxqueues 4 type veth peer name east");
        shell("ethtool -K west gro on tso off; ethtool -L west rx 3 tx 2");
        let devices = link::read().unwrap();
        let index = devices.iter().find(|device| device.name == "west").unwrap().link.index;
        let mut settings = ethtool::Settings::open().unwrap();
        let features = settings.features(index).unwrap();
        let mut compared = 0;
        for line in shell("ethtool -k west").lines().skip(1) {
            let (name, state) = line.trim().split_once(": ").unwrap();
            // Some names are ethtool's own, for several features at once.
            let Some(feature) = features.get(name) else { continue };
            assert_eq!(feature.active, state.starts_with("on"), "{line}");
            assert_eq!(feature.is_fixed(), state.contains("[fixed]"), "{line}");
            compared += 1;
        }
        assert!(compared > 40, "{compared}");
        assert!(features["rx-gro"].active && !features["tx-tcp-segmentation"].active);
        let channels = settings.channels(index).unwrap();
        assert_eq!((channels.rx, channels.rx_max, channels.tx), (Some(3), Some(4), Some(2)));
        assert_eq!(settings.link_mode(index).unwrap().speed.map(units::DataRate::bps), Some(10_000_000_000));
        for missing in [settings.pause(index).err(), settings.fec(index).err(), settings.coalesce(index).err()] {
            assert_eq!(missing.unwrap().reason, Reason::Unsupported);
        }
        assert_eq!(settings.rings(99_999).unwrap_err().reason, Reason::Absent);
    });
}

#[test]
fn what_tcp_remembers_is_as_ip_shows_it() {
    in_sandbox(module_path!(), "what_tcp_remembers_is_as_ip_shows_it", || {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[1; 100_000]).unwrap();
        server.read_exact(&mut [0; 100_000]).unwrap();
        drop((client, server));
        let remembered = tcp_metrics::read().unwrap();
        let own = remembered.iter().find(|entry| entry.destination.is_loopback()).expect("TCP remembers 127.0.0.1");
        let shown = shell("ip tcp_metrics show");
        assert!(shown.contains("127.0.0.1"), "{shown}");
        let rtt =
            shown.split_whitespace().skip_while(|word| *word != "rtt").nth(1).expect("ip shows a round trip time");
        assert_eq!(rtt, format!("{}us", own.rtt.unwrap()));
    });
}
