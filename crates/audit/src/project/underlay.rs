//! Which devices a tunnel stands on that does not name one: those of its own address, or of the way to its other end.

use std::collections::BTreeSet;
use std::net::IpAddr;

use model::host::interface::Interface;
use model::host::interface::link::Link;
use model::host::namespace::Namespace;
use model::host::route::Route;
use model::host::snapshot::Snapshot;

/// Whether a device of this kind is a tunnel.
pub(super) fn is_tunnel(kind: &str) -> bool {
    matches!(kind, "vxlan" | "geneve")
}

/// What tunnels stand on that do not name a device of their own namespace.
pub(super) struct Underlays<'a> {
    /// Devices with the tunnel on each.
    pub(super) found: Vec<(Under<'a>, &'a Interface)>,
    /// Kinds of tunnels without a fixed underlay, as container overlays make them: any NIC may carry them.
    pub(super) floating: BTreeSet<&'a str>,
}

/// A device under a tunnel.
#[derive(Clone, Copy)]
pub(super) struct Under<'a> {
    pub(super) namespace: &'a Namespace,
    pub(super) device: &'a str,
}

impl<'a> Underlays<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let mut underlays = Self { found: Vec::new(), floating: BTreeSet::new() };
        for (namespace, tunnel) in snapshot.interfaces() {
            let Some((link, kind)) = tunnel.link.value().and_then(|link| Some((link, link.kind.as_deref()?))) else {
                continue;
            };
            if !is_tunnel(kind) || link.lower.is_some() {
                continue;
            }
            // A tunnel is often made where the NIC is and then moved to where the containers are; what it sends still
            // leaves from where it was made.
            let places = [Some(namespace), snapshot.own().filter(|own| !std::ptr::eq(*own, namespace))];
            let under = places.into_iter().flatten().map(|place| under(tunnel, link, place, namespace));
            match under.into_iter().find(|devices| !devices.is_empty()) {
                Some(devices) => underlays.found.extend(devices.into_iter().map(|under| (under, tunnel))),
                None => drop(underlays.floating.insert(kind)),
            }
        }
        underlays
    }
}

/// The devices of `place` under a tunnel that is in `home`; none where nothing says so.
fn under<'a>(tunnel: &Interface, link: &Link, place: &'a Namespace, home: &Namespace) -> Vec<Under<'a>> {
    let at = |device: &'a str| Under { namespace: place, device };
    if let Some(index) = link.lower_elsewhere {
        let has_index = |device: &&Interface| device.link.value().is_some_and(|link| link.index == index);
        let elsewhere = !std::ptr::eq(place, home);
        return place
            .interfaces
            .iter()
            .filter(|_| elsewhere)
            .find(has_index)
            .map(|device| at(&device.name))
            .into_iter()
            .collect();
    }
    let Some(ends) = &link.vxlan else { return Vec::new() };
    let addresses = place.addresses.value().map(Vec::as_slice).unwrap_or_default();
    let own = ends.local.and_then(|local| addresses.iter().find(|address| address.address == local));
    if let Some(own) = own {
        return vec![at(&own.interface)];
    }
    let remote = ends.remote.filter(|remote| !remote.is_multicast() && !remote.is_unspecified());
    let routes = place.routes.value().map(Vec::as_slice).unwrap_or_default();
    let way = remote.and_then(|remote| way_to(remote, routes)).into_iter().flat_map(devices);
    // Through itself it cannot stand on anything.
    way.filter(|device| !std::ptr::eq(place, home) || *device != tunnel.name).map(at).collect()
}

/// The route that the kernel takes from the main table: the longest prefix, of those the lowest priority.
fn way_to(to: IpAddr, routes: &[Route]) -> Option<&Route> {
    let unicast = routes.iter().filter(|route| route.is_in_main_table() && route.kind == "unicast");
    let fitting = unicast.filter_map(|route| Some((matched(&route.destination, to)?, route)));
    let best = fitting.min_by_key(|(length, route)| (std::cmp::Reverse(*length), route.priority.unwrap_or(0)));
    best.map(|(_, route)| route)
}

/// The length of a prefix that holds the address.
fn matched(prefix: &str, address: IpAddr) -> Option<u32> {
    let (net, length) = prefix.split_once('/')?;
    let length: u32 = length.parse().ok()?;
    let (net, address, bits) = match (net.parse().ok()?, address) {
        (IpAddr::V4(net), IpAddr::V4(address)) => (u128::from(net.to_bits()), u128::from(address.to_bits()), 32),
        (IpAddr::V6(net), IpAddr::V6(address)) => (net.to_bits(), address.to_bits(), 128),
        _ => return None,
    };
    let rest = u32::checked_sub(bits, length)?;
    // A shift by all bits is none that the processor does.
    let same = (net ^ address).checked_shr(rest).unwrap_or(0) == 0;
    same.then_some(length)
}

fn devices(route: &Route) -> impl Iterator<Item = &str> {
    let hops = route.hops.iter().filter_map(|hop| hop.interface.as_deref());
    route.interface.as_deref().into_iter().chain(hops)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(destination: &str, device: &str, priority: Option<u32>) -> Route {
        serde_json::from_value(serde_json::json!({
            "destination": destination, "kind": "unicast", "table": 254, "protocol": "static",
            "interface": device, "priority": priority,
        }))
        .unwrap()
    }

    #[test]
    fn the_longest_prefix_is_taken_and_of_those_the_lowest_priority() {
        let routes = [
            route("0.0.0.0/0", "em1", None),
            route("192.0.2.0/24", "em2", Some(20)),
            route("192.0.2.0/24", "em3", Some(10)),
            route("192.0.2.128/25", "em4", None),
            route("2001:db8::/32", "em5", None),
        ];
        let by = |address: &str| way_to(address.parse().unwrap(), &routes).and_then(|route| route.interface.as_deref());
        assert_eq!(by("192.0.2.1"), Some("em3"));
        assert_eq!(by("192.0.2.200"), Some("em4"));
        assert_eq!(by("198.51.100.1"), Some("em1"));
        assert_eq!((by("2001:db8::1"), by("fd00::1")), (Some("em5"), None));
    }
}
