//! How long it takes until the network of a lab is there, and until it is gone: a chain of hosts with a cable between
//! neighbours, with addresses and routes of both versions of IP and the relay at work.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use anyhow::Context;
use lab::blueprint::{Blueprint, Cable, Device, Host, Route};
use lab::network::Network;
use lab::relay::{Options, Relay};
use path::Seed;
use units::Mtu;

use crate::contests::effort::Effort;
use crate::outcome::{Row, Target};
use crate::pairs::Spread;

/// How many hosts the largest of the accounts' networks takes, routers among them.
const HOSTS: u8 = 13;

/// The part inside a namespace with privileges.
pub(super) fn inside(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let blueprint = chain(HOSTS)?;
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..effort.choose(5, 15) {
        let begin = Instant::now();
        let mut network = Network::raise(&blueprint).context("the network cannot be made")?;
        let relay = Relay::start(network.wires(), linux::clock::now(), &Options::default())?;
        up.push(begin.elapsed());
        let end = Instant::now();
        drop(relay);
        drop(network);
        down.push(end.elapsed());
    }
    let seconds = |times: Vec<Duration>| Spread::of(times.iter().map(Duration::as_secs_f64)).median;
    let links = HOSTS - 1;
    Ok(vec![
        Row::new(format!("{HOSTS} hosts with {links} links up"), seconds(up), "s").target(Target::AtMost(2.0)),
        Row::new("and gone, with all processes", seconds(down), "s"),
    ])
}

fn chain(hosts: u8) -> anyhow::Result<Blueprint> {
    let mtu = Mtu::new(1_500)?;
    let hosts: Vec<Host> = (0..hosts).map(|number| host(number, hosts, mtu)).collect();
    let cables = (1..hosts.len()).map(|far| Cable {
        name: format!("{}-{far}", far - 1),
        hosts: [far - 1, far],
        chains: [Vec::new(), Vec::new()],
        reporters: [Vec::new(), Vec::new()],
    });
    Ok(Blueprint { cables: cables.collect(), hosts, alterations: Vec::new(), switches: Vec::new(), seed: Seed(1) })
}

fn host(number: u8, of: u8, mtu: Mtu) -> Host {
    let mut devices = Vec::new();
    let mut routes = Vec::new();
    let ends = [number.checked_sub(1).map(|cable| (cable, 1)), (number + 1 < of).then_some((number, 0))];
    for (cable, end) in ends.into_iter().flatten() {
        let name = format!("eth{}", devices.len());
        let addresses = link(cable, end).map(|address| (address, if address.is_ipv4() { 24 } else { 64 }));
        let beyond = if end == 1 { 0..number } else { number + 1..of };
        routes.extend(beyond.flat_map(|to| {
            let device = name.clone();
            own(to).into_iter().zip(link(cable, 1 - end)).map(move |(to, via)| Route {
                to: (to, if to.is_ipv4() { 32 } else { 128 }),
                via: Some(via),
                device: device.clone(),
                source: None,
                metrics: BTreeMap::new(),
            })
        }));
        devices.push(Device {
            name,
            cable: cable.into(),
            end: end.into(),
            addresses: addresses.to_vec(),
            mtu,
            speed: None,
            features: BTreeMap::new(),
            qdisc: None,
        });
    }
    let forwarding = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"];
    Host {
        name: format!("host-{number}"),
        addresses: own(number).to_vec(),
        devices,
        tunnels: Vec::new(),
        routes,
        sysctls: forwarding.map(|key| (key.to_owned(), "1".to_owned())).to_vec(),
        cpu_share: None,
        recorded_facts: None,
    }
}

fn own(host: u8) -> [IpAddr; 2] {
    [Ipv4Addr::new(10, 0, 0, host + 1).into(), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(host) + 1).into()]
}

fn link(cable: u8, end: u8) -> [IpAddr; 2] {
    let (cable, end) = (cable + 1, end + 1);
    [Ipv4Addr::new(10, 0, cable, end).into(), Ipv6Addr::new(0xfd00, cable.into(), 0, 0, 0, 0, 0, end.into()).into()]
}
