//! All facts of a host of a network at a moment.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::host::fact::{Fact, Source};
use model::host::interface::Interface;
use model::host::interface::driver::LinkMode;
use model::host::interface::link::Link;
use model::host::interface::tuning::Feature;
use model::host::qdisc::{Qdisc, ROOT};
use model::host::recorded::RecordedFacts;
use model::host::route::{Address, Route};
use model::host::snapshot::Snapshot;
use scenario::blueprint::{self, Device};
use serde::Deserialize;
use units::WallTime;

use super::kernel;
use crate::network::Network;
use crate::network::state::{DeviceState, HostState};
use crate::network::tally::{DeviceTally, HostTally};

/// The facts of every host now, on hosts whose calendars say `taken`.
pub(crate) fn all(network: &Network<'_>, taken: WallTime) -> Vec<Snapshot> {
    let Some(template) = kernel::snapshot() else { return Vec::new() };
    let hosts = network.blueprint.hosts.iter().zip(&network.hosts).zip(&network.tallies.hosts);
    hosts.map(|((host, state), tally)| of_host(&template, HostNow { host, state, tally }, taken)).collect()
}

/// A host, how it is set, and what it has counted.
#[derive(Clone, Copy)]
struct HostNow<'a> {
    host: &'a blueprint::Host,
    state: &'a HostState,
    tally: &'a HostTally,
}

fn of_host(template: &Snapshot, now: HostNow<'_>, taken: WallTime) -> Snapshot {
    let HostNow { host, state, tally } = now;
    let mut snapshot = template.clone();
    snapshot.taken = taken;
    snapshot.taken_mono = None;
    snapshot.software = super::identity::SOFTWARE.to_owned();
    snapshot.machine.name = known(host.name.clone());
    snapshot.machine.boot_id = known(format!("virtual-{}", host.name));
    if let Some(own) = snapshot.namespaces.first_mut() {
        let device = own.interfaces.first().cloned();
        own.interfaces = device
            .iter()
            .flat_map(|usual| host.devices.iter().enumerate().map(move |(number, device)| (usual, number, device)))
            .map(|(usual, number, device)| interface(usual.clone(), number, device, now))
            .collect();
        for (name, value) in state.sysctls() {
            own.sysctls.insert(name.clone(), known(value.clone()));
        }
        own.addresses = known(addresses(host));
        own.routes = known(routes(state));
        if let Ok(counters) = &mut own.counters.reading {
            for (name, count) in &tally.protocols {
                counters.insert((*name).to_owned(), *count);
            }
        }
    }
    if let Some(facts) = &host.recorded_facts {
        // Facts that are none were refused when the scenario was read.
        if let Ok(recorded) = RecordedFacts::deserialize(facts.clone()) {
            recorded.put_into(&mut snapshot, &Source::recorded("recorded-facts.toml"));
        }
    }
    snapshot
}

fn interface(usual: Interface, number: usize, device: &Device, now: HostNow<'_>) -> Interface {
    let set = now.state.devices.get(&device.name);
    let mtu = set.map_or(device.mtu, |set| set.mtu);
    let counted = now.tally.devices.get(&device.cable).copied().unwrap_or_default();
    let link = usual.link.clone().map(|link| Link {
        index: u32::try_from(number + 2).unwrap_or(u32::MAX),
        mtu: Some(mtu.get()),
        ..link
    });
    Interface {
        name: device.name.clone(),
        link,
        mode: known(LinkMode {
            speed: device.speed,
            full_duplex: Some(true),
            autonegotiation: Some(false),
            lanes: None,
        }),
        features: features(usual.features, set),
        qdiscs: known(vec![qdisc(set, &counted)]),
        counters: usual.counters.map(|counters| counters_of(counters, &counted)),
        ..usual
    }
}

fn features(usual: Fact<BTreeMap<String, Feature>>, set: Option<&DeviceState>) -> Fact<BTreeMap<String, Feature>> {
    usual.map(|mut features| {
        for (name, on) in set.iter().flat_map(|set| &set.features) {
            let feature = Feature { hw: true, wanted: *on, active: *on, nochange: false };
            features.insert(name.clone(), feature);
        }
        features
    })
}

fn counters_of(mut counters: BTreeMap<String, u64>, counted: &DeviceTally) -> BTreeMap<String, u64> {
    for (name, value) in [
        ("tx_packets", counted.sent.packets),
        ("tx_bytes", counted.sent.bytes),
        ("rx_packets", counted.received.packets),
        ("rx_bytes", counted.received.bytes),
    ] {
        counters.insert(name.to_owned(), value);
    }
    counters
}

fn qdisc(set: Option<&DeviceState>, counted: &DeviceTally) -> Qdisc {
    let (kind, options) = match set.and_then(|set| set.qdisc.as_ref()) {
        None => ("pfifo_fast", BTreeMap::new()),
        Some(blueprint::Qdisc::Pfifo { packets }) => {
            ("pfifo", BTreeMap::from([("limit_packets".to_owned(), u64::from(*packets))]))
        }
        Some(blueprint::Qdisc::Tbf { rate, burst, limit }) => {
            let options = [("rate_bps", rate.bps()), ("burst_bytes", burst.get()), ("limit_bytes", limit.get())];
            ("tbf", options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        }
    };
    let counters = [
        ("packets", counted.sent.packets),
        ("bytes", counted.sent.bytes),
        ("drops", counted.queue_drops),
        ("overlimits", counted.queue_drops),
        ("requeues", 0),
        ("backlog_bytes", 0),
        ("backlog_packets", 0),
    ];
    Qdisc {
        kind: kind.to_owned(),
        handle: if kind == "pfifo_fast" { "0:" } else { "1:" }.to_owned(),
        parent: ROOT.to_owned(),
        options,
        raw_options: None,
        counters: counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        classes: Vec::new(),
    }
}

fn addresses(host: &blueprint::Host) -> Vec<Address> {
    let address = |interface: &str, address: IpAddr, prefix: u8| Address {
        interface: interface.to_owned(),
        address,
        prefix,
        scope: "global".to_owned(),
    };
    let own = host.addresses.iter().map(|own| address("lo", *own, if own.is_ipv4() { 32 } else { 128 }));
    let of_devices = host
        .devices
        .iter()
        .flat_map(|device| device.addresses.iter().map(|(own, prefix)| address(&device.name, *own, *prefix)));
    own.chain(of_devices).collect()
}

fn routes(state: &HostState) -> Vec<Route> {
    let route = |route: &blueprint::Route| Route {
        destination: format!("{}/{}", route.to.0, route.to.1),
        kind: "unicast".to_owned(),
        table: 254,
        via: route.via,
        interface: Some(route.device.clone()),
        preferred_source: route.source,
        priority: None,
        protocol: "boot".to_owned(),
        metrics: route.metrics.clone(),
        hops: Vec::new(),
    };
    state.routes.iter().map(route).collect()
}

fn known<T>(value: T) -> Fact<T> {
    Fact::known(value, Source("virtual play".to_owned()))
}
