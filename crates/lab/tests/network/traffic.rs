//! Packets really go where the blueprint says.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use lab::network::{Host, Network};
use lab::relay::{Options, Relay};
use linux::sockets::SockRef;

use crate::everywhere::everywhere;
use crate::sketch::{Sketch, line, v4, v6};

/// After this a packet that is waited for is taken for lost. No claim rests on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A network whose cables are driven.
pub struct Driven {
    // Fields end in this order: the relay lets go of the devices before their hosts end.
    _relay: Relay,
    pub network: Network,
}

impl Driven {
    pub fn new(sketch: &Sketch) -> Self {
        let mut network = Network::raise(&sketch.0).unwrap_or_else(|error| panic!("{error}: {error:?}"));
        let relay = Relay::start(network.wires(), linux::clock::now(), &Options::default()).unwrap();
        assert!(network.wires().is_empty(), "the relay has them");
        Self { _relay: relay, network }
    }

    fn host(&self, name: &str) -> &Host {
        self.network.host(name).unwrap()
    }
}

/// Sends datagrams with 1, 2, 3… hops to go, each of which says how many, until one arrives, and returns that number.
fn hops(driven: &Driven, from: &str, to: &str, address: IpAddr) -> u8 {
    let listen = || {
        let socket = UdpSocket::bind(SocketAddr::new(address, 0))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        io::Result::Ok(socket)
    };
    let receiver = driven.host(to).run(listen).unwrap().unwrap();
    let target = receiver.local_addr().unwrap();
    let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let sender = driven.host(from).run(|| UdpSocket::bind(any)).unwrap().unwrap();
    find_neighbours(&sender, &receiver, target);
    for hops in 1..=8_u8 {
        let socket = SockRef::from(&sender);
        match address {
            IpAddr::V4(_) => socket.set_ttl_v4(hops.into()).unwrap(),
            IpAddr::V6(_) => socket.set_unicast_hops_v6(hops.into()).unwrap(),
        }
        sender.send_to(&[hops], target).unwrap();
    }
    let mut said = [FINDING];
    while said == [FINDING] {
        receiver.recv(&mut said).unwrap();
    }
    said[0]
}

/// What is sent while hosts look for their neighbours, or before an address may be used, can be lost: sends until something
/// arrives.
fn find_neighbours(sender: &UdpSocket, receiver: &UdpSocket, target: SocketAddr) {
    let until = Instant::now() + PATIENCE;
    receiver.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    loop {
        // An address that may not be used yet is no way to anywhere.
        let _ = sender.send_to(&[FINDING], target);
        if receiver.recv(&mut [0]).is_ok() {
            break;
        }
        assert!(Instant::now() < until, "nothing arrives at {target}");
    }
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
}

/// What a datagram says that is sent with as many hops as any.
const FINDING: u8 = 0;

#[test]
fn packets_pass_each_router_once_in_both_versions() {
    everywhere(module_path!(), "packets_pass_each_router_once_in_both_versions", || {
        let driven = Driven::new(&line());
        for address in [v4(3), v6(3)] {
            assert_eq!(hops(&driven, "west", "east", address), 3, "{address}");
        }
        assert_eq!(hops(&driven, "east", "north", v4(4)), 3);
        assert_eq!(hops(&driven, "west", "r1", v6(1)), 1);
    });
}

#[test]
fn overlay_carries_packets_among_three_hosts_as_if_on_one_wire() {
    everywhere(module_path!(), "overlay_carries_packets_among_three_hosts_as_if_on_one_wire", || {
        let driven = Driven::new(&line().overlay(&[0, 3, 4]));
        for (from, to, address) in
            [("west", "east", "10.99.0.4"), ("east", "north", "10.99.0.5"), ("north", "west", "10.99.0.1")]
        {
            assert_eq!(hops(&driven, from, to, address.parse().unwrap()), 1, "{from} to {to}");
        }
    });
}

#[test]
fn two_networks_of_the_same_addresses_stand_side_by_side() {
    everywhere(module_path!(), "two_networks_of_the_same_addresses_stand_side_by_side", || {
        let short = Sketch::new(&["west", "east"]).cable(0, 1).route(0, &[1], 0).route(1, &[0], 0);
        let (one, other) = (Driven::new(&line()), Driven::new(&short));
        assert_eq!(hops(&one, "west", "east", v4(3)), 3);
        assert_eq!(hops(&other, "west", "east", v4(1)), 1);
        drop(other);
        assert_eq!(hops(&one, "east", "west", v6(0)), 3);
    });
}
