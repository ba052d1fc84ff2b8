//! Facts of a device.

mod driver_counters;
mod hardware;

use model::host::interface::Interface;
use model::host::interface::link::Link;
use model::host::namespace::Namespace;
use model::host::qdisc::Qdisc;
use model::host::shaping;
use model::host::snapshot::Snapshot;
use units::DataRate;

use super::stack;
use super::value::{absent, counter, int, known, map, named, text, texts, unsupported};
use crate::fact::{Fact, FactMap};
use crate::scope::LinkFacts;

pub(super) fn all(namespace: &Namespace, snapshot: &Snapshot) -> Vec<LinkFacts> {
    let carried = stack::carried(namespace, snapshot);
    let devices = namespace.interfaces.iter().filter(|interface| interface.name != "lo");
    devices
        .map(|interface| {
            let carries = carried.get(interface.name.as_str());
            let carries = texts(carries.into_iter().flatten().copied());
            let mut facts = FactMap::new();
            facts.insert("link".to_owned(), link(interface, namespace, carries));
            facts.insert("qdisc".to_owned(), known(&interface.qdiscs, |qdiscs| qdisc(qdiscs)));
            if stack::is_nic(interface) {
                hardware::add(interface, snapshot, &mut facts);
            }
            LinkFacts { name: interface.name.clone(), facts }
        })
        .collect()
}

fn link(interface: &Interface, namespace: &Namespace, carries: Fact) -> Fact {
    let counted = |name| counter(&interface.counters, name);
    let mut facts = named([
        ("name", text(interface.name.as_str())),
        ("carries", carries),
        ("default_route", known(&namespace.routes, |routes| Fact::Bool(stack::is_uplink(&interface.name, routes)))),
        ("speed_bps", speed(interface)),
        ("rp_filter", rp_filter(interface, namespace)),
        ("vlans", vlans(interface, namespace)),
        ("rx_missed", counted("rx_missed_errors")),
        ("rx_dropped", counted("rx_dropped")),
        ("rx_crc_errors", counted("rx_crc_errors")),
        ("tx_dropped", counted("tx_dropped")),
    ]);
    match known(&interface.link, |link| stacked(interface, link, namespace)) {
        Fact::Map(more) => facts.extend(more),
        missing => drop(facts.insert("kind".to_owned(), missing)),
    }
    Fact::Map(facts)
}

fn stacked(interface: &Interface, link: &Link, namespace: &Namespace) -> Fact {
    let told = |number: Option<u32>| number.map_or_else(|| absent(""), int);
    let bond = link.bond.as_ref();
    let outer_is_ipv6 = link.vxlan.as_ref().and_then(|vxlan| vxlan.remote.or(vxlan.local)).map(|outer| outer.is_ipv6());
    map([
        ("kind", text(link.kind.as_deref().unwrap_or("physical"))),
        ("mtu", told(link.mtu)),
        ("lower_mtu", told(stack::lower_mtu(link, namespace))),
        ("least_port_mtu", int(stack::least_port_mtu(interface, link, namespace))),
        ("txqlen", told(link.txqlen)),
        ("txqueues", told(link.tx_queues)),
        ("carrier_changes", told(link.carrier_changes)),
        ("gso_ipv4_max_bytes", told(link.gso_ipv4_max)),
        ("bond_mode", bond.map_or_else(|| absent(""), |bond| text(bond.mode.as_str()))),
        ("bond_hash", bond.map_or_else(|| absent(""), |bond| text(bond.transmit_hash.clone().unwrap_or_default()))),
        ("vxlan_ipv6", outer_is_ipv6.map_or_else(|| absent("the tunnel names no peer"), Fact::Bool)),
    ])
}

pub(super) fn speed(interface: &Interface) -> Fact {
    known(&interface.mode, |mode| match (interface.reported_speed(), mode.speed) {
        (Some(speed), _) => int(speed.bps()),
        (None, Some(_)) => unsupported("the driver reports a number that it makes up"),
        (None, None) => unsupported("the driver reports no speed, or the link is down"),
    })
}

/// The kernel uses the greater of the device's value and that of all (ip-sysctl, rp_filter).
fn rp_filter(interface: &Interface, namespace: &Namespace) -> Fact {
    let value = |name: &str| namespace.sysctl(&format!("net.ipv4.conf.{name}.rp_filter"))?.parse::<i64>().ok();
    match (value(&interface.name), value("all")) {
        (Some(own), Some(all)) => Fact::Int(own.max(all)),
        _ => absent(""),
    }
}

fn vlans(interface: &Interface, namespace: &Namespace) -> Fact {
    let links = namespace.interfaces.iter().filter_map(|other| other.link.value());
    let on_top = links.filter(|link| link.lower.as_deref() == Some(interface.name.as_str()));
    Fact::List(on_top.filter_map(|link| link.vlan).map(int).collect())
}

fn qdisc(qdiscs: &[Qdisc]) -> Fact {
    let tree: Vec<&Qdisc> = qdiscs.iter().filter(|qdisc| qdisc.parent != model::host::qdisc::INGRESS).collect();
    let Some(root) = tree.iter().find(|qdisc| qdisc.is_root()) else {
        return absent("the device has no root qdisc");
    };
    let leaves = tree.iter().filter(|qdisc| !tree.iter().any(|other| hangs_on(other, qdisc)));
    let counted = |name: &str| root.counters.get(name).map_or_else(|| absent(""), |&count| int(count));
    let fq = || tree.iter().filter(|qdisc| qdisc.kind == "fq");
    let flow_limit_drops = fq().filter_map(|qdisc| qdisc.counters.get("flows_plimit")).sum::<u64>();
    let signature: Vec<String> = tree.iter().flat_map(|qdisc| described(qdisc)).collect();
    map([
        ("kind", text(root.kind.as_str())),
        ("leaves", texts(leaves.map(|qdisc| qdisc.kind.as_str()))),
        ("kinds", texts(tree.iter().map(|qdisc| qdisc.kind.as_str()))),
        ("is_default", Fact::Bool(root.is_default())),
        ("rates_bps", rates(&tree)),
        ("cap_bps", cap(&tree)),
        ("flow_cap_bps", int(shaping::flow_ceiling(tree.iter().copied()).map_or(0, DataRate::bps))),
        ("signature", text(signature.join("; "))),
        ("dropped", counted("drops")),
        ("flow_limit_drops", int(flow_limit_drops)),
    ])
}

/// Whether the first hangs on a class of the second. All of a tree that the kernel made bear the number 0.
fn hangs_on(lower: &Qdisc, upper: &Qdisc) -> bool {
    let major = |number: &str| number.split(':').next().unwrap_or_default().trim_matches('0').to_owned();
    !lower.is_root() && (upper.is_root() || !upper.is_default()) && major(&lower.parent) == major(&upper.handle)
}

fn described(qdisc: &Qdisc) -> Vec<String> {
    let options = |options: &std::collections::BTreeMap<String, u64>| -> String {
        options.iter().map(|(name, value)| format!(" {name}={value}")).collect()
    };
    let own = format!("{} on {}{}", qdisc.kind, qdisc.parent, options(&qdisc.options));
    let classes = qdisc
        .classes
        .iter()
        .map(|class| format!("class {} on {}{}", class.handle, class.parent, options(&class.options)));
    std::iter::once(own).chain(classes).collect()
}

fn rates(tree: &[&Qdisc]) -> Fact {
    let is_classful = |qdisc: &&Qdisc| matches!(qdisc.kind.as_str(), "htb" | "hfsc" | "cbq");
    if tree.iter().copied().any(|qdisc| is_classful(&qdisc) && qdisc.classes.is_empty()) {
        return absent("rates of classes are not in the snapshot");
    }
    let options = tree.iter().flat_map(|qdisc| &qdisc.options);
    let limits = options.filter(|(name, rate)| match name.as_str() {
        "rate_bps" => true,
        "maxrate_bps" => shaping::is_limit(**rate),
        _ => false,
    });
    // What a class may have at most is the rate at which it is held; what it is sure of is none.
    let ceilings = tree.iter().flat_map(|qdisc| &qdisc.classes).filter_map(|class| class.options.get("ceil_bps"));
    Fact::List(limits.map(|(_, rate)| rate).chain(ceilings).map(|&rate| int(rate)).collect())
}

/// The rate above which nothing leaves the device, 0 where no shaper holds it.
fn cap(tree: &[&Qdisc]) -> Fact {
    match shaping::ceiling(tree) {
        Ok(rate) => int(rate.map_or(0, DataRate::bps)),
        Err(shaping::UnknownClasses) => absent("rates of classes are not in the snapshot"),
    }
}
