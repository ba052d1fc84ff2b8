//! Which device stands on which.

use std::collections::{BTreeMap, BTreeSet};

use model::host::interface::Interface;
use model::host::interface::link::Link;
use model::host::namespace::Namespace;
use model::host::route::Route;
use model::host::snapshot::Snapshot;

use super::underlay::{Underlays, is_tunnel};

/// What stands on each device of a namespace, by name.
pub(super) fn carried<'a>(namespace: &'a Namespace, snapshot: &'a Snapshot) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut above: BTreeMap<&str, Vec<&Interface>> = BTreeMap::new();
    for interface in &namespace.interfaces {
        let Some(link) = interface.link.value() else { continue };
        if let Some(lower) = &link.lower {
            above.entry(lower).or_default().push(interface);
        }
        let bridge = link.controller.as_deref().and_then(|controller| namespace.interface(controller));
        if let Some(bridge) = bridge {
            above.entry(&interface.name).or_default().push(bridge);
        }
    }
    let underlays = Underlays::of(snapshot);
    for (under, tunnel) in underlays.found.iter().filter(|(under, _)| std::ptr::eq(under.namespace, namespace)) {
        above.entry(under.device).or_default().push(tunnel);
    }
    let mut carried = BTreeMap::new();
    for interface in &namespace.interfaces {
        let (mut kinds, mut seen, mut next) = (BTreeSet::new(), BTreeSet::new(), vec![interface.name.as_str()]);
        while let Some(name) = next.pop() {
            for upper in above.get(name).into_iter().flatten() {
                if seen.insert(upper.name.as_str()) {
                    kinds.extend(upper.link.value().and_then(|link| link.kind.as_deref()));
                    // What stands on a tunnel of another namespace is not found under its name in this one.
                    if namespace.interface(&upper.name).is_some_and(|own| std::ptr::eq(own, *upper)) {
                        next.push(&upper.name);
                    }
                }
            }
        }
        if is_nic(interface) {
            kinds.extend(underlays.floating.iter().copied());
        }
        carried.insert(interface.name.as_str(), kinds);
    }
    carried
}

/// Whether a device is hardware, or is so for a guest, or stands for hardware that a lab does not have.
pub(super) fn is_nic(interface: &Interface) -> bool {
    if interface.bus.value().is_some() && interface.bus.source.is_recorded() {
        return true;
    }
    let virtual_kind = interface.link.value().is_some_and(|link| link.kind.is_some());
    interface.name != "lo" && !virtual_kind && interface.is_virtual() != Some(true)
}

/// Kinds of tunnels in any namespace.
pub(super) fn tunnels(snapshot: &Snapshot) -> Vec<&str> {
    let kinds = snapshot.interfaces().filter_map(|(_, interface)| interface.link.value()?.kind.as_deref());
    kinds.filter(|kind| is_tunnel(kind)).collect()
}

/// The MTU of the device under this one; 0 where there is none.
pub(super) fn lower_mtu(link: &Link, namespace: &Namespace) -> Option<u32> {
    if link.lower_elsewhere.is_some() {
        return None;
    }
    let Some(lower) = &link.lower else { return Some(0) };
    namespace.interface(lower)?.link.value()?.mtu
}

/// Of a bridge, the smallest MTU of its ports; 0 otherwise.
pub(super) fn least_port_mtu(interface: &Interface, link: &Link, namespace: &Namespace) -> u32 {
    if link.kind.as_deref() != Some("bridge") {
        return 0;
    }
    let links = namespace.interfaces.iter().filter_map(|other| other.link.value());
    let ports = links.filter(|port| port.controller.as_deref() == Some(interface.name.as_str()));
    ports.filter_map(|port| port.mtu).min().unwrap_or(0)
}

/// Default routes over different devices.
pub(super) fn uplinks(routes: &[Route]) -> usize {
    default_devices(routes).collect::<BTreeSet<_>>().len()
}

/// Whether a default route leaves by this device.
pub(super) fn is_uplink(device: &str, routes: &[Route]) -> bool {
    default_devices(routes).any(|other| other == device)
}

fn default_devices(routes: &[Route]) -> impl Iterator<Item = &String> {
    let defaults = routes.iter().filter(|route| is_default(route) && route.is_in_main_table());
    defaults.flat_map(|route| route.interface.iter().chain(route.hops.iter().filter_map(|hop| hop.interface.as_ref())))
}

/// Whether a route is for all that has no other.
pub(super) fn is_default(route: &Route) -> bool {
    route.kind == "unicast" && matches!(route.destination.as_str(), "0.0.0.0/0" | "::/0")
}
