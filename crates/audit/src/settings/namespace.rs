//! Settings of a network namespace: sysctls and routes.

use std::collections::BTreeMap;

use model::host::fact::Missing;
use model::host::namespace::Namespace;
use model::host::route::Route;
use model::host::snapshot::Snapshot;
use model::host::tracked::VOLATILE;

use super::device;
use super::key::{self, Key};
use super::known::Settings;

pub(super) fn add(settings: &mut Settings, name: &str, namespace: &Namespace, snapshot: &Snapshot) {
    sysctls(settings, name, namespace);
    if let Some(routes) = settings.value_or_why(&Key::of(name, None, "route"), &namespace.routes) {
        for (place, route) in places(routes) {
            add_route(settings, name, &place, route);
        }
    }
    for interface in &namespace.interfaces {
        device::add(settings, name, interface, snapshot);
    }
}

/// What a namespace is called.
pub(super) fn name(namespace: &Namespace) -> String {
    namespace.name.clone().unwrap_or_else(|| namespace.inode.map_or_else(String::new, |inode| format!("net:[{inode}]")))
}

fn sysctls(settings: &mut Settings, name: &str, namespace: &Namespace) {
    if namespace.sysctls.is_empty() {
        let why = Missing::Failed { reason: "no sysctl was read".to_owned() };
        settings.unknown.insert(Key::of(name, None, key::SYSCTL), why);
    }
    for (sysctl, fact) in namespace.sysctls.iter().filter(|(sysctl, _)| !VOLATILE.contains(&sysctl.as_str())) {
        settings.put_fact(Key::sysctl(name, sysctl), fact, Clone::clone);
    }
}

/// The routes that somebody set, each with what tells it from others: destination, table and priority.
fn places(routes: &[Route]) -> BTreeMap<String, &Route> {
    let set = routes.iter().filter(|route| {
        MADE_BY_PEOPLE.contains(&route.protocol.as_str())
            || (route.protocol != "kernel" && !route.metrics.is_empty())
            || matches!(route.destination.as_str(), "0.0.0.0/0" | "::/0")
    });
    let place = |route: &Route| {
        let destination = match route.destination.as_str() {
            "0.0.0.0/0" => "default",
            other => other,
        };
        let table = if route.is_in_main_table() { String::new() } else { format!(" table {}", route.table) };
        let priority = route.priority.filter(|&priority| priority != 0 && priority != USUAL_PRIORITY_OF_IPV6);
        let priority = priority.map(|priority| format!(" metric {priority}")).unwrap_or_default();
        format!("{destination}{table}{priority}")
    };
    set.take(MOST_ROUTES).map(|route| (place(route), route)).collect()
}

fn add_route(settings: &mut Settings, namespace: &str, place: &str, route: &Route) {
    let key = |field: &str| Key::of(namespace, None, format!("route[{place}].{field}"));
    settings.put(key("kind"), route.kind.as_str());
    settings.put(key("made-by"), route.protocol.as_str());
    settings.put_some(key("via"), route.via);
    settings.put_some(key("interface"), route.interface.as_ref());
    settings.put_some(key("source"), route.preferred_source);
    for (metric, value) in &route.metrics {
        settings.put(key(metric), value.as_str());
    }
    if !route.hops.is_empty() {
        let hop = |hop: &model::host::route::NextHop| {
            let via = hop.via.map(|via| format!("{via} ")).unwrap_or_default();
            let device = hop.interface.as_deref().unwrap_or("?");
            format!("{via}dev {device} weight {}", hop.weight)
        };
        settings.put(key("hops"), route.hops.iter().map(hop).collect::<Vec<_>>().join(", "));
    }
}

/// Who makes routes that stay (`rt_protos`): not the kernel, and no routing daemon.
const MADE_BY_PEOPLE: [&str; 4] = ["static", "boot", "dhcp", "ra"];

/// `IP6_RT_PRIO_USER`, include/uapi/linux/ipv6_route.h and net/ip6_route.h.
const USUAL_PRIORITY_OF_IPV6: u32 = 1024;

/// A router may have a full table of the Internet; those set by hand are few.
const MOST_ROUTES: usize = 256;
