//! Blueprints in few words.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lab::blueprint::{Blueprint, Cable, Device, Host, Route, Tunnel};
use path::Seed;
use units::Mtu;

/// A network being drawn. Host `n` of the list is 10.9.0.n+1 and fd09::n+1.
pub struct Sketch(pub Blueprint);

impl Sketch {
    /// Hosts of these names, with nothing between them.
    pub fn new(names: &[&str]) -> Self {
        let hosts = names.iter().enumerate().map(|(number, name)| Host {
            name: (*name).to_owned(),
            addresses: vec![v4(number), v6(number)],
            ..Host::default()
        });
        Self(Blueprint {
            hosts: hosts.collect(),
            cables: Vec::new(),
            alterations: Vec::new(),
            switches: Vec::new(),
            seed: Seed(1),
        })
    }

    /// A cable between two hosts, which changes nothing. Its addresses are 10.9.CABLE+1.1 and .2, fd09:CABLE+1::1 and
    /// ::2; its devices are called eth0, eth1 and so on in each host.
    pub fn cable(mut self, one: usize, other: usize) -> Self {
        let number = self.0.cables.len();
        let name = format!("{}-{}", self.0.hosts[one].name, self.0.hosts[other].name);
        let nothing = || [Vec::new(), Vec::new()];
        self.0.cables.push(Cable { name, hosts: [one, other], chains: nothing(), reporters: [Vec::new(), Vec::new()] });
        for (end, host) in [one, other].into_iter().enumerate() {
            let devices = &mut self.0.hosts[host].devices;
            devices.push(Device {
                name: format!("eth{}", devices.len()),
                cable: number,
                end,
                addresses: link(number, end).to_vec(),
                mtu: Mtu::new(1_500).unwrap(),
                speed: None,
                features: BTreeMap::new(),
                qdisc: None,
            });
        }
        self
    }

    /// Routes of both versions in `host` to the addresses of hosts `to`, over the cable `cable`.
    pub fn route(mut self, host: usize, to: &[usize], cable: usize) -> Self {
        let device = self.0.hosts[host].devices.iter().find(|device| device.cable == cable).unwrap();
        let (name, end) = (device.name.clone(), device.end);
        for to in to {
            let routes =
                [(v4(*to), 32), (v6(*to), 128)].into_iter().zip(link(cable, 1 - end)).map(|(to, (via, _))| Route {
                    to,
                    via: Some(via),
                    device: name.clone(),
                    source: Some(if via.is_ipv4() { v4(host) } else { v6(host) }),
                    metrics: BTreeMap::new(),
                });
            self.0.hosts[host].routes.extend(routes);
        }
        self
    }

    /// Has hosts forward packets.
    pub fn routers(mut self, hosts: &[usize]) -> Self {
        for host in hosts {
            for key in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] {
                self.0.hosts[*host].sysctls.push((key.to_owned(), "1".to_owned()));
            }
        }
        self
    }

    /// Gives a host a kernel setting.
    pub fn sysctl(mut self, host: usize, key: &str, value: &str) -> Self {
        self.0.hosts[host].sysctls.push((key.to_owned(), value.to_owned()));
        self
    }

    /// An overlay among hosts, in which host `n` is 10.99.0.n+1.
    pub fn overlay(mut self, hosts: &[usize]) -> Self {
        for host in hosts {
            let remotes = hosts.iter().filter(|other| *other != host).map(|other| v4(*other)).collect();
            let address = IpAddr::V4(Ipv4Addr::new(10, 99, 0, number(*host)));
            self.0.hosts[*host].tunnels.push(Tunnel {
                name: "vx0".to_owned(),
                vni: 42,
                port: 4_789,
                local: v4(*host),
                remotes,
                addresses: vec![(address, 24)],
                mtu: Mtu::new(1_450).unwrap(),
            });
        }
        self
    }
}

/// west ─ r1 ─ r2 ─ east, and north at r1: hosts 0, 1, 2, 3, 4; cables 0, 1, 2, 3.
pub fn line() -> Sketch {
    Sketch::new(&["west", "r1", "r2", "east", "north"])
        .cable(0, 1)
        .cable(1, 2)
        .cable(2, 3)
        .cable(1, 4)
        .routers(&[1, 2])
        .route(0, &[1, 2, 3, 4], 0)
        .route(1, &[0], 0)
        .route(1, &[2, 3], 1)
        .route(1, &[4], 3)
        .route(2, &[0, 1, 4], 1)
        .route(2, &[3], 2)
        .route(3, &[0, 1, 2, 4], 2)
        .route(4, &[0, 1, 2, 3], 3)
}

/// The address of a host of version 4.
pub fn v4(host: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 9, 0, number(host)))
}

/// The address of a host of version 6.
pub fn v6(host: usize) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, number(host).into()))
}

fn link(cable: usize, end: usize) -> [(IpAddr, u8); 2] {
    let v6 = Ipv6Addr::new(0xfd09, number(cable).into(), 0, 0, 0, 0, 0, number(end).into());
    [(IpAddr::V4(Ipv4Addr::new(10, 9, number(cable), number(end))), 24), (IpAddr::V6(v6), 64)]
}

fn number(place: usize) -> u8 {
    u8::try_from(place).unwrap() + 1
}
