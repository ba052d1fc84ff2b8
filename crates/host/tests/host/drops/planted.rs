//! Drops with known numbers.

use std::net::UdpSocket;
use std::time::Duration;

use host::drops::watch::{FrameWatch, Request, watch};
use linux::netns::NetnsRef;
use linux::sock_diag::{self, Selection, StateSet, TcpState};
use linux::sockets::{Family, Transport};
use model::host::drops::{Counter, DropInterval, DropKind, Layer, RetransmitWay};
use model::host::fact::State;

use crate::sandbox::{Mounts, Neighbour, in_sandbox, shell};

/// One interval, in the middle of which `plant` has run.
fn around(namespaces: Vec<NetnsRef>, plant: impl FnOnce()) -> Vec<DropInterval> {
    let request = Request { namespaces, interval: Duration::from_millis(1), intervals: None, frames: FrameWatch::Off };
    let mut seen = Vec::new();
    let mut plant = Some(plant);
    let done = std::cell::Cell::new(false);
    // What is planted between two readings is in the interval that ends with the second.
    let each = |interval: DropInterval| {
        seen.push(interval);
        match plant.take() {
            Some(plant) => plant(),
            None => done.set(true),
        }
    };
    watch(&request, || done.get(), each).unwrap();
    seen
}

fn counter(layer: Layer, of: &str, name: &str) -> Counter {
    Counter { layer, of: of.to_owned(), name: name.to_owned() }
}

/// Sum over all intervals.
fn total(intervals: &[DropInterval], counter: &Counter) -> u64 {
    intervals.iter().map(|interval| interval.increase(counter).unwrap_or_else(|| panic!("{counter} is unknown"))).sum()
}

#[test]
fn full_socket_buffer_is_counted_to_the_datagram() {
    in_sandbox(module_path!(), "full_socket_buffer_is_counted_to_the_datagram", Mounts::Shared, || {
        let reader = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = reader.local_addr().unwrap();
        let sent = 2_000;
        let intervals = around(Vec::new(), || {
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            for _ in 0..sent {
                sender.send_to(&[0; 1_000], to).unwrap();
            }
        });
        reader.set_nonblocking(true).unwrap();
        let kept = std::iter::repeat_with(|| reader.recv_from(&mut [0; 1_500])).take_while(Result::is_ok).count();
        let lost = total(&intervals, &counter(Layer::Protocol, "", "Udp.RcvbufErrors"));
        assert!(lost > 0);
        assert_eq!(lost + u64::try_from(kept).unwrap(), sent);
        // The socket that dropped them is named: its flow has all that the protocol counted.
        let flows = intervals.iter().flat_map(|interval| interval.flows.as_ref().unwrap().value().unwrap());
        let of_reader: u64 =
            flows.filter(|flow| (flow.local, flow.remote) == (to, None)).map(|flow| flow.datagrams).sum();
        assert_eq!(of_reader, lost);
        let shown = intervals.iter().flat_map(|interval| &interval.counters);
        let kinds: Vec<_> =
            shown.filter(|each| each.counter.name == "Udp.RcvbufErrors").map(|each| each.kind).collect();
        assert!(kinds.iter().all(|kind| *kind == DropKind::ReceiveBuffer), "{kinds:?}");
        assert_eq!(total(&intervals, &counter(Layer::Device, "lo", "rx_dropped")), 0, "a zero that was read");
    });
}

#[test]
fn queue_that_overflows_is_named_with_its_device() {
    in_sandbox(module_path!(), "queue_that_overflows_is_named_with_its_device", Mounts::Shared, || {
        shell("tc qdisc add dev lo root handle 7: tbf rate 1mbit burst 3000 limit 3000");
        let intervals = around(Vec::new(), || {
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            for _ in 0..100 {
                // A queue that drops says so to the sender of a datagram, or does not.
                let _ = sender.send_to(&[0; 1_000], "127.0.0.1:9");
            }
        });
        let lost = total(&intervals, &counter(Layer::Qdisc, "lo 7: tbf", "drops"));
        // The burst and the queue pass at once; how many more, the clock decides.
        assert!((1..=97).contains(&lost), "{lost}");
    });
}

#[test]
fn queue_put_in_anew_is_unknown_and_not_a_huge_number() {
    in_sandbox(module_path!(), "queue_put_in_anew_is_unknown_and_not_a_huge_number", Mounts::Shared, || {
        let plant = "tc qdisc add dev lo root handle 7: tbf rate 8kbit burst 1500 limit 1500";
        shell(plant);
        let flood = || {
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            (0..50).for_each(|_| drop(sender.send_to(&[0; 1_000], "127.0.0.1:9")));
        };
        flood();
        let intervals = around(Vec::new(), || drop(shell(&format!("tc qdisc del dev lo root; {plant}"))));
        let drops = counter(Layer::Qdisc, "lo 7: tbf", "drops");
        assert!(intervals.iter().all(|interval| interval.increase(&drops).unwrap_or(0) == 0));
        let unknown: Vec<_> = intervals.iter().flat_map(|interval| &interval.unknown).collect();
        let why = unknown.iter().find(|part| part.what.starts_with("lo 7: tbf")).map(|part| part.why.as_str());
        assert_eq!(why, Some("it was set back"), "{unknown:?}");
    });
}

/// Whether a socket that waits for its connection has asked again.
fn sent_again() -> bool {
    let states = StateSet::of(TcpState::SynSent);
    let waiting = sock_diag::discover(Selection { family: Family::V4, transport: Transport::Tcp, states }).unwrap();
    waiting.iter().any(|record| record.tcp_info.as_ref().and_then(|info| info.tcpi_total_retrans()) > Some(0))
}

#[test]
fn what_takes_privilege_is_denied_and_sockets_tell_of_retransmits() {
    in_sandbox(
        module_path!(),
        "what_takes_privilege_is_denied_and_sockets_tell_of_retransmits",
        Mounts::Shared,
        || {
            // Nobody is behind this address, so that what asks for a connection is sent again.
            shell(
                "ip link add west type veth peer name east; ip address add 192.0.2.1/24 dev west; \
             ip link set east up; ip link set west up; \
             ip neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev west nud permanent",
            );
            let intervals = around(Vec::new(), || {
                let nobody = "192.0.2.2:9".parse().unwrap();
                std::thread::spawn(move || std::net::TcpStream::connect_timeout(&nobody, Duration::from_secs(60)));
                let until = linux::clock::now() + Duration::from_secs(60);
                assert!(!linux::clock::sleep_unless(until, sent_again).unwrap(), "nothing was sent again");
            });
            let reasons = intervals[0].reasons.as_ref().unwrap();
            assert_eq!(reasons.state(), State::Denied);
            let retransmits: Vec<_> = intervals.iter().map(|each| each.retransmits.value().unwrap()).collect();
            assert!(retransmits.iter().all(|each| each.way == RetransmitWay::Sockets));
            let peer = "192.0.2.2".parse().unwrap();
            assert!(retransmits.iter().filter_map(|each| each.peers.get(&peer)).sum::<u64>() > 0);
        },
    );
}

#[test]
fn each_namespace_has_its_own_intervals() {
    in_sandbox(module_path!(), "each_namespace_has_its_own_intervals", Mounts::Shared, || {
        let (one, other) = (Neighbour::with("ip link set lo up"), Neighbour::with("ip link set lo up"));
        let named = |neighbour: &Neighbour| NetnsRef::Pid(neighbour.pid());
        let intervals = around(vec![named(&one), named(&other)], || {
            let flood = || {
                let reader = UdpSocket::bind("127.0.0.1:0").unwrap();
                let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
                for _ in 0..2_000 {
                    sender.send_to(&[0; 1_000], reader.local_addr().unwrap()).unwrap();
                }
            };
            linux::netns::with_netns(&NetnsRef::Pid(other.pid()), flood).unwrap();
        });
        let lost = counter(Layer::Protocol, "", "Udp.RcvbufErrors");
        let of = |neighbour: &Neighbour| {
            let name = format!("pid:{}", neighbour.pid());
            let own = intervals.iter().filter(|each| each.namespace.as_deref() == Some(&name));
            own.cloned().collect::<Vec<_>>()
        };
        assert_eq!(total(&of(&one), &lost), 0);
        assert!(total(&of(&other), &lost) > 0);
    });
}

/// The kinds of the counters that grew, by counter.
fn kinds(intervals: &[DropInterval]) -> std::collections::BTreeMap<String, DropKind> {
    let grown = intervals.iter().flat_map(|interval| &interval.counters).filter(|each| each.increase > 0);
    grown.map(|each| (each.counter.name.clone(), each.kind)).collect()
}

#[test]
fn losses_that_are_planted_have_the_names_of_their_causes() {
    in_sandbox(module_path!(), "losses_that_are_planted_have_the_names_of_their_causes", Mounts::Shared, || {
        let neighbour = Neighbour::with("ip link set lo up");
        let enter = format!("nsenter --net=/proc/{}/ns/net", neighbour.pid());
        shell(&format!(
            "ip link add west type veth peer name east; ip link set east netns {}; \
             ip address add 192.0.2.1/24 dev west; ip link set west up; \
             {enter} ip address add 192.0.2.2/24 dev east; {enter} ip link set east up; \
             sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.west.rp_filter=1 net.ipv4.conf.default.rp_filter=1; \
             {enter} sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.east.rp_filter=0; \
             {enter} ip address add 198.51.100.7/32 dev lo; ip link add spare type veth peer name spare-end; \
             ip link set spare up; ip link set spare-end up; ip route add 198.51.100.0/24 dev spare",
            neighbour.pid()
        ));
        let named = |plant: &dyn Fn(), counter: &str| {
            let found = kinds(&around(Vec::new(), plant));
            *found.get(counter).unwrap_or_else(|| panic!("{counter} did not grow: {found:?}"))
        };
        let send = |to: &str| drop(UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"x", to));
        assert_eq!(named(&|| send("127.0.0.1:9"), "Udp.NoPorts"), DropKind::NoListener);
        assert_eq!(named(&|| send("203.0.113.1:9"), "Ip.OutNoRoutes"), DropKind::NoRoute);
        // Known before: a request for it would come from the address whose packets are dropped.
        drop(shell(&format!("{enter} ping -c 1 -W 1 192.0.2.1")));
        let from_elsewhere = || drop(shell(&format!("{enter} ping -c 1 -W 1 -I 198.51.100.7 192.0.2.1 || true")));
        assert_eq!(named(&from_elsewhere, "TcpExt.IPReversePathFilter"), DropKind::ReversePath);
        shell(&format!("{enter} ip link set east mtu 9000"));
        let jumbo = || drop(shell(&format!("{enter} ping -c 1 -W 1 -s 4000 192.0.2.1 || true")));
        assert_eq!(named(&jumbo, "rx_dropped"), DropKind::Mixed);
        shell(
            "nft 'add table ip t; add chain ip t o { type filter hook output priority 0; }; add rule ip t o udp dport 7 drop'",
        );
        assert_eq!(named(&|| send("192.0.2.2:7"), "Ip.OutDiscards"), DropKind::Discarded);
    });
}
